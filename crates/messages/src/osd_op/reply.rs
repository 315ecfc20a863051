//! OSD_OPREPLY in both directions.

use std::ops::Range;

use sepiola_wire::{
    Decode, DecodeError, EVersion, Encode, Epoch, Features, ObjectLocator, PgId, Put, Reader,
};

use super::{
    OpArgs, OpCode, OpFlags, OsdOpRequest, RAW_OP_SIZE, RawOp, RequestFlags,
    op::{self, ARGS_AT, PAYLOAD_LEN_AT},
};
use crate::kind;

/// The layout written.
pub const VERSION: u16 = 8;
/// The header's `compat_version`.
pub const COMPAT: u16 = 2;
/// The oldest layout that can be read.
const OLDEST: u16 = 7;

const TRACE_SIZE: usize = 24;

/// Everything of a reply but the outcomes of single operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead<'a> {
    /// The request's object name.
    pub oid: &'a [u8],
    /// The request's pg.
    pub pg: PgId,
    /// [`RequestFlags::reply`] or [`RequestFlags::early_reply`] of the request's.
    pub flags: RequestFlags,
    /// The last operation's result, or the negative errno of the one that failed.
    pub result: i32,
    /// The write's version with the user version in place of the counter; of reads only the latter.
    pub bad_replay_version: EVersion,
    /// The OSD's map.
    pub map_epoch: Epoch,
    /// The request's; a client ignores replies to other attempts.
    pub retry_attempt: i32,
    /// The write's version; zero for reads.
    pub replay_version: EVersion,
    /// The object's user version.
    pub user_version: u64,
}

impl<'a> ReplyHead<'a> {
    /// The reply to a request, without versions.
    pub fn new(request: &OsdOpRequest<'a>, result: i32, map_epoch: Epoch) -> Self {
        ReplyHead {
            oid: request.oid,
            pg: request.spg.pg,
            flags: request.flags.reply(),
            result,
            bad_replay_version: EVersion::default(),
            map_epoch,
            retry_attempt: request.retry_attempt,
            replay_version: EVersion::default(),
            user_version: 0,
        }
    }

    /// The reply to a request of which nothing was executed.
    pub fn early(request: &OsdOpRequest<'a>, result: i32, map_epoch: Epoch) -> Self {
        ReplyHead { flags: request.flags.early_reply(), ..Self::new(request, result, map_epoch) }
    }
}

/// What an OSD changes in the arguments that it repeats. Clients do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteBack {
    /// Nothing.
    #[default]
    None,
    /// The second `u64`: bytes that a read returned (its extent's length), or that a call returned.
    Length(u64),
    /// The second `u32`: length of an xattr's value.
    ValueLen(u32),
}

/// The outcome of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpOutcome {
    /// 0 or more, or a negative errno.
    pub rval: i32,
    /// Bytes of its output in the data segment.
    pub output_len: u32,
    /// Change of the repeated arguments.
    pub write_back: WriteBack,
}

/// Appends a reply's front. `ops` are the request's; outcomes that are missing at the end count as rval 0
/// without output. The data segment is the outputs in order.
pub fn encode_reply(out: &mut Vec<u8>, head: &ReplyHead<'_>, ops: &[RawOp], outcomes: &[OpOutcome]) {
    // The layout of a reply does not depend on features.
    let features = Features::SUPPORTED;
    out.reserve(140 + head.oid.len() + ops.len() * (RAW_OP_SIZE + 4));
    out.put_blob(head.oid);
    head.pg.encode(out, features);
    out.put_u64(head.flags.0.into());
    out.put_i32(head.result);
    head.bad_replay_version.encode(out, features);
    head.map_epoch.encode(out, features);
    out.put_len(ops.len());
    let outcome = |i: usize| outcomes.get(i).copied().unwrap_or_default();
    for (i, raw) in ops.iter().enumerate() {
        let at = out.position();
        out.put(raw);
        let outcome = outcome(i);
        out.patch(at + PAYLOAD_LEN_AT, &outcome.output_len.to_le_bytes());
        match outcome.write_back {
            WriteBack::None => {}
            WriteBack::Length(n) => out.patch(at + ARGS_AT + 8, &n.to_le_bytes()),
            WriteBack::ValueLen(n) => out.patch(at + ARGS_AT + 4, &n.to_le_bytes()),
        }
    }
    out.put_i32(head.retry_attempt);
    for i in 0..ops.len() {
        out.put_i32(outcome(i).rval);
    }
    head.replay_version.encode(out, features);
    out.put_u64(head.user_version);
    out.put_bool(false); // no redirect
    out.put(&[0; TRACE_SIZE]);
}

/// Where else an operation belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect<'a> {
    /// Pool, key and namespace there.
    pub locator: ObjectLocator,
    /// Name there; empty if unchanged.
    pub oid: &'a [u8],
}

