//! What subscribers are sent.

use sepiola_messages::{OsdMapMessage, SubscribeFlags, Subscription, WireMessage, kind};
use sepiola_messenger::OutMessage;
use sepiola_wire::{EntityName, Epoch, Features};

use super::{
    osd_step,
    subscriptions::{Subscriptions, may_subscribe},
};
use crate::{
    state::change,
    testing::{TestMon, caller},
};

fn due(subscriptions: &mut Subscriptions, mon: &TestMon) -> Vec<OutMessage> {
    subscriptions.due(&mon.state, &EntityName::client("x"), Features::SUPPORTED)
}

fn kinds(messages: &[OutMessage]) -> Vec<u16> {
    messages.iter().map(|m| m.header.kind).collect()
}

fn maps(messages: &[OutMessage]) -> Vec<OsdMapMessage> {
    messages.iter().map(|m| OsdMapMessage::decode(m.header.version, &m.front, &m.data).unwrap()).collect()
}

fn subscribe(subscriptions: &mut Subscriptions, what: &str, start: u64, flags: SubscribeFlags) {
    subscriptions.want(what, Subscription { start, flags });
}

fn publish(mon: &mut TestMon, epochs: u32) {
    for _ in 0..epochs {
        let step = osd_step::step(mon.state.osdmap(), mon.now, |_| ()).unwrap();
        mon.apply(vec![step]);
    }
}

#[test]
fn a_new_client_gets_config_then_monmap_and_news_only_afterwards() {
    let (mut mon, mut s) = (TestMon::new(), Subscriptions::default());
    subscribe(&mut s, "monmap", 0, SubscribeFlags::CONTINUOUS);
    subscribe(&mut s, "config", 0, SubscribeFlags::CONTINUOUS);
    subscribe(&mut s, "nonsense", 0, SubscribeFlags::CONTINUOUS);
    assert_eq!(kinds(&due(&mut s, &mon)), [kind::CONFIG, kind::MON_MAP]);
    assert!(due(&mut s, &mon).is_empty());
    mon.apply(vec![change::config_set("osd", "a", "b")]);
    assert!(due(&mut s, &mon).is_empty(), "another's option");
    mon.apply(vec![change::config_set("client", "a", "b")]);
    assert_eq!(kinds(&due(&mut s, &mon)), [kind::CONFIG]);
    subscribe(&mut s, "config", 0, SubscribeFlags::CONTINUOUS);
    assert_eq!(kinds(&due(&mut s, &mon)), [kind::CONFIG], "who asks again is answered again");
}

#[test]
fn a_full_map_first_then_each_new_epoch_once() {
    let (mut mon, mut s) = (TestMon::new(), Subscriptions::default());
    publish(&mut mon, 3);
    subscribe(&mut s, "osdmap", 0, SubscribeFlags::CONTINUOUS);
    let first = maps(&due(&mut s, &mon));
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].full.keys().collect::<Vec<_>>(), [&Epoch(4)]);
    assert!(first[0].incremental.is_empty());
    assert!(due(&mut s, &mon).is_empty());
    publish(&mut mon, 2);
    let next = maps(&due(&mut s, &mon));
    assert_eq!(next[0].incremental.keys().collect::<Vec<_>>(), [&Epoch(5), &Epoch(6)]);
    assert_eq!((next[0].newest, next[0].oldest), (Epoch(6), Epoch(2)));
}

#[test]
fn onetime_stays_armed_until_it_is_answered() {
    let (mut mon, mut s) = (TestMon::new(), Subscriptions::default());
    subscribe(&mut s, "osdmap", 3, SubscribeFlags::ONETIME);
    publish(&mut mon, 1);
    assert!(due(&mut s, &mon).is_empty(), "epoch 3 is not there yet");
    publish(&mut mon, 1);
    assert_eq!(maps(&due(&mut s, &mon))[0].last(), Some(Epoch(3)));
    publish(&mut mon, 1);
    assert!(due(&mut s, &mon).is_empty());
}

#[test]
fn many_steps_come_in_messages_of_forty() {
    let (mut mon, mut s) = (TestMon::new(), Subscriptions::default());
    publish(&mut mon, 100);
    subscribe(&mut s, "osdmap", 2, SubscribeFlags::ONETIME);
    let all = maps(&due(&mut s, &mon));
    assert_eq!(all.iter().map(|m| m.incremental.len()).collect::<Vec<_>>(), [40, 40, 20]);
    let epochs: Vec<_> = all.iter().flat_map(|m| m.incremental.keys().map(|e| e.0)).collect();
    assert_eq!(epochs, (2..=101).collect::<Vec<_>>());
}

#[test]
fn who_is_too_far_behind_gets_a_full_map() {
    let (mut mon, mut s) = (TestMon::new(), Subscriptions::default());
    publish(&mut mon, 1100);
    let oldest = mon.state.osd_maps().oldest();
    assert!(oldest > Epoch(2));
    subscribe(&mut s, "osdmap", u64::from(oldest.0) - 1, SubscribeFlags::ONETIME);
    assert_eq!(maps(&due(&mut s, &mon))[0].full.len(), 1);
    // The first map of a cluster is the only one without a step to it.
    let (mon, mut s) = (TestMon::new(), Subscriptions::default());
    subscribe(&mut s, "osdmap", 1, SubscribeFlags::ONETIME);
    assert_eq!(maps(&due(&mut s, &mon))[0].full.len(), 1);
}

#[test]
fn each_name_needs_its_own_right() {
    for (caps, what, granted) in [
        ("allow r", "osdmap", true),
        ("allow r", "kv:dm-crypt/", false),
        ("allow rwx", "kv:dm-crypt/", false),
        ("allow *", "kv:dm-crypt/", true),
        ("allow command \"config-key get\" with key prefix rbd/", "kv:rbd/x", true),
        ("allow command \"config-key get\" with key prefix rbd/", "kv:dm-crypt/", false),
        ("allow service log w", "osdmap", false),
        ("allow service log w", "mgrmap", false),
        ("allow service log w", "config", true),
        ("allow service log w", "monmap", true),
        ("profile rbd", "osdmap", true),
    ] {
        assert_eq!(may_subscribe(&caller("client.x", caps), what), granted, "{caps}: {what}");
    }
}
