//! The session task: finds a monitor, keeps the session until it breaks, and starts over.

use std::{sync::Arc, time::Duration};

use sepiola_messages::{
    AuthReply, Config, GetPoolStatsReply, MonCommandAck, MonGetVersionReply, MonMapMessage, OsdMapMessage,
    PoolOpReply, StatfsReply, is_private, kind,
};
use sepiola_messenger::{CloseReason, Receiver, Sender, Shutdown, decode};
use sepiola_msgr2::Message;
use sepiola_wire::Tid;
use tokio::time::{Instant, sleep};

use crate::{
    MonError, dial,
    hunt::Hunter,
    renewal,
    requests::Answer,
    shared::{Shared, Status},
};

/// Takes the messages that only Sepiola's daemons exchange, of types from 0xE000 up. Must not block.
pub trait PrivateHandler: Send + Sync {
    /// A message from the monitor.
    ///
    /// # Errors
    /// A reason to drop the session.
    fn message(&self, message: &Message<'_>) -> Result<(), CloseReason>;
}

/// Shortest pause after a round in which every monitor failed.
const MIN_PAUSE: Duration = Duration::from_millis(200);
/// A session that ends sooner was of no use: the monitor drops us, or has to be dropped, at once.
const SHORT_SESSION: Duration = Duration::from_secs(5);

/// Runs until `shutdown` or a first connection that cannot succeed.
pub(crate) async fn run(shared: Arc<Shared>, shutdown: Shutdown) {
    let mut hunter = Hunter::new(shared.options.refused_timeout);
    let mut pause = MIN_PAUSE;
    let work = async {
        loop {
            let Some((sender, receiver)) = hunt(&shared, &mut hunter).await else { return };
            let addr = sender.addr();
            tracing::debug!(%addr, global_id = %shared.tickets.global_id(), "monitor session");
            hunter.succeeded();
            let started = Instant::now();
            open(&shared, &sender);
            let reason = tokio::select! {
                reason = receiver.run(|message: Message<'_>, sender: &Sender| on_message(&shared, &message, sender)) => reason,
                reason = renewal::keep_fresh(&shared, &sender) => reason,
            };
            tracing::info!(%addr, %reason, "monitor session ended");
            close(&shared);
            shared.state.lock().attempts.record(addr, reason.to_string());
            // Connecting to a monitor that ends every session must not become a busy loop.
            if started.elapsed() < SHORT_SESSION {
                sleep(pause).await;
                pause = (pause * 2).min(shared.options.hunt_interval.max(MIN_PAUSE));
            } else {
                pause = MIN_PAUSE;
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = shutdown.wait() => {}
    }
    close(&shared);
}

/// The next session; `None` if the first connection cannot succeed.
async fn hunt(shared: &Shared, hunter: &mut Hunter) -> Option<(Sender, Receiver)> {
    loop {
        let time = hunter.round_time(shared.options.hunt_interval);
        let monmap = shared.monmap.load_full();
        let addrs = hunter.pick(&monmap, shared.options.hunt_parallel, &mut rand::rng());
        let started = Instant::now();
        let failures =
            match dial::round(&shared.options, &shared.tickets, &shared.global_seq, &addrs, time).await {
                Ok(session) => return Some(session),
                Err(failures) => failures,
            };
        let name = &shared.options.name;
        let fatal = failures.iter().find_map(|f| f.fatal(name)).or_else(|| {
            let all = failures.len() == addrs.len() && failures.iter().all(dial::Failure::is_refusal);
            let known = monmap.mons.len();
            let after = hunter.refused(all, addrs.len(), known, started, Instant::now())?;
            Some(MonError::Unreachable { after, attempts: dial::attempts(&failures) })
        });
        let retry_now = failures.iter().any(dial::Failure::is_worth_an_immediate_retry);
        let refused: Vec<String> = failures.iter().map(|f| f.error.to_string()).collect();
        tracing::debug!(?refused, "no monitor in this round");
        {
            let mut state = shared.state.lock();
            for failure in &failures {
                state.attempts.record(failure.addr, failure.error.to_string());
            }
        }
        if let Some(error) = fatal
            && matches!(*shared.status.borrow(), Status::Connecting)
            && *shared.sessions.borrow() == 0
        {
            shared.status.send_replace(Status::Failed(error));
            return None;
        }
        if !retry_now {
            // A round that failed at once is not repeated at once, though sooner than one that timed out:
            // a monitor that is just starting refuses for a moment only.
            let pause = (time / 6).max(MIN_PAUSE).saturating_sub(started.elapsed());
            sleep(pause.max(MIN_PAUSE)).await;
        }
    }
}

/// Makes a session current: it gets all subscriptions and everything that waits for an answer.
fn open(shared: &Shared, sender: &Sender) {
    let mut state = shared.state.lock();
    state.session = Some(sender.clone());
    state.auth.clear();
    state.attempts = Default::default();
    if let Some(message) = state.subscriptions.all() {
        let _ = sender.send_typed(&message, Tid(0));
    }
    // Requests name the cluster, which the first monitor map tells.
    if state.got_monmap {
        for (tid, ask) in state.requests.iter() {
            let _ = shared.send_ask(sender, tid, ask);
        }
    }
    drop(state);
    shared.tickets_changed.send_modify(|n| *n += 1);
    shared.sessions.send_modify(|n| *n += 1);
}

fn close(shared: &Shared) {
    let mut state = shared.state.lock();
    if let Some(sender) = state.session.take() {
        sender.close();
    }
    state.auth.clear();
    drop(state);
    shared.tickets.session_closed();
}

fn on_message(shared: &Shared, message: &Message<'_>, sender: &Sender) -> Result<(), CloseReason> {
    let tid = message.header.tid;
    let answer = |answer| {
        shared.state.lock().requests.answer(tid, answer);
        Ok(())
    };
    match message.header.kind {
        kind::MON_MAP => take_monmap(shared, &decode(message)?, sender),
        kind::OSD_MAP => {
            shared.take_osdmap(&decode::<OsdMapMessage>(message)?);
            Ok(())
        }
        kind::CONFIG => {
            let config: Config = decode(message)?;
            shared.options.config.set_from_monitors(&config.options);
            shared.config.send_replace(Arc::new(config.options));
            shared.state.lock().got_config = true;
            shared.check_ready();
            Ok(())
        }
        kind::AUTH_REPLY => renewal::take_reply(shared, &decode::<AuthReply>(message)?),
        kind::MON_COMMAND_ACK => answer(Answer::Command(decode::<MonCommandAck>(message)?)),
        kind::POOLOP_REPLY => answer(Answer::PoolOp(decode::<PoolOpReply>(message)?)),
        kind::STATFS_REPLY => answer(Answer::Statfs(decode::<StatfsReply>(message)?)),
        kind::GET_POOL_STATS_REPLY => answer(Answer::PoolStats(decode::<GetPoolStatsReply>(message)?)),
        kind::MON_GET_VERSION_REPLY => {
            let reply: MonGetVersionReply = decode(message)?;
            shared.state.lock().requests.answer(Tid(reply.handle), Answer::Version(reply));
            Ok(())
        }
        // The subscription's acknowledgement of old monitors, and a map that nothing here uses.
        kind::MON_SUBSCRIBE_ACK | kind::MGR_MAP => Ok(()),
        other if is_private(other) => match &shared.options.private_handler {
            Some(handler) => handler.message(message),
            None => Ok(()),
        },
        other => {
            tracing::debug!(kind = other, "message of an unknown type from the monitor dropped");
            Ok(())
        }
    }
}

fn take_monmap(shared: &Shared, message: &MonMapMessage, sender: &Sender) -> Result<(), CloseReason> {
    let map = message.map().map_err(|e| CloseReason::dispatch(format!("monitor map: {e}")))?;
    let known = shared.monmap.load();
    if !known.fsid.is_nil() && known.fsid != map.fsid {
        return Err(CloseReason::dispatch("the monitor belongs to another cluster"));
    }
    let epoch = map.epoch;
    if epoch < known.epoch {
        return Ok(());
    }
    let is_member = map.mons.is_empty()
        || map.by_rank().any(|m| m.addrs.0.iter().any(|a| a.socket == Some(sender.addr())));
    shared.monmap.store(Arc::new(map));
    let mut state = shared.state.lock();
    state.subscriptions.got("monmap", epoch.0.into());
    if !state.got_monmap {
        state.got_monmap = true;
        for (tid, ask) in state.requests.iter() {
            let _ = shared.send_ask(sender, tid, ask);
        }
    }
    drop(state);
    shared.check_ready();
    if !is_member {
        return Err(CloseReason::dispatch("the monitor is not in the monitor map"));
    }
    Ok(())
}

/// The error that a first connection ends with when its time is over.
pub(crate) fn unreachable(shared: &Shared, after: Duration) -> MonError {
    let state = shared.state.lock();
    if state.session.is_some() {
        return MonError::TimedOut { what: "the subscription to maps", after, detail: None };
    }
    MonError::Unreachable { after, attempts: state.attempts.clone() }
}