/// A received reply as a view of the message.
#[derive(Debug, Clone)]
pub struct OsdOpReplyRef<'a> {
    /// The object.
    pub oid: &'a [u8],
    /// The pg.
    pub pg: PgId,
    /// Flags.
    pub flags: RequestFlags,
    /// Result of the whole request.
    pub result: i32,
    /// See [`ReplyHead`].
    pub bad_replay_version: EVersion,
    /// The OSD's map.
    pub map_epoch: Epoch,
    /// The attempt that this answers.
    pub retry_attempt: i32,
    /// The write's version.
    pub replay_version: EVersion,
    /// The object's user version.
    pub user_version: u64,
    /// Send it elsewhere.
    pub redirect: Option<Redirect<'a>>,
    raw: &'a [RawOp],
    rvals: &'a [[u8; 4]],
    data: &'a [u8],
}

impl<'a> OsdOpReplyRef<'a> {
    /// The header's `type`.
    pub const TYPE: u16 = kind::OSD_OPREPLY;

    /// Reads versions 7 and 8.
    ///
    /// # Errors
    /// For malformed bytes, for older versions, and if the outputs do not fit the data segment.
    pub fn decode(version: u16, front: &'a [u8], data: &'a [u8]) -> Result<Self, DecodeError> {
        if version < OLDEST {
            return Err(DecodeError::Invalid("OSD reply of a release before Jewel"));
        }
        let r = &mut Reader::new(front);
        let oid = r.blob()?;
        let pg = PgId::decode(r)?;
        // Only the lower half has meaning.
        let flags = RequestFlags(r.u64()? as u32);
        let result = r.i32()?;
        let bad_replay_version = EVersion::decode(r)?;
        let map_epoch = Epoch::decode(r)?;
        let count = r.count(RAW_OP_SIZE)?;
        let raw = op::raw_ops(r, count)?;
        if op::payload_total(raw) > data.len() as u64 {
            return Err(DecodeError::Invalid("operation outputs exceed the data"));
        }
        let retry_attempt = r.i32()?;
        let rvals = r.bytes(count * 4)?.as_chunks().0;
        let replay_version = EVersion::decode(r)?;
        let user_version = r.u64()?;
        let redirect = if r.bool()? { Some(Self::decode_redirect(r)?) } else { None };
        if version >= 8 {
            r.bytes(TRACE_SIZE)?;
        }
        Ok(OsdOpReplyRef {
            oid,
            pg,
            flags,
            result,
            bad_replay_version,
            map_epoch,
            retry_attempt,
            replay_version,
            user_version,
            redirect,
            raw,
            rvals,
            data,
        })
    }

    fn decode_redirect(r: &mut Reader<'a>) -> Result<Redirect<'a>, DecodeError> {
        let mut s = r.versioned("request_redirect", 1)?;
        Ok(Redirect { locator: ObjectLocator::decode(&mut s.body)?, oid: s.body.blob()? })
    }

    /// The operations with their outcomes, in order.
    pub fn ops(&self) -> ReplyOps<'a> {
        ReplyOps { raw: self.raw.iter(), rvals: self.rvals.iter(), data: self.data, at: 0 }
    }

    /// The operations' bytes.
    pub fn raw_ops(&self) -> &'a [RawOp] {
        self.raw
    }

    /// The data segment.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The fields that a reply writer takes.
    pub fn head(&self) -> ReplyHead<'a> {
        ReplyHead {
            oid: self.oid,
            pg: self.pg,
            flags: self.flags,
            result: self.result,
            bad_replay_version: self.bad_replay_version,
            map_epoch: self.map_epoch,
            retry_attempt: self.retry_attempt,
            replay_version: self.replay_version,
            user_version: self.user_version,
        }
    }
}

/// One operation's outcome.
#[derive(Debug, Clone)]
pub struct ReplyOpRef<'a> {
    /// The operation.
    pub code: OpCode,
    /// Its flags.
    pub flags: OpFlags,
    /// Its arguments as the OSD repeats them.
    pub args: OpArgs,
    /// 0 or more, or a negative errno.
    pub rval: i32,
    /// Its output.
    pub output: &'a [u8],
    /// Where the output is in the data segment, to slice an owned one without copying.
    pub output_range: Range<usize>,
}

/// The outcomes of a reply, in order.
#[derive(Debug, Clone)]
pub struct ReplyOps<'a> {
    raw: std::slice::Iter<'a, RawOp>,
    rvals: std::slice::Iter<'a, [u8; 4]>,
    data: &'a [u8],
    at: usize,
}

impl<'a> Iterator for ReplyOps<'a> {
    type Item = ReplyOpRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<ReplyOpRef<'a>> {
        let raw = self.raw.next()?;
        let rval = i32::from_le_bytes(*self.rvals.next()?);
        let output_range = self.at..self.at + op::payload_len(raw);
        self.at = output_range.end;
        Some(ReplyOpRef {
            code: op::code(raw),
            flags: op::flags(raw),
            args: op::args(raw),
            rval,
            output: &self.data[output_range.clone()],
            output_range,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.raw.size_hint()
    }
}

impl ExactSizeIterator for ReplyOps<'_> {}
