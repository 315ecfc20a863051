//! What each message is answered with.
//!
//! Every message is authorised by its own type: that its sender has authenticated gives it no right by
//! itself. Types that are unknown are logged and dropped; the session stays.

use std::{net::SocketAddr, sync::atomic::Ordering, time::Instant};

use bytes::Bytes;
use sepiola_cephx::{AuthEnv, MonAuthenticator, ServerAuthenticator};
use sepiola_messages::{
    Auth, AuthReply, Command, CommandReply, GetPoolStats, MonCommand, MonCommandAck, MonGetMap,
    MonGetVersion, MonGetVersionReply, MonSubscribe, PaxosHeader, Ping, PoolOp, Statfs, WireMessage, kind,
    proto::{OsdAlive, OsdBeacon, OsdBoot, OsdDown, OsdFailureReport, OsdStats},
};
use sepiola_messenger::{CloseReason, Dispatch, Outbox, Refused, decode};
use sepiola_msgr2::{FrameWriter, Message, PeerInfo, ServerConfig};
use sepiola_wire::{EntityType, Errno, Tid, UTime, Uuid};
use tracing::{debug, warn};

use super::{Session, write};
use crate::{
    caller::{Caller, allowed},
    command::{self, Reply, Request},
    core::Outcome,
    daemon::Monitor,
    service::{
        osd::{self, OsdMessage},
        pool_op,
        subscriptions::{may_subscribe, monmap_message},
        usage,
    },
    state::MonState,
};

impl Dispatch for Monitor {
    type Session = Session;

    fn handshake(&self, peer: SocketAddr) -> (ServerConfig, Box<dyn ServerAuthenticator>) {
        self.handshakes.fetch_add(1, Ordering::Relaxed);
        let mut config = ServerConfig::new(EntityType::Mon, self.addrs.clone(), self.rank, peer);
        config.crypto = self.options.crypto;
        (config, Box::new(MonAuthenticator::new(self.keys.clone(), self.policy.clone())))
    }

    fn accepted(
        &self,
        peer: &PeerInfo,
        auth: Box<dyn ServerAuthenticator>,
        outbox: Outbox,
    ) -> Result<Session, Refused> {
        let Some(who) = &peer.authenticated else { return Err(Refused::new("not authenticated")) };
        let caller = Caller {
            name: who.name.clone(),
            caps: who.caps.clone(),
            addr: peer.socket.map(|socket| socket.ip()),
            addrs: peer.addrs.clone(),
            global_id: who.global_id,
        };
        debug!(peer = %caller.name, global_id = who.global_id.0, mode = %peer.mode, "session opened");
        let shared = self.sessions.open(caller, peer.features, outbox);
        Ok(Session { shared, auth })
    }

