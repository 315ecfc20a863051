//! The engine against OSDs over real sockets that stall, break, move and refuse.

mod fake;

use std::{sync::atomic::Ordering, time::Duration};

use fake::{Cluster, Mode, POOL, delete, hobject, options, read, read_in, write};
use futures_util::{StreamExt, TryStreamExt, stream};
use sepiola_messages::{
    BackoffOp,
    osd_op::{OpSpec, RequestFlags},
};
use sepiola_osdmap::{MapFlags, OsdState, Pool, PoolFlags};
use sepiola_wire::{Errno, GlobalId, OsdId, PoolId, UTime};

use super::MonitorLink;
use crate::Error;

/// Gives things that must not happen the time to happen.
async fn linger() {
    tokio::time::sleep(Duration::from_millis(100)).await;
}

#[tokio::test]
async fn a_request_names_its_pg_its_map_and_what_it_is() {
    let cluster = Cluster::start();
    let reply = cluster.objecter.execute(write("obj")).await.unwrap();
    assert_eq!((reply.result, reply.user_version), (0, 77));
    let reply = cluster.objecter.execute(read("obj")).await.unwrap();
    assert_eq!(reply.output(0).unwrap(), (0, "obj".into()));
    assert!(reply.output(1).is_none());

    let seen = cluster.osds[0].arrived(2).await;
    let map = cluster.monitors.osdmap();
    for op in &seen {
        assert_eq!((op.oid.as_slice(), op.attempt, op.epoch), (b"obj".as_slice(), 0, map.epoch()));
        assert_eq!(op.hash, map.pool(POOL).unwrap().object_hash(b"obj", b"", b""));
        assert_eq!(op.spg.pg.pool, POOL);
    }
    assert_eq!((seen[0].flags.0, seen[1].flags.0), (0x40_0024, 0x40_0014), "as librados sends them");
    assert_eq!(seen[0].data, b"obj");
    assert!(seen[0].tid < seen[1].tid);
}

#[tokio::test]
async fn replies_find_their_callers_in_any_order() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::Hold);
    let names: Vec<String> = (0..20).map(|i| format!("obj{i}")).collect();
    let calls: Vec<_> = names.iter().map(|name| cluster.spawn(read(name))).collect();
    let seen = cluster.osds[0].arrived(20).await;
    assert!(seen.is_sorted_by_key(|op| op.tid), "one object's operations keep their order");
    cluster.osds[0].release(true);
    for (call, name) in calls.into_iter().zip(names) {
        assert_eq!(call.await.unwrap().unwrap().output(0).unwrap().1, name);
    }
}

#[tokio::test]
async fn a_broken_connection_resends_everything_in_order_as_a_retry() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::Hold);
    let calls: Vec<_> = (0..5).map(|i| cluster.spawn(write(&format!("obj{i}")))).collect();
    let first = cluster.osds[0].arrived(5).await;
    cluster.osds[0].set(Mode::Answer);
    cluster.osds[0].hang_up();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().result, 0);
    }
    let seen = cluster.osds[0].arrived(10).await;
    for (first, again) in first.iter().zip(&seen[5..]) {
        assert_eq!((first.tid, &first.oid), (again.tid, &again.oid));
        assert_eq!((first.attempt, again.attempt), (0, 1));
        assert!(!first.flags.contains(RequestFlags::RETRY) && again.flags.contains(RequestFlags::RETRY));
    }
    assert_eq!(cluster.osds[0].sessions.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_osd_that_breaks_every_connection_is_tried_until_it_does_not() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::HangUp);
    let call = cluster.spawn(write("obj"));
    cluster.osds[0].arrived(3).await;
    cluster.osds[0].set(Mode::Answer);
    call.await.unwrap().unwrap();
    let seen = cluster.osds[0].arrived(4).await;
    let attempts: Vec<i32> = seen.iter().map(|op| op.attempt).collect();
    assert_eq!(attempts, (0..attempts.len() as i32).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_moved_pg_takes_its_operations_along() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::Hold);
    let (a, b) = (cluster.spawn(write("a")), cluster.spawn(write("b")));
    let first = cluster.osds[0].arrived(2).await;
    let epoch = cluster.move_to(1);
    for call in [a, b] {
        call.await.unwrap().unwrap();
    }
    let seen = cluster.osds[1].arrived(2).await;
    for (before, after) in first.iter().zip(&seen) {
        assert_eq!((before.tid, &before.oid), (after.tid, &after.oid));
        assert_eq!((after.attempt, after.epoch), (1, epoch));
        assert!(after.flags.contains(RequestFlags::RETRY));
    }
    // Answers that come too late are nobody's.
    cluster.osds[0].release(false);
    cluster.objecter.execute(read("a")).await.unwrap();
    assert_eq!(cluster.osds[1].arrived(3).await.len(), 3);
}

