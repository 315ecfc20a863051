//! Listing a pool the way clients do: pg after pg, page after page.

mod common;

use std::collections::BTreeSet;

use bytes::Bytes;
use common::{Client, POOL, Request, map, osd};
use sepiola_messages::osd_op::{
    OpCode, OpSpec,
    output::{ListEntry, Listing},
};
use sepiola_osd::Osd;
use sepiola_osdmap::hash::object_hash;
use sepiola_wire::{Encode, Errno, Features, HObject, PgId, Put, SnapId, SpgId, decode_all};

const ALL: &[u8] = &[1];

fn create(client: &mut Client, osd: &Osd, nspace: &str, name: &str, key: &str) {
    let hash = object_hash(name.as_bytes(), key.as_bytes(), nspace.as_bytes());
    let request = Request::on(name, [OpSpec::create(true)]).with(|head| {
        head.hash = hash;
        head.spg = SpgId::replicated(PgId::new(POOL, hash % 32));
        head.locator.nspace = Bytes::copy_from_slice(nspace.as_bytes());
        head.locator.key = Bytes::copy_from_slice(key.as_bytes());
    });
    assert_eq!(client.call(osd, &request).result, 0);
}

fn page_request(ps: u32, cursor: &HObject, nspace: &[u8], max: u64) -> Request {
    Request::on("", [OpSpec::pgnls(cursor, max, 8)]).flags(0x42_0014).with(|head| {
        head.hash = ps;
        head.spg = SpgId::replicated(PgId::new(POOL, ps));
        head.locator.hash = ps.into();
        head.locator.nspace = Bytes::copy_from_slice(nspace);
    })
}

/// All pages of a pool; also checks the order over all of them.
fn list(client: &mut Client, osd: &Osd, nspace: &[u8], max: u64) -> (Vec<ListEntry>, Vec<u32>) {
    let (mut entries, mut pgs) = (Vec::new(), Vec::new());
    let (mut cursor, mut ps) = (HObject::min(), 0);
    let mut last = HObject::min();
    loop {
        let reply = client.call(osd, &page_request(ps, &cursor, nspace, max));
        let page: Listing = decode_all(&reply.outputs[0]).unwrap();
        assert!(page.entries.len() as u64 <= max);
        assert_eq!(reply.rvals, [0]);
        for entry in page.entries {
            let at = HObject {
                key: entry.key.clone(),
                oid: entry.oid.clone(),
                snap: SnapId::HEAD,
                hash: object_hash(&entry.oid, &entry.key, &entry.nspace),
                max: false,
                nspace: entry.nspace.clone(),
                pool: POOL,
            };
            assert_eq!(at.hash % 32, ps);
            assert!(last < at && at < page.next, "in order and before the next cursor");
            last = at;
            entries.push(entry);
        }
        if reply.result == 1 {
            pgs.push(ps);
        }
        cursor = page.next;
        if cursor.max {
            return (entries, pgs);
        }
        ps = cursor.hash % 32;
    }
}

fn names(entries: &[ListEntry]) -> BTreeSet<(String, String, String)> {
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    entries.iter().map(|e| (text(&e.nspace), text(&e.oid), text(&e.key))).collect()
}

#[test]
fn every_object_is_listed_once_whatever_the_page_size() {
    let osd = osd();
    let mut client = Client::admin();
    let mut wanted = BTreeSet::new();
    for i in 0..200 {
        let nspace = ["", "ns1", "ns2"][i % 3];
        // Many objects share a placement key, and with it a hash.
        let key = if i % 5 == 0 { "together" } else { "" };
        let name = format!("object{i}");
        create(&mut client, &osd, nspace, &name, key);
        wanted.insert((nspace.to_owned(), name, key.to_owned()));
    }
    for max in [1, 3, 1024] {
        let (entries, pgs) = list(&mut client, &osd, ALL, max);
        assert_eq!(entries.len(), wanted.len());
        assert_eq!(names(&entries), wanted);
        assert_eq!(pgs[..8], [0, 16, 8, 24, 4, 20, 12, 28]);
        assert_eq!(pgs.len(), 32);
        for nspace in ["", "ns1", "absent"] {
            let (entries, _) = list(&mut client, &osd, nspace.as_bytes(), max);
            let expected: BTreeSet<_> = wanted.iter().filter(|(ns, ..)| ns == nspace).cloned().collect();
            assert_eq!((entries.len(), names(&entries)), (expected.len(), expected));
        }
    }
}