    fn message(
        &self,
        session: &mut Session,
        message: Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason> {
        let outcome = self.handle(session, &message, writer);
        if let Err(CloseReason::Dispatch(reason)) = &outcome {
            debug!(peer = %session.shared.caller.name, kind = kind::name(message.header.kind), %reason, "session refused");
        }
        outcome
    }

    fn closed(&self, session: Session) {
        self.sessions.close(&session.shared);
        if let Some(osd) = session.shared.osd() {
            self.liveness.lock().session_lost(osd, Instant::now());
        }
    }
}

impl Monitor {
    fn handle(
        &self,
        session: &mut Session,
        message: &Message<'_>,
        writer: &mut FrameWriter,
    ) -> Result<(), CloseReason> {
        let state = self.state.load_full();
        let (tid, features) = (message.header.tid, session.shared.features);
        let caller = &session.shared.caller;
        match message.header.kind {
            MonGetMap::TYPE => write(writer, &monmap_message(&state, features), tid, features),
            MonSubscribe::TYPE => {
                self.subscribe(session, &state, &decode(message)?);
                Ok(())
            }
            Auth::TYPE => {
                let reply = renew(session, &decode(message)?);
                write(writer, &reply, tid, features)
            }
            MonGetVersion::TYPE => {
                let request: MonGetVersion = decode(message)?;
                match get_version(caller, &state, &request) {
                    Some(reply) => write(writer, &reply, tid, features),
                    None => Ok(()),
                }
            }
            Statfs::TYPE => {
                let request: Statfs = decode(message)?;
                if !self.may_read_usage(caller, &state, request.fsid) {
                    return Ok(());
                }
                let reply = usage::statfs(&state, &self.stats.lock(), &request);
                write(writer, &reply, tid, features)
            }
            GetPoolStats::TYPE => {
                let request: GetPoolStats = decode(message)?;
                if !self.may_read_usage(caller, &state, request.fsid) {
                    return Ok(());
                }
                let reply = usage::pool_stats(&state, &self.stats.lock(), &request);
                write(writer, &reply, tid, features)
            }
            PoolOp::TYPE => {
                let request: PoolOp = decode(message)?;
                if request.fsid != state.fsid() || !allowed(caller, "osd", None, "w") {
                    let reply = pool_op::reply(&state, Err(Errno::EPERM));
                    return write(writer, &reply, tid, features);
                }
                self.core.propose(pool_op::work(request, tid, session.shared.clone(), self.options.clone()));
                Ok(())
            }
            MonCommand::TYPE => {
                self.mon_command(session, &state, decode(message)?, tid);
                Ok(())
            }
            Command::TYPE => {
                self.tell(session, &state, decode(message)?, tid);
                Ok(())
            }
            Ping::TYPE => write(writer, &self.ping(&state), tid, features),
            OsdBoot::TYPE => self.osd_message(session, &state, OsdMessage::Boot(decode(message)?)),
            OsdBeacon::TYPE => self.osd_message(session, &state, OsdMessage::Beacon(decode(message)?)),
            OsdFailureReport::TYPE => {
                self.osd_message(session, &state, OsdMessage::Failure(decode(message)?))
            }
            OsdDown::TYPE => self.osd_message(session, &state, OsdMessage::Down(decode(message)?)),
            OsdAlive::TYPE => self.osd_message(session, &state, OsdMessage::Alive(decode(message)?)),
            OsdStats::TYPE => self.osd_message(session, &state, OsdMessage::Stats(decode(message)?)),
            other => {
                debug!(peer = %caller.name, kind = other, "message of an unknown type dropped");
                Ok(())
            }
        }
    }

    fn subscribe(&self, session: &Session, state: &MonState, request: &MonSubscribe) {
        let caller = &session.shared.caller;
        let granted = request.what.iter().filter(|(what, _)| {
            let granted = may_subscribe(caller, what);
            if !granted {
                debug!(peer = %caller.name, %what, "subscription denied");
            }
            granted
        });
        session.shared.subscribe(
            state,
            &request.hostname,
            granted.map(|(what, subscription)| (what.as_str(), *subscription)),
        );
    }

    fn may_read_usage(&self, caller: &Caller, state: &MonState, fsid: Uuid) -> bool {
        let may = fsid == state.fsid() && allowed(caller, "pg", None, "r");
        if !may {
            debug!(peer = %caller.name, "usage denied");
        }
        may
    }

    /// Runs a command that only reads; queues one that writes, `answer` being called when it is durable.
    fn run_command(
        &self,
        session: &Session,
        state: &MonState,
        fsid: Uuid,
        request: Request,
        answer: impl FnOnce(&MonState, Reply) + Send + 'static,
    ) {
        if fsid != state.fsid() {
            return answer(state, Reply::error(Errno::EPERM, "wrong cluster"));
        }
        let checked = match command::check(request, &session.shared.caller) {
            Ok(checked) => checked,
            Err(reply) => return answer(state, reply),
        };
        if checked.is_read() {
            let reply = {
                let stats = self.stats.lock();
                let at = self.surroundings(state, &stats, UTime::now());
                checked.run(at, &session.shared.caller, &mut rand::rng()).reply
            };
            return answer(state, reply);
        }
        let (this, shared) = (self.shared(), session.shared.clone());
        self.core.propose(Box::new(move |draft| {
            let Some(monitor) = this.upgrade() else { return Outcome::silent(vec![]) };
            let stats = monitor.stats.lock();
            let at = monitor.surroundings(draft.state, &stats, draft.now);
            let proposal = checked.run(at, &shared.caller, draft.rng);
            Outcome { changes: proposal.changes, then: Box::new(move |state| answer(state, proposal.reply)) }
        }));
    }