#[tokio::test]
async fn a_map_that_changes_nothing_for_an_operation_leaves_it_alone() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::Hold);
    let call = cluster.spawn(write("obj"));
    cluster.osds[0].arrived(1).await;
    cluster.publish(|_, change| change.set_weight(OsdId(1), 0x8000));
    cluster.settle().await;
    linger().await;
    assert_eq!(cluster.osds[0].seen.lock().len(), 1);
    cluster.osds[0].release(false);
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_split_pg_gets_its_operations_again_even_where_they_were() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    // An object that stays in the pg which is split, and so on the same OSD.
    let hash = |name: &str| {
        let map = cluster.monitors.osdmap();
        map.pool(POOL).unwrap().object_hash(name.as_bytes(), b"", b"")
    };
    let name = (0..).map(|i| format!("obj{i}")).find(|name| hash(name) % 2 == 0).unwrap();
    osd.set(Mode::Hold);
    let call = cluster.spawn(write(&name));
    osd.arrived(1).await;
    let epoch = cluster.publish(|base, change| {
        change.edit_pool(base, POOL).unwrap().pg_num = 2;
    });
    let seen = osd.arrived(2).await;
    assert_eq!((seen[0].spg, seen[0].tid), (seen[1].spg, seen[1].tid));
    assert_eq!((seen[1].attempt, seen[1].epoch), (1, epoch));
    osd.release(false);
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_restarted_osd_is_another_session() {
    let mut cluster = Cluster::start();
    let old = cluster.osds[0].clone();
    old.set(Mode::Hold);
    let call = cluster.spawn(write("obj"));
    old.arrived(1).await;
    cluster.restart(0);
    call.await.unwrap().unwrap();
    assert_eq!(cluster.osds[0].arrived(1).await[0].attempt, 1);
}

#[tokio::test]
async fn an_operation_without_an_osd_waits_for_one() {
    let cluster = Cluster::start();
    cluster.publish(|base, change| {
        change.mark_down(base, OsdId(0));
        change.mark_down(base, OsdId(1));
    });
    cluster.settle().await;
    let call = cluster.spawn(write("obj"));
    linger().await;
    assert!(!call.is_finished());
    let up = cluster.osds[1].clone();
    cluster.publish(|base, change| {
        // A state bit that flips: up again.
        change.new_state.insert(up.id, sepiola_osdmap::OsdState::UP.0);
        change.new_up_client.insert(up.id, base.osd(up.id).unwrap().client_addrs.clone());
    });
    cluster.move_to(1);
    call.await.unwrap().unwrap();
    assert_eq!(up.arrived(1).await[0].attempt, 0, "it was never sent before");
}

#[tokio::test]
async fn a_missing_pool_is_enoent_only_when_the_newest_map_says_so() {
    let cluster = Cluster::start();
    let missing = PoolId(2);
    let error = cluster.objecter.execute(read_in(missing, "obj")).await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert_eq!(cluster.monitors.catch_ups.load(Ordering::SeqCst), 1);

    // Created meanwhile, in a map that has not come yet.
    let newest = cluster.next_map(|base, change| {
        let pool = change.add_pool(base, "new", Pool::replicated(1, 1, 0, UTime::from_secs(4)));
        assert_eq!(pool, missing);
    });
    *cluster.monitors.newest.lock() = Some(newest);
    cluster.objecter.execute(read_in(missing, "obj")).await.unwrap();
}

#[tokio::test]
async fn pauses_hold_back_what_they_name_and_nothing_else() {
    let cluster = Cluster::start();
    cluster.set_flags(MapFlags::PAUSEWR);
    cluster.settle().await;
    let paused = cluster.spawn(write("w"));
    cluster.objecter.execute(read("r")).await.unwrap();
    linger().await;
    assert!(!paused.is_finished());
    cluster.set_flags(MapFlags::PAUSERD);
    paused.await.unwrap().unwrap();
    let paused = cluster.spawn(read("r2"));
    linger().await;
    assert!(!paused.is_finished());
    cluster.set_flags(MapFlags::NONE);
    paused.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_sent_operation_is_sent_again_when_a_pause_ends() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::Hold);
    let call = cluster.spawn(write("obj"));
    cluster.osds[0].arrived(1).await;
    cluster.set_flags(MapFlags::PAUSEWR);
    cluster.settle().await;
    cluster.osds[0].set(Mode::Answer);
    cluster.set_flags(MapFlags::NONE);
    call.await.unwrap().unwrap();
    assert_eq!(cluster.osds[0].arrived(2).await[1].attempt, 1);
}

