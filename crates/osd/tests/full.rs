//! Full pools, full stores: what is refused, what is dropped, and what may always go ahead.

mod common;

use std::sync::Arc;

use common::{Client, Reply, Request, map, osd, osd_with, with_pool};
use sepiola_messages::osd_op::{OpSpec, RequestFlags};
use sepiola_objectstore::MemStore;
use sepiola_osd::Osd;
use sepiola_osdmap::{OsdMap, PoolFlags};
use sepiola_wire::Errno;

const FULL_TRY: u32 = RequestFlags::FULL_TRY.0;
const FULL_FORCE: u32 = RequestFlags::FULL_FORCE.0;

fn flagged(flags: PoolFlags) -> Arc<OsdMap> {
    with_pool(&map(), |pool| pool.flags = pool.flags.with(flags))
}

/// The result, `None` if the request was dropped.
fn result(client: &mut Client, osd: &Osd, op: OpSpec, flags: u32) -> Option<i32> {
    let request = Request::on("x", [op]).flags(flags).with(|head| head.map_epoch = osd.epoch());
    client.send(osd, &request).first().map(|sent| Reply::of(sent).result)
}

#[test]
fn a_full_pool_takes_what_does_not_grow() {
    for (flags, errno) in
        [(PoolFlags::FULL, Errno::ENOSPC), (PoolFlags::FULL.with(PoolFlags::FULL_QUOTA), Errno::EDQUOT)]
    {
        let osd = osd();
        let mut client = Client::admin();
        client.run(&osd, "x", [OpSpec::write_full("xy"), OpSpec::setxattr(b"a", b"1")]);
        osd.apply_map(flagged(flags)).unwrap();
        let mut run = |op, flags| result(&mut client, &osd, op, flags);
        let growing = || {
            [
                OpSpec::append("z"),
                OpSpec::write(1, "zz"),
                OpSpec::truncate(9),
                OpSpec::setxattr(b"b", b"1"),
                OpSpec::omap_set([("k", "v")].into_iter()),
            ]
        };
        for op in growing() {
            assert_eq!(run(op.clone(), 0), None, "{op:?}");
            assert_eq!(run(op.clone(), FULL_TRY), Some(errno.to_wire()), "{op:?}");
        }
        for op in [OpSpec::write(0, "zz"), OpSpec::zero(0, 1), OpSpec::rmxattr(b"a"), OpSpec::truncate(1)] {
            assert_eq!(run(op.clone(), 0), Some(0), "{op:?}");
        }
        assert_eq!(run(OpSpec::append("z"), FULL_FORCE), Some(0));
        // Failures that have nothing to do with it are told.
        assert_eq!(run(OpSpec::create(true), 0), Some(Errno::EEXIST.to_wire()));
        assert_eq!(run(OpSpec::delete(), 0), Some(0));
        assert_eq!(run(OpSpec::create(true), 0), None);
        assert_eq!(run(OpSpec::stat(), 0), Some(Errno::ENOENT.to_wire()));
    }
}

#[test]
fn a_store_stops_at_the_failsafe_and_goes_on_when_there_is_room() {
    let osd = osd_with(MemStore::with_capacity(1 << 20), |config| config.failsafe_full = 0.9);
    osd.apply_map(map()).unwrap();
    let mut client = Client::admin();
    let chunk = || OpSpec::append(vec![0; 100_000]);
    let fits = (0..).take_while(|_| result(&mut client, &osd, chunk(), 0) == Some(0)).count();
    assert_eq!(fits, 10, "the one that passes 0.9 MiB is the last");
    assert_eq!(result(&mut client, &osd, chunk(), FULL_TRY), Some(Errno::ENOSPC.to_wire()));
    // Nobody may fill what is kept free.
    assert_eq!(result(&mut client, &osd, chunk(), FULL_FORCE), None);
    let perf = osd.perf();
    assert!((1_000_000..1 << 20).contains(&perf.stat_bytes_used), "{perf:?}");
    assert_eq!(perf.stat_bytes, 1 << 20);
    assert_eq!(result(&mut client, &osd, OpSpec::delete(), 0), Some(0));
    assert_eq!(osd.perf().stat_bytes_used, 0);
    assert_eq!(result(&mut client, &osd, chunk(), 0), Some(0));
}

#[test]
fn a_store_without_a_failsafe_refuses_what_it_cannot_hold() {
    let osd = osd_with(MemStore::with_capacity(1 << 20), |config| config.failsafe_full = 4.0);
    osd.apply_map(map()).unwrap();
    let mut client = Client::admin();
    let before = client.run(&osd, "x", [OpSpec::write_full("before")]).user_version;
    let large = OpSpec::write_full(vec![0; 2 << 20]);
    assert_eq!(result(&mut client, &osd, large, 0), Some(Errno::ENOSPC.to_wire()));
    let reply = client.run(&osd, "x", [OpSpec::read(0, 0)]);
    assert_eq!((&reply.outputs[0][..], reply.user_version), (&b"before"[..], before));
}