    fn mon_command(&self, session: &Session, state: &MonState, request: MonCommand, tid: Tid) {
        let (shared, words) = (session.shared.clone(), request.cmd.clone());
        let command = Request { words: request.cmd, input: request.input };
        self.run_command(session, state, request.fsid, command, move |state, reply| {
            let ack = MonCommandAck {
                paxos: PaxosHeader { version: command::epoch_of(state).0.into() },
                result: reply.result,
                status: reply.status,
                cmd: words,
                output: reply.output,
            };
            shared.send(&ack, tid);
        });
    }

    /// `ceph tell mon.X`: what concerns this process, and the same commands, asked of this monitor alone.
    fn tell(&self, session: &Session, state: &MonState, request: Command, tid: Tid) {
        let shared = session.shared.clone();
        let asked = serde_json::from_str(&request.cmd.concat()).unwrap_or_default();
        if !command::may_tell(&shared.caller, &asked) {
            let (result, status) = (Errno::EACCES.to_wire(), "access denied".to_owned());
            return shared.send(&CommandReply { result, status, output: Bytes::new() }, tid);
        }
        if request.fsid == state.fsid()
            && let Some(commands) = &self.options.commands
            && let Some(reply) = command::tell(commands.as_ref(), &asked)
        {
            let reply = CommandReply { result: reply.result, status: reply.status, output: reply.output };
            return shared.send(&reply, tid);
        }
        let command = Request { words: request.cmd, input: request.input };
        self.run_command(session, state, request.fsid, command, move |_, reply| {
            let reply = CommandReply { result: reply.result, status: reply.status, output: reply.output };
            shared.send(&reply, tid);
        });
    }

    fn ping(&self, state: &MonState) -> Ping {
        let stats = self.stats.lock();
        Ping { text: Some(command::ping_text(self.surroundings(state, &stats, UTime::now()))) }
    }

    fn osd_message(
        &self,
        session: &Session,
        state: &MonState,
        message: OsdMessage,
    ) -> Result<(), CloseReason> {
        // Refused without an answer: whoever sends these without being that OSD knows what it does.
        match osd::authorize(&session.shared, &message) {
            Ok(id) => osd::handle(self, &session.shared, state, id, message),
            Err(reason) => {
                warn!(peer = %session.shared.caller.name, reason, "OSD message refused");
                return Err(CloseReason::dispatch(reason));
            }
        }
        Ok(())
    }
}

fn renew(session: &mut Session, request: &Auth) -> AuthReply {
    let mut rng = rand::rng();
    let mut env = AuthEnv::new(UTime::now(), &mut rng);
    let mut reply = AuthReply {
        protocol: request.protocol,
        global_id: session.shared.caller.global_id,
        ..AuthReply::default()
    };
    match session.auth.mauth(&request.payload, &mut env) {
        Ok(payload) => reply.payload = payload.into(),
        Err(refused) => {
            debug!(peer = %session.shared.caller.name, reason = refused.reason, "renewal refused");
            reply.result = refused.errno.to_wire();
        }
    }
    reply
}

/// The newest version of a map; unknown maps and callers without rights get no answer, as from other
/// monitors.
fn get_version(caller: &Caller, state: &MonState, request: &MonGetVersion) -> Option<MonGetVersionReply> {
    if !allowed(caller, "mon", None, "r") {
        return None;
    }
    let (version, oldest) = match request.what.as_str() {
        "osdmap" => (state.osdmap().epoch().0.into(), state.osd_maps().oldest().0.into()),
        "monmap" => (state.monmap().epoch.0.into(), state.monmap().epoch.0.into()),
        // There are none of these: version 0 says so.
        "mgrmap" | "mdsmap" | "fsmap" => (0, 0),
        _ => return None,
    };
    Some(MonGetVersionReply { handle: request.handle, version, oldest })
}
