//! The client's handle.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use sepiola_cephx::{RotatingSecrets, TicketKeeper};
use sepiola_messages::{
    GetPoolStatsReply, MonGetVersionReply, MonMap, OsdMapMessage, PoolOp, PoolOpReply, StatfsReply,
    WireMessage,
};
use sepiola_messenger::{Shutdown, ShutdownTrigger};
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityType, Epoch, Errno, GlobalId, PoolId, Tid, UTime, Uuid};
use tokio::{
    sync::watch,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    CommandReply, MonClientOptions, MonError, dial,
    requests::{Answer, Ask},
    session,
    shared::{Shared, Status},
};

/// A session with whichever monitor is reachable. A task of its own keeps it; it ends when the last
/// reference to the client is dropped.
pub struct MonClient {
    shared: Arc<Shared>,
    // Dropping it ends the task.
    _end: ShutdownTrigger,
}

/// Takes a request out of the table when its caller does not wait any more.
struct Waiting<'a> {
    shared: &'a Shared,
    tid: Tid,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.state.lock().requests.remove(self.tid);
    }
}

impl MonClient {
    /// Connects and authenticates; has the monitor map, the configuration and, unless it is not wanted, an
    /// OSD map when it returns.
    ///
    /// # Errors
    /// At once if a monitor refuses the key ([`MonError::AccessDenied`]) or the connection modes
    /// ([`MonError::Mismatch`]); [`MonError::Unreachable`] when `connect_timeout` has passed, naming every
    /// address with what became of it.
    pub async fn connect(options: MonClientOptions) -> Result<Arc<Self>, MonError> {
        if options.monitors.is_empty() {
            return Err(MonError::NoMonitors("no address is configured".to_owned()));
        }
        let limit = options.connect_timeout;
        let shared = Shared::new(options);
        let (end, shutdown) = Shutdown::new();
        let mut status = shared.status.subscribe();
        tokio::spawn(session::run(shared.clone(), shutdown));
        let client = Arc::new(MonClient { shared, _end: end });
        let waited = timeout(limit, status.wait_for(|s| !matches!(s, Status::Connecting))).await;
        match waited {
            Ok(Ok(status)) => {
                if let Status::Failed(error) = &*status {
                    return Err(error.clone());
                }
            }
            // The task drops the channel only with the client.
            Ok(Err(_)) => return Err(MonError::Closed),
            Err(_) => return Err(session::unreachable(&client.shared, limit)),
        }
        Ok(client)
    }

    /// What the client was made with.
    pub fn options(&self) -> &MonClientOptions {
        &self.shared.options
    }

    /// The limit on requests now (`rados_mon_op_timeout`). Default 10 s.
    pub fn request_timeout(&self) -> Duration {
        // 0 means none to Ceph; a day is as good, and needs no special case.
        const NO_LIMIT: Duration = Duration::from_secs(86400);
        let limit = self.shared.options.config.duration("rados_mon_op_timeout");
        if limit.is_zero() { NO_LIMIT } else { limit }
    }

    /// The cluster.
    pub fn fsid(&self) -> Uuid {
        self.shared.fsid()
    }

    /// This instance's number.
    pub fn global_id(&self) -> GlobalId {
        self.shared.tickets.global_id()
    }

    /// Key and tickets, for sessions with OSDs.
    pub fn tickets(&self) -> &TicketKeeper {
        &self.shared.tickets
    }

    /// The monitors.
    pub fn monmap(&self) -> Arc<MonMap> {
        self.shared.monmap.load_full()
    }

    /// Options that the cluster's configuration sets for this entity.
    pub fn config(&self) -> Arc<BTreeMap<String, String>> {
        self.shared.config.borrow().clone()
    }

    /// The current OSD map. A map without content, of no cluster, before the first one has come, which only
    /// a client that does not want maps sees.
    pub fn osdmap(&self) -> Arc<OsdMap> {
        self.shared.osdmap.load_full()
    }

    /// The current map without taking part in its ownership: for looking something up on the way of an
    /// operation.
    pub fn osdmap_guard(&self) -> arc_swap::Guard<Arc<OsdMap>> {
        self.shared.osdmap.load()
    }

    /// The current map's epoch; 0 before the first map.
    pub fn epoch(&self) -> Epoch {
        self.shared.epoch()
    }

    /// Follows the current map's epoch. Epochs only grow; some may be skipped.
    pub fn watch_epochs(&self) -> watch::Receiver<Epoch> {
        self.shared.epochs.subscribe()
    }

