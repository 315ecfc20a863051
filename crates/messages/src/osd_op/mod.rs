//! OSD requests and replies (OSD_OP, OSD_OPREPLY).
//!
//! An OSD reads a request as [`OsdOpRequest`], a view of the received bytes, and writes the reply with
//! [`encode_reply`] straight into the connection's output buffer. A client keeps a [`RequestHead`] and its
//! [`OpSpec`]s, writes them with [`encode_request`], and reads the reply as [`OsdOpReplyRef`]. None of the
//! four allocates.
//!
//! Inputs and outputs of single operations are in [`input`] and [`output`].

mod args;
mod code;
mod flags;
pub mod input;
mod op;
pub mod output;
mod reply;
mod request;
mod spec;

pub use args::{
    AllocHint, AssertVersion, Checksum, ClsArgs, CopyFrom, Extent, NotifyArgs, OpArgs, Pgls, SnapArgs,
    WatchArgs, WriteSame, XattrArgs, checksum_kind,
};
pub use code::OpCode;
pub use flags::{OpFlags, RequestFlags};
pub use op::{OpRef, Ops, RAW_OP_SIZE, RawOp};
pub use reply::{
    COMPAT as REPLY_COMPAT, OpOutcome, OsdOpReplyRef, Redirect, ReplyHead, ReplyOpRef, ReplyOps,
    VERSION as REPLY_VERSION, WriteBack, encode_reply,
};
pub use request::{
    COMPAT as REQUEST_COMPAT, LocatorRef, MAX_OPS, OsdOp, OsdOpRequest, RequestHead, Snaps,
    VERSION as REQUEST_VERSION, encode_request, request_version,
};
pub use spec::{CmpOp, OpSpec, WatchOp};
