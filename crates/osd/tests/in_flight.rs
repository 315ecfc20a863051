//! What is shown of operations that wait.

mod common;

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use common::{Client, Request, map, next_map};
use sepiola_messages::osd_op::OpSpec;
use sepiola_wire::{Epoch, UTime};

fn noon() -> UTime {
    UTime::from_secs(1_700_000_000)
}

#[test]
fn operations_that_wait_are_shown_as_ceph_shows_them() {
    let osd = common::empty_osd().with_clock(noon);
    osd.apply_map(map()).unwrap();
    let mut client = Client::admin();
    assert_eq!(osd.dump_ops_in_flight(), serde_json::json!({ "ops": [], "num_ops": 0 }));
    let ops = [OpSpec::write(0, "abc"), OpSpec::setxattr(b"a", b"12"), OpSpec::create(false)];
    let ahead = Request::on("x", ops).flags(0x40_0024).tid(7).with(|head| head.map_epoch = Epoch(9));
    let pg = ahead.head.spg.pg;
    let hash = ahead.head.hash.reverse_bits();
    assert_eq!(client.send(&osd, &ahead), []);
    let dump = osd.dump_ops_in_flight();
    assert_eq!(dump["num_ops"], 1);
    let op = &dump["ops"][0];
    assert_eq!(
        op["description"],
        format!(
            "osd_op(client.4123.0:7 {pg} 1:{hash:08x}:::x:head [write 0~3,setxattr a (2),create] snapc 0=[] \
             ondisk+write+known_if_redirected e9)"
        )
    );
    assert_eq!(op["initiated_at"], noon().to_string());
    assert_eq!(op["age"], 0.0);
    let info = &op["type_data"]["client_info"];
    assert_eq!((&info["client"], &info["tid"]), (&"client.4123".into(), &7.into()));
    assert_eq!(info["client_addr"], client.session_addr());
    osd.apply_map(next_map(&map(), |_| {})).unwrap();
    assert_eq!(osd.dump_ops_in_flight()["num_ops"], 0);
}

static NOW: AtomicU32 = AtomicU32::new(1_700_000_000);

#[test]
fn operations_are_blocked_when_they_have_waited_for_the_complaint_time() {
    let osd = common::empty_osd().with_clock(|| UTime::from_secs(NOW.load(Ordering::Relaxed)));
    osd.apply_map(map()).unwrap();
    let mut client = Client::admin();
    let wait = |osd: &_, client: &mut Client, tid| {
        let ahead = Request::on("x", [OpSpec::stat()]).tid(tid).with(|head| head.map_epoch = Epoch(9));
        assert_eq!(client.send(osd, &ahead), []);
    };
    wait(&osd, &mut client, 1);
    NOW.fetch_add(20, Ordering::Relaxed);
    wait(&osd, &mut client, 2);
    NOW.fetch_add(10, Ordering::Relaxed);
    let dump = osd.dump_blocked_ops(Duration::from_secs(30));
    assert_eq!((&dump["num_blocked_ops"], &dump["complaint_time"]), (&1.into(), &30.0.into()));
    assert_eq!(dump["ops"].as_array().unwrap().len(), 1);
    assert_eq!(dump["ops"][0]["type_data"]["client_info"]["tid"], 1);
    assert_eq!(osd.dump_blocked_ops(Duration::from_secs(31))["num_blocked_ops"], 0);
    assert_eq!(osd.dump_blocked_ops(Duration::from_secs(10))["num_blocked_ops"], 2);
}