#[test]
fn pages_are_those_that_a_real_osd_gave() {
    let osd = osd();
    let mut client = Client::admin();
    create(&mut client, &osd, "ns1", "o3", "lockey");
    create(&mut client, &osd, "ns1", "o2", "");
    let mut page =
        |ps| hex::encode(&client.call(&osd, &page_request(ps, &HObject::min(), ALL, 1024)).outputs[0]);
    // Recorded with 16.2.15.
    assert_eq!(
        page(0),
        "01012b0000000403210000000000000000000000feffffffffffffff100000000000000000010000000000000000000000"
    );
    assert_eq!(
        page(20),
        "0101420000000403210000000000000000000000feffffffffffffff0c0000000000000000010000000000000001000000\
         030000006e7331020000006f33060000006c6f636b6579"
    );
    assert_eq!(
        page(22),
        "01013c0000000403210000000000000000000000feffffffffffffff0e0000000000000000010000000000000001000000\
         030000006e7331020000006f3200000000"
    );
}

#[test]
fn a_cursor_of_another_pg_is_refused() {
    let osd = osd();
    let mut client = Client::admin();
    let cursor = HObject { hash: 3, pool: POOL, ..HObject::min() };
    let result = |client: &mut Client, request: &Request| client.call(&osd, request).result;
    assert_eq!(result(&mut client, &page_request(4, &cursor, b"", 10)), Errno::EINVAL.to_wire());
    assert_eq!(result(&mut client, &page_request(3, &cursor, b"", 10)), 1);
    assert_eq!(result(&mut client, &page_request(4, &HObject::max(), b"", 10)), 1);
    let mut limited = Client::with_caps("allow rw object_prefix a");
    assert_eq!(result(&mut limited, &page_request(3, &cursor, b"", 10)), Errno::EPERM.to_wire());
    assert!(map().pool(POOL).is_some());
}

#[test]
fn a_filtered_listing_has_the_objects_with_the_attribute() {
    let osd = osd();
    let mut client = Client::admin();
    for (name, value) in [("yes", "red"), ("no", "blue"), ("other", "red")] {
        client.run(&osd, name, [OpSpec::setxattr(b"colour", value.as_bytes())]);
    }
    client.run(&osd, "without", [OpSpec::create(true)]);
    let filtered = |kind: &str, ps: u32| {
        let mut input = Vec::new();
        for text in ["pg", "filter", kind, "_colour", "red"] {
            input.put_blob(text.as_bytes());
        }
        HObject::min().encode(&mut input, Features::SUPPORTED);
        let args = sepiola_messages::osd_op::Pgls { max_entries: 10, start_epoch: 8 };
        let op = OpSpec::new(OpCode::PGNLS_FILTER, args, input);
        Request { ops: vec![op], ..page_request(ps, &HObject::min(), b"", 10) }
    };
    for kind in ["plain", "hello.hello"] {
        let mut found = BTreeSet::new();
        for ps in 0..32 {
            let reply = client.call(&osd, &filtered(kind, ps));
            let page: Listing = decode_all(&reply.outputs[0]).unwrap();
            found.extend(page.entries.into_iter().map(|entry| entry.oid));
        }
        assert_eq!(found, BTreeSet::from([Bytes::from("yes"), Bytes::from("other")]));
    }
    assert_eq!(client.call(&osd, &filtered("none", 0)).result, Errno::EINVAL.to_wire());
}