#[tokio::test]
async fn only_the_answer_to_the_last_attempt_counts() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    osd.set(Mode::Hold);
    let call = cluster.spawn(read("obj"));
    osd.arrived(1).await;
    cluster.set_flags(MapFlags::PAUSERD);
    cluster.settle().await;
    cluster.set_flags(MapFlags::NONE);
    osd.arrived(2).await;
    osd.release_first();
    linger().await;
    assert!(!call.is_finished());
    osd.release_first();
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_cluster_takes_deletes_only() {
    let cluster = Cluster::start();
    cluster.set_flags(MapFlags::FULL);
    cluster.settle().await;
    let waiting = cluster.spawn(write("w"));
    cluster.objecter.execute(delete("d")).await.unwrap();
    cluster.objecter.execute(read("r")).await.unwrap();
    linger().await;
    assert!(!waiting.is_finished());
    cluster.set_flags(MapFlags::NONE);
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_backoff_holds_one_object_until_it_is_lifted() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    osd.set(Mode::BackOff(7));
    let call = cluster.spawn(write("held"));
    let seen = osd.arrived(1).await;
    osd.set(Mode::Answer);
    // Another object is not affected; when its answer is here, the backoff is known.
    cluster.objecter.execute(write("free")).await.unwrap();
    let behind = cluster.spawn(read("held"));
    linger().await;
    assert!(!call.is_finished() && !behind.is_finished());
    let held = |seen: &[fake::Seen]| seen.iter().filter(|op| op.oid == b"held").count();
    assert_eq!(held(&osd.seen.lock()), 1, "nothing more was sent for it");
    let acks = osd.backoff_acks.lock().clone();
    assert_eq!((acks.len(), acks[0].op, acks[0].id), (1, BackoffOp::AckBlock, 7));
    assert_eq!((&acks[0].begin, &acks[0].end), (&hobject(&seen[0]), &hobject(&seen[0])));

    osd.unblock(7, hobject(&seen[0]));
    call.await.unwrap().unwrap();
    behind.await.unwrap().unwrap();
    let seen: Vec<_> = osd.seen.lock().iter().filter(|op| op.oid == b"held").cloned().collect();
    assert_eq!(seen.iter().map(|op| op.attempt).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(seen[0].tid, seen[1].tid, "the older one first");
}

#[tokio::test]
async fn a_new_connection_knows_of_no_backoff() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    osd.set(Mode::BackOff(1));
    let call = cluster.spawn(write("obj"));
    osd.arrived(1).await;
    while osd.backoff_acks.lock().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    osd.set(Mode::Answer);
    osd.hang_up();
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_operation_ends_at_its_deadline_and_is_not_sent_again() {
    let mut options = options();
    options.op_timeout = Some(Duration::from_millis(300)).into();
    let cluster = Cluster::with(options);
    let osd = &cluster.osds[0];
    osd.set(Mode::Hold);
    let error = cluster.objecter.execute(write("obj")).await.unwrap_err();
    assert_eq!(error.to_string(), "write obj: no answer from osd.0 (pg 1.0) within 300ms");
    assert_eq!(error.errno(), Errno::ETIMEDOUT);
    osd.set(Mode::Answer);
    osd.hang_up();
    cluster.objecter.execute(write("other")).await.unwrap();
    let names: Vec<_> = osd.seen.lock().iter().map(|op| op.oid.clone()).collect();
    assert_eq!(names, [b"obj".to_vec(), b"other".to_vec()]);

    // Also where no OSD is there to ask.
    cluster.publish(|base, change| {
        change.mark_down(base, OsdId(0));
        change.mark_down(base, OsdId(1));
    });
    cluster.settle().await;
    let error = cluster.objecter.execute(read("obj")).await.unwrap_err();
    assert_eq!(error.to_string(), "read obj: no OSD to serve pg 1.0 within 300ms");
    cluster.set_flags(MapFlags::PAUSERD);
    cluster.settle().await;
    let error = cluster.objecter.execute(read("obj")).await.unwrap_err();
    assert!(error.to_string().contains("no end to the pause of reads"), "{error}");
}

#[tokio::test]
async fn a_write_that_waited_for_room_names_who_has_none() {
    let mut options = options();
    options.op_timeout = Some(Duration::from_millis(50)).into();
    let cluster = Cluster::with(options);
    let waited_for = async |flags: PoolFlags, full: OsdState| {
        cluster.publish(|base, change| {
            let (id, pool) = base.pools().next().unwrap();
            let mut pool = pool.clone();
            pool.flags = flags;
            change.new_pools.insert(id, pool);
            change
                .new_state
                .insert(OsdId(1), (base.osd(OsdId(1)).unwrap().state.0 & OsdState::FULL.0) ^ full.0);
        });
        cluster.settle().await;
        cluster.objecter.execute(write("obj")).await.unwrap_err().to_string()
    };
    let quota = PoolFlags::FULL.with(PoolFlags::FULL_QUOTA);
    let said = waited_for(PoolFlags::FULL, OsdState::FULL).await;
    assert_eq!(said, "write obj: no room in pool `pool` (full: osd.1) within 50ms");
    let said = waited_for(quota, OsdState::NONE).await;
    assert_eq!(said, "write obj: no room in pool `pool` (its quota is reached) within 50ms");
    cluster.set_flags(MapFlags::FULL);
    let said = waited_for(PoolFlags::NONE, OsdState::NONE).await;
    assert_eq!(said, "write obj: no room in the cluster within 50ms");
}

#[tokio::test]
async fn an_osd_that_cannot_be_reached_is_named_with_the_reason() {
    let mut options = options();
    options.op_timeout = Some(Duration::from_millis(500)).into();
    let cluster = Cluster::with(options);
    let osd = &cluster.osds[0];
    *osd.denies.lock() = true;
    // Each refusal is followed by a new ticket, and three are believed; here time is up before.
    let error = cluster.objecter.execute(write("obj")).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("write obj: no connection to osd.0 for pg 1.0 (access denied: osd.0"), "{text}");
}