    /// Counts the sessions with monitors, so that a daemon can tell a new monitor what it told the last one.
    pub fn watch_sessions(&self) -> watch::Receiver<u64> {
        self.shared.sessions.subscribe()
    }

    /// True while there is a session.
    pub fn is_connected(&self) -> bool {
        self.shared.state.lock().session.is_some()
    }

    /// The IP that the current monitor sees this side under.
    pub fn seen_as(&self) -> Option<IpAddr> {
        let state = self.shared.state.lock();
        state.session.as_ref()?.peer().sees_us_as.socket.map(|s| s.ip())
    }

    /// Takes maps that an OSD has sent.
    pub fn take_osdmap(&self, message: &OsdMapMessage) {
        self.shared.take_osdmap(message);
    }

    /// Asks for the maps behind the current one, whenever there will be some.
    pub fn request_newer_osdmap(&self) {
        self.shared.ask_for_newer_osdmap();
    }

    /// Waits until the current map's epoch is at least `epoch`, asking for it.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline.
    pub async fn wait_for_epoch(&self, epoch: Epoch, limit: Duration) -> Result<Arc<OsdMap>, MonError> {
        let deadline = Instant::now() + limit;
        let mut epochs = self.watch_epochs();
        loop {
            if *epochs.borrow_and_update() >= epoch {
                return Ok(self.osdmap());
            }
            self.shared.ask_for_newer_osdmap();
            match timeout_at(deadline, epochs.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(MonError::Closed),
                Err(_) => return Err(self.timed_out("a newer OSD map", limit)),
            }
        }
    }

    /// Waits for the newest map there is.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline.
    pub async fn wait_for_latest_osdmap(&self, limit: Duration) -> Result<Arc<OsdMap>, MonError> {
        let started = Instant::now();
        let newest = self.get_version("osdmap", limit).await?;
        let epoch = Epoch(u32::try_from(newest.version).unwrap_or(u32::MAX));
        self.wait_for_epoch(epoch, limit.saturating_sub(started.elapsed())).await
    }

    /// Runs a command, normally one JSON object `{"prefix": "..", ..}`. A command that fails is a reply with a
    /// negative code, not an error.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline; the command may have been executed.
    pub async fn command(
        &self,
        cmd: impl Into<String>,
        input: impl Into<Bytes>,
        limit: Duration,
    ) -> Result<CommandReply, MonError> {
        match self.ask(Ask::Command { cmd: vec![cmd.into()], input: input.into() }, limit).await? {
            Answer::Command(ack) => Ok(ack.into()),
            other => Err(unfit(&other)),
        }
    }

