//! From a verdict to the reply's bytes.

use sepiola_messages::{
    kind,
    osd_op::{
        OpCode, OpOutcome, OsdOpRequest, REPLY_COMPAT, REPLY_VERSION, ReplyHead, WriteBack, encode_reply,
    },
};
use sepiola_msgr2::MessageHeader;
use sepiola_wire::{EVersion, Epoch, Errno, Tid};

use crate::{
    core::Scratch,
    op::Outputs,
    outgoing::{Outgoing, Refusal},
    pg::Outcome,
};

/// The versions of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Versions {
    pub replay: EVersion,
    pub bad_replay: EVersion,
    pub user: u64,
}

impl Versions {
    /// A log position and an object version; old clients find the latter in the former's place.
    pub fn new(at: EVersion, user: u64) -> Self {
        let bad_replay = if user == 0 { at } else { EVersion { version: user, ..at } };
        Versions { replay: at, bad_replay, user }
    }
}

/// What a request is answered with, besides its ops' outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    result: i32,
    versions: Versions,
    early: bool,
}

impl Verdict {
    /// An answer after execution.
    pub fn new(result: i32, versions: Versions) -> Self {
        Verdict { result, versions, early: false }
    }

    /// An error before execution.
    pub fn early(errno: Errno) -> Self {
        Verdict { result: errno.to_wire(), versions: Versions::default(), early: true }
    }

    /// The answer to a write that was executed before: the same again.
    pub fn duplicate(outcome: &Outcome, request: &OsdOpRequest<'_>, outputs: &mut Outputs) -> Self {
        for (rval, data) in outcome.returns.iter().take(request.raw_ops().len()) {
            outputs.begin();
            outputs.encode(|out| out.extend_from_slice(data));
            outputs.finish(*rval);
        }
        Verdict {
            result: outcome.result,
            versions: Versions::new(outcome.version, outcome.user_version),
            early: true,
        }
    }

    /// Encodes the reply straight into the connection's output.
    pub fn send(
        self,
        request: &OsdOpRequest<'_>,
        tid: Tid,
        epoch: Epoch,
        scratch: &mut Scratch,
        out: &mut impl Outgoing,
    ) -> Result<(), Refusal> {
        let Scratch { outputs, outcomes, .. } = scratch;
        let base = if self.early { ReplyHead::early } else { ReplyHead::new };
        let head = ReplyHead {
            bad_replay_version: self.versions.bad_replay,
            replay_version: self.versions.replay,
            user_version: self.versions.user,
            ..base(request, self.result, epoch)
        };
        outcomes.clear();
        outcomes.extend(outputs.ops().iter().zip(request.codes()).map(|(op, code)| OpOutcome {
            rval: op.rval,
            // The sum of all outputs is limited to far less.
            output_len: outputs.len_of(op) as u32,
            write_back: write_back(code, op.length),
        }));
        let header =
            MessageHeader { tid, ..MessageHeader::new(kind::OSD_OPREPLY, REPLY_VERSION, REPLY_COMPAT) };
        with_pieces(outputs, |data| {
            out.send(&header, |front| encode_reply(front, &head, request.raw_ops(), outcomes), data)
        })
    }
}

fn write_back(code: OpCode, length: Option<u64>) -> WriteBack {
    match length {
        None => WriteBack::None,
        Some(length) if code == OpCode::GETXATTR => WriteBack::ValueLen(length as u32),
        Some(length) => WriteBack::Length(length),
    }
}

/// Collects the outputs' pieces; the usual few need no allocation.
fn with_pieces<T>(outputs: &Outputs, send: impl FnOnce(&[&[u8]]) -> T) -> T {
    const FEW: usize = 4;
    let mut few: [&[u8]; FEW] = [&[]; FEW];
    let mut pieces = outputs.ops().iter().flat_map(|op| outputs.pieces(op));
    let mut count = 0;
    for piece in pieces.by_ref().take(FEW) {
        few[count] = piece;
        count += 1;
    }
    match pieces.next() {
        None => send(&few[..count]),
        Some(next) => {
            let mut many = few.to_vec();
            many.push(next);
            many.extend(pieces);
            send(&many)
        }
    }
}
