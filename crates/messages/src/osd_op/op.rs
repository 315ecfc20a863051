//! One operation of a received request.

use std::ops::Range;

use sepiola_wire::{DecodeError, Reader};

use super::{OpArgs, OpCode, OpFlags};

/// Bytes of one operation in a front.
pub const RAW_OP_SIZE: usize = 38;

/// One operation as it stands in a front: code, flags, arguments, input length.
pub type RawOp = [u8; RAW_OP_SIZE];

pub(super) const PAYLOAD_LEN_AT: usize = 34;
pub(super) const ARGS_AT: usize = 6;

fn field<const N: usize>(raw: &RawOp, at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&raw[at..at + N]);
    bytes
}

pub(super) fn code(raw: &RawOp) -> OpCode {
    OpCode(u16::from_le_bytes(field(raw, 0)))
}

pub(super) fn flags(raw: &RawOp) -> OpFlags {
    OpFlags(u32::from_le_bytes(field(raw, 2)))
}

pub(super) fn args(raw: &RawOp) -> OpArgs {
    OpArgs(field(raw, ARGS_AT))
}

pub(super) fn payload_len(raw: &RawOp) -> usize {
    u32::from_le_bytes(field(raw, PAYLOAD_LEN_AT)) as usize
}

/// Reads `count` operations as a view.
pub(super) fn raw_ops<'a>(r: &mut Reader<'a>, count: usize) -> Result<&'a [RawOp], DecodeError> {
    // Cannot overflow: counts are bounded by the caller.
    let (ops, _) = r.bytes(count * RAW_OP_SIZE)?.as_chunks();
    Ok(ops)
}

/// Total bytes that the operations claim of the data segment.
pub(super) fn payload_total(ops: &[RawOp]) -> u64 {
    ops.iter().map(|raw| payload_len(raw) as u64).sum()
}

/// One operation and its input, as views of the received message.
#[derive(Debug, Clone)]
pub struct OpRef<'a> {
    /// What to do.
    pub code: OpCode,
    /// How.
    pub flags: OpFlags,
    /// The argument union.
    pub args: OpArgs,
    /// The operation's part of the data segment.
    pub input: &'a [u8],
    /// Where that part is in the data segment, to slice an owned one without copying.
    pub input_range: Range<usize>,
}

/// The operations of a request, in order.
#[derive(Debug, Clone)]
pub struct Ops<'a> {
    raw: std::slice::Iter<'a, RawOp>,
    data: &'a [u8],
    at: usize,
}

impl<'a> Ops<'a> {
    /// The caller has checked that the operations' inputs fit `data`.
    pub(super) fn new(raw: &'a [RawOp], data: &'a [u8]) -> Self {
        Ops { raw: raw.iter(), data, at: 0 }
    }
}

impl<'a> Iterator for Ops<'a> {
    type Item = OpRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<OpRef<'a>> {
        let raw = self.raw.next()?;
        let input_range = self.at..self.at + payload_len(raw);
        self.at = input_range.end;
        Some(OpRef {
            code: code(raw),
            flags: flags(raw),
            args: args(raw),
            input: &self.data[input_range.clone()],
            input_range,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.raw.size_hint()
    }
}

impl ExactSizeIterator for Ops<'_> {}