    /// Asks the monitor of this name in the monitor map how it is; the answer is a JSON object. It uses a
    /// connection of its own, so the monitor need not be the one that there is a session with.
    ///
    /// # Errors
    /// [`MonError::Refused`] with ENOENT if there is no such monitor, [`MonError::TimedOut`] at the deadline.
    pub async fn ping(&self, name: &str, limit: Duration) -> Result<String, MonError> {
        const WHAT: &str = "the ping";
        let target = self.monmap().mons.get(name).and_then(|mon| mon.addrs.msgr2().copied());
        let target = target.ok_or(MonError::Refused { what: "ping", errno: Errno::ENOENT })?;
        let failed = |detail| MonError::TimedOut { what: WHAT, after: limit, detail };
        let asked = dial::ping(&self.shared.options, &self.shared.global_seq, target, limit);
        match timeout(limit, asked).await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(why)) => Err(failed(Some(why))),
            Err(_) => Err(failed(None)),
        }
    }

    /// Newest and oldest version of a map (`osdmap`, `monmap`, ..).
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline; monitors do not answer for maps that they do not know.
    pub async fn get_version(&self, what: &str, limit: Duration) -> Result<MonGetVersionReply, MonError> {
        match self.ask(Ask::GetVersion { what: what.to_owned() }, limit).await? {
            Answer::Version(reply) => Ok(reply),
            other => Err(unfit(&other)),
        }
    }

    /// Creates or deletes a pool or snapshot, and has the map that shows it when it returns. Cluster and
    /// epoch are filled in.
    ///
    /// # Errors
    /// [`MonError::Refused`] with the monitor's errno, or [`MonError::TimedOut`] at the deadline.
    pub async fn pool_op(&self, op: PoolOp, limit: Duration) -> Result<PoolOpReply, MonError> {
        let started = Instant::now();
        let reply = match self.ask(Ask::PoolOp(op), limit).await? {
            Answer::PoolOp(reply) => reply,
            other => return Err(unfit(&other)),
        };
        if let Err(errno) = Errno::from_wire(reply.result) {
            return Err(MonError::Refused { what: "pool operation", errno });
        }
        self.wait_for_epoch(reply.epoch, limit.saturating_sub(started.elapsed())).await?;
        Ok(reply)
    }

    /// Usage of the cluster or of one pool.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline.
    pub async fn statfs(&self, pool: Option<PoolId>, limit: Duration) -> Result<StatfsReply, MonError> {
        match self.ask(Ask::Statfs { pool }, limit).await? {
            Answer::Statfs(reply) => Ok(reply),
            other => Err(unfit(&other)),
        }
    }

    /// Statistics of pools by name; those that do not exist are left out.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline.
    pub async fn pool_stats(
        &self,
        pools: Vec<String>,
        limit: Duration,
    ) -> Result<GetPoolStatsReply, MonError> {
        match self.ask(Ask::PoolStats { pools }, limit).await? {
            Answer::PoolStats(reply) => Ok(reply),
            other => Err(unfit(&other)),
        }
    }

    /// Sends a message that only Sepiola's daemons exchange. It may be lost with the session; see
    /// [`MonClient::watch_sessions`].
    ///
    /// # Errors
    /// [`MonError::NotConnected`] without a session.
    pub fn send_private<M: WireMessage>(&self, message: &M) -> Result<(), MonError> {
        let session = self.shared.state.lock().session.clone().ok_or(MonError::NotConnected)?;
        session.send_typed(message, Tid(0)).map_err(|_| MonError::NotConnected)
    }

    /// Waits until there is a ticket for `service`, asking for one if there is none or if it was invalidated.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline.
    pub async fn ensure_ticket(&self, service: EntityType, limit: Duration) -> Result<(), MonError> {
        let deadline = Instant::now() + limit;
        let mut changes = self.shared.tickets_changed.subscribe();
        loop {
            changes.borrow_and_update();
            if self.shared.tickets.can_reach(service, UTime::now()) {
                return Ok(());
            }
            self.shared.renew.notify_one();
            match timeout_at(deadline, changes.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(MonError::Closed),
                Err(_) => return Err(self.timed_out("the ticket request", limit)),
            }
        }
    }

    /// The secrets that open the tickets of this daemon's clients; `None` before they were fetched, and
    /// for clients. They are fetched at the start and kept fresh.
    pub fn rotating(&self) -> watch::Receiver<Option<Arc<RotatingSecrets>>> {
        self.shared.rotating.subscribe()
    }

    /// Fetches the rotating secrets again: for a ticket whose secret is not known.
    ///
    /// # Errors
    /// [`MonError::TimedOut`] at the deadline, also if the monitor refuses.
    pub async fn fetch_rotating(&self, limit: Duration) -> Result<Arc<RotatingSecrets>, MonError> {
        let mut rotating = self.rotating();
        rotating.borrow_and_update();
        self.shared.state.lock().wants_rotating = true;
        self.shared.renew.notify_one();
        match timeout(limit, rotating.changed()).await {
            Ok(Ok(())) => rotating.borrow().clone().ok_or(MonError::Closed),
            Ok(Err(_)) => Err(MonError::Closed),
            Err(_) => Err(self.timed_out("the request for rotating secrets", limit)),
        }
    }

    async fn ask(&self, ask: Ask, limit: Duration) -> Result<Answer, MonError> {
        let what = ask.name();
        let (waiting, reply) = {
            let mut state = self.shared.state.lock();
            let (tid, reply) = state.requests.add(ask);
            if let (Some(sender), true, Some(ask)) =
                (&state.session, state.got_monmap, state.requests.get(tid))
            {
                // A failed send ends the session; the next one gets the request.
                let _ = self.shared.send_ask(sender, tid, ask);
            }
            (Waiting { shared: &self.shared, tid }, reply)
        };
        let answer = match timeout(limit, reply).await {
            Ok(Ok(answer)) => Ok(answer),
            // The table drops a request only after its caller.
            Ok(Err(_)) => Err(MonError::Closed),
            Err(_) => Err(self.timed_out(what, limit)),
        };
        drop(waiting);
        answer
    }

    fn timed_out(&self, what: &'static str, after: Duration) -> MonError {
        MonError::TimedOut { what, after, detail: self.shared.trouble() }
    }
}

/// The table hands out only answers of the kind that was asked for.
fn unfit(_: &Answer) -> MonError {
    MonError::Refused { what: "request", errno: Errno::EPROTO }
}

impl std::fmt::Debug for MonClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MonClient")
            .field("name", &self.shared.options.name)
            .field("connected", &self.is_connected())
            .field("epoch", &self.epoch())
            .finish()
    }
}