#[tokio::test]
async fn one_tasks_operations_keep_their_order_through_limits_and_broken_connections() {
    let mut options = options();
    options.max_ops_in_flight = 4;
    let cluster = Cluster::with(options);
    let osd = &cluster.osds[0];
    osd.set(Mode::Hold);
    let objecter = cluster.objecter.clone();
    let task = tokio::spawn(async move {
        let writes = stream::iter(0..40).map(|i| {
            let mut request = write("obj");
            request.specs = vec![OpSpec::write_full(i.to_string())];
            objecter.execute(request)
        });
        writes.buffered(16).try_collect::<Vec<_>>().await
    });
    // Four are there when the connection breaks, and two of them are answered.
    osd.arrived(4).await;
    osd.release_first();
    osd.release_first();
    osd.arrived(6).await;
    osd.set(Mode::HangUp);
    osd.hang_up();
    while osd.sessions.load(Ordering::SeqCst) < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    osd.set(Mode::Answer);
    assert_eq!(task.await.unwrap().unwrap().len(), 40);
    // Duplicates are recognised by the OSD: what counts is when each came first.
    let mut first_arrivals: Vec<u32> = Vec::new();
    for op in osd.seen.lock().iter() {
        let number = std::str::from_utf8(&op.data).unwrap().parse().unwrap();
        if !first_arrivals.contains(&number) {
            first_arrivals.push(number);
        }
    }
    assert_eq!(first_arrivals, (0..40).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_waits_for_room_leaves_no_trace() {
    let mut options = options();
    options.max_ops_in_flight = 1;
    let cluster = Cluster::with(options);
    let osd = &cluster.osds[0];
    osd.set(Mode::Hold);
    let first = cluster.spawn(write("first"));
    osd.arrived(1).await;
    let waiting = cluster.spawn(write("waiting"));
    linger().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    osd.set(Mode::Answer);
    osd.release(false);
    first.await.unwrap().unwrap();
    cluster.objecter.execute(write("last")).await.unwrap();
    let names: Vec<_> = osd.seen.lock().iter().map(|op| op.oid.clone()).collect();
    assert_eq!(names, [b"first".to_vec(), b"last".to_vec()]);
}

#[tokio::test]
async fn a_dropped_call_is_not_sent_or_not_sent_again() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    // Not sent yet: writes are paused.
    cluster.set_flags(MapFlags::PAUSEWR);
    cluster.settle().await;
    let unsent = cluster.spawn(write("unsent"));
    linger().await;
    unsent.abort();
    assert!(unsent.await.unwrap_err().is_cancelled());
    cluster.set_flags(MapFlags::NONE);
    cluster.settle().await;

    osd.set(Mode::Hold);
    let sent = cluster.spawn(write("sent"));
    osd.arrived(1).await;
    sent.abort();
    assert!(sent.await.unwrap_err().is_cancelled());
    osd.set(Mode::Answer);
    osd.hang_up();
    cluster.objecter.execute(write("after")).await.unwrap();
    let names: Vec<_> = osd.seen.lock().iter().map(|op| op.oid.clone()).collect();
    assert_eq!(names, [b"sent".to_vec(), b"after".to_vec()]);
}

#[tokio::test]
async fn under_another_identity_reads_go_on_and_the_outcome_of_writes_is_unknown() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    osd.set(Mode::Hold);
    let (w, r) = (cluster.spawn(write("w")), cluster.spawn(read("r")));
    osd.arrived(2).await;
    cluster.monitors.identity.store(4300, Ordering::SeqCst);
    osd.set(Mode::Answer);
    osd.hang_up();
    assert!(matches!(w.await.unwrap(), Err(Error::OutcomeUnknown(_))));
    r.await.unwrap().unwrap();
    // What comes after is an ordinary write of the new identity.
    cluster.objecter.execute(write("w")).await.unwrap();
    let writes: Vec<_> = osd.seen.lock().iter().filter(|op| op.oid == b"w").cloned().collect();
    assert_eq!(writes.iter().map(|op| op.attempt).collect::<Vec<_>>(), [0, 0]);
    assert_ne!(writes[0].tid, writes[1].tid);
    assert_eq!(cluster.monitors.identity.load(Ordering::SeqCst), GlobalId(4300).0);
}

