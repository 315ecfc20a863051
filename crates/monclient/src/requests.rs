//! Requests that wait for a monitor's answer. They outlive sessions: a new session gets all of them again,
//! in order and under the same numbers.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_messages::{
    GetPoolStats, GetPoolStatsReply, MonCommand, MonCommandAck, MonGetVersion, MonGetVersionReply,
    PaxosHeader, PoolOp, PoolOpReply, Statfs, StatfsReply,
};
use sepiola_wire::{Epoch, Errno, PoolId, Tid, Uuid};
use tokio::sync::oneshot;

/// What is asked, without what only a session knows.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Command { cmd: Vec<String>, input: Bytes },
    GetVersion { what: String },
    PoolOp(PoolOp),
    Statfs { pool: Option<PoolId> },
    PoolStats { pools: Vec<String> },
}

/// What was answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Command(MonCommandAck),
    Version(MonGetVersionReply),
    PoolOp(PoolOpReply),
    Statfs(StatfsReply),
    PoolStats(GetPoolStatsReply),
}

/// A request as a message.
pub(crate) enum Outgoing {
    Command(MonCommand),
    GetVersion(MonGetVersion),
    PoolOp(PoolOp),
    Statfs(Statfs),
    PoolStats(GetPoolStats),
}

impl Ask {
    /// For messages about a request that fails.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Ask::Command { .. } => "the command",
            Ask::GetVersion { .. } => "the version query",
            Ask::PoolOp(_) => "the pool operation",
            Ask::Statfs { .. } => "statfs",
            Ask::PoolStats { .. } => "the pool statistics query",
        }
    }

    pub(crate) fn outgoing(&self, tid: Tid, fsid: Uuid, osdmap: Epoch) -> Outgoing {
        let paxos = PaxosHeader::default();
        match self.clone() {
            Ask::Command { cmd, input } => Outgoing::Command(MonCommand { paxos, fsid, cmd, input }),
            Ask::GetVersion { what } => Outgoing::GetVersion(MonGetVersion { handle: tid.0, what }),
            Ask::PoolOp(op) => {
                let paxos = PaxosHeader { version: osdmap.0.into() };
                Outgoing::PoolOp(PoolOp { paxos, fsid, ..op })
            }
            Ask::Statfs { pool } => Outgoing::Statfs(Statfs { paxos, fsid, pool }),
            Ask::PoolStats { pools } => Outgoing::PoolStats(GetPoolStats { paxos, fsid, pools }),
        }
    }
}

#[derive(Debug)]
struct Pending {
    ask: Ask,
    reply: oneshot::Sender<Answer>,
}

/// The table of waiting requests.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    last_tid: u64,
    pending: BTreeMap<Tid, Pending>,
}

impl Requests {
    /// Enters a request.
    pub(crate) fn add(&mut self, ask: Ask) -> (Tid, oneshot::Receiver<Answer>) {
        let (reply, receiver) = oneshot::channel();
        self.last_tid += 1;
        let tid = Tid(self.last_tid);
        self.pending.insert(tid, Pending { ask, reply });
        (tid, receiver)
    }

    /// Nobody waits for it any more.
    pub(crate) fn remove(&mut self, tid: Tid) {
        self.pending.remove(&tid);
    }

    /// Hands an answer to whoever waits; one that fits no request, or a request of another kind, is dropped.
    pub(crate) fn answer(&mut self, tid: Tid, answer: Answer) {
        let fits = self.pending.get(&tid).is_some_and(|p| {
            matches!(
                (&p.ask, &answer),
                (Ask::Command { .. }, Answer::Command(_))
                    | (Ask::GetVersion { .. }, Answer::Version(_))
                    | (Ask::PoolOp(_), Answer::PoolOp(_))
                    | (Ask::Statfs { .. }, Answer::Statfs(_))
                    | (Ask::PoolStats { .. }, Answer::PoolStats(_))
            )
        });
        if fits && let Some(pending) = self.pending.remove(&tid) {
            // An error means that the requester has just given up.
            let _ = pending.reply.send(answer);
        }
    }

    /// Everything, in the order in which it was asked.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Tid, &Ask)> {
        self.pending.iter().map(|(tid, p)| (*tid, &p.ask))
    }

    /// One request.
    pub(crate) fn get(&self, tid: Tid) -> Option<&Ask> {
        self.pending.get(&tid).map(|p| &p.ask)
    }
}

/// A monitor's answer to a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandReply {
    /// 0, or a negative errno.
    pub code: i32,
    /// Status text, which tools print to stderr.
    pub status: String,
    /// What tools print to stdout.
    pub output: Bytes,
}

impl CommandReply {
    /// The errno of a command that failed.
    pub fn errno(&self) -> Option<Errno> {
        Errno::from_wire(self.code).err()
    }
}

impl From<MonCommandAck> for CommandReply {
    fn from(ack: MonCommandAck) -> Self {
        CommandReply { code: ack.result, status: ack.status, output: ack.output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version_query() -> Ask {
        Ask::GetVersion { what: "osdmap".into() }
    }

    #[test]
    fn requests_keep_their_order_and_numbers() {
        let mut requests = Requests::default();
        let (first, _a) = requests.add(version_query());
        let (second, _b) = requests.add(Ask::Statfs { pool: None });
        let (third, _c) = requests.add(version_query());
        requests.remove(second);
        assert_eq!(requests.iter().map(|(tid, _)| tid).collect::<Vec<_>>(), [first, third]);
        let Outgoing::GetVersion(message) = version_query().outgoing(third, Uuid::nil(), Epoch(0)) else {
            panic!("not a version query")
        };
        assert_eq!(message.handle, third.0);
    }

    #[test]
    fn an_answer_of_another_kind_answers_nothing() {
        let mut requests = Requests::default();
        let (tid, mut reply) = requests.add(version_query());
        requests.answer(tid, Answer::Statfs(StatfsReply::default()));
        assert!(reply.try_recv().is_err());
        requests.answer(tid, Answer::Version(MonGetVersionReply { handle: tid.0, version: 9, oldest: 1 }));
        assert!(matches!(reply.try_recv(), Ok(Answer::Version(v)) if v.version == 9));
    }
}