#[tokio::test]
async fn a_refused_ticket_is_renewed_and_a_lasting_refusal_is_an_error() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    *osd.denies.lock() = true;
    let call = cluster.spawn(read("obj"));
    while cluster.monitors.tickets_refused.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    *osd.denies.lock() = false;
    call.await.unwrap().unwrap();

    osd.hang_up();
    *osd.denies.lock() = true;
    let error = cluster.objecter.execute(read("obj")).await.unwrap_err();
    assert!(matches!(error, Error::Denied(_)), "{error}");
    assert_eq!(error.errno(), Errno::EACCES);
    assert_eq!(osd.seen.lock().len(), 1);
}

#[tokio::test]
async fn limits_on_what_is_in_flight_make_calls_wait_their_turn() {
    let mut options = options();
    options.max_ops_in_flight = 2;
    let cluster = Cluster::with(options);
    let osd = &cluster.osds[0];
    osd.set(Mode::Hold);
    let calls: Vec<_> = (0..3).map(|i| cluster.spawn(write(&format!("obj{i}")))).collect();
    osd.arrived(2).await;
    linger().await;
    assert_eq!(osd.seen.lock().len(), 2);
    osd.release(false);
    osd.arrived(3).await;
    osd.release(false);
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_read_that_is_told_to_come_again_comes_as_a_new_one_and_a_write_does_not() {
    let cluster = Cluster::start();
    let osd = &cluster.osds[0];
    osd.set(Mode::Fail(Errno::EAGAIN));
    let reply = cluster.objecter.execute(write("w")).await.unwrap();
    assert_eq!(reply.result, Errno::EAGAIN.to_wire());
    let call = cluster.spawn(read("r"));
    osd.arrived(2).await;
    osd.set(Mode::Answer);
    call.await.unwrap().unwrap();
    let reads: Vec<_> = osd.seen.lock().iter().filter(|op| op.oid == b"r").cloned().collect();
    assert!(reads.len() >= 2 && reads.iter().all(|op| op.attempt == 0));
    assert!(reads.is_sorted_by(|a, b| a.tid < b.tid));
}

#[tokio::test]
async fn shutting_down_ends_what_waits() {
    let cluster = Cluster::start();
    cluster.osds[0].set(Mode::Hold);
    let call = cluster.spawn(write("obj"));
    cluster.osds[0].arrived(1).await;
    cluster.objecter.shut_down();
    assert!(matches!(call.await.unwrap(), Err(Error::ShutDown)));
    assert!(matches!(cluster.objecter.execute(read("obj")).await, Err(Error::ShutDown)));
}
