//! What the ops of a message return.

use std::ops::Range;

use bytes::Bytes;
use sepiola_objectstore::ReadData;

/// One op's result.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The op's value.
    pub rval: i32,
    /// A number that the reply's copy of the op carries: bytes read, the length of an attribute.
    pub length: Option<u64>,
    // Small outputs, and what precedes data: in the shared buffer.
    inline: Range<usize>,
    // Data out of the store, by reference.
    data: ReadData,
}

/// The results of a message's ops, in order. Reused from message to message.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    ops: Vec<Output>,
    buffer: Vec<u8>,
}

impl Outputs {
    /// Forgets the former message.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.buffer.clear();
        // One large listing must not hold its memory for the life of the connection.
        if self.buffer.capacity() > 1 << 20 {
            self.buffer = Vec::new();
        }
    }

    /// Starts the next op's output.
    pub fn begin(&mut self) {
        let at = self.buffer.len();
        self.ops.push(Output { inline: at..at, ..Output::default() });
    }

    fn current(&mut self) -> &mut Output {
        self.ops.last_mut().expect("an op's output was begun before it runs")
    }

    /// Appends encoded bytes to the current op's output. Must not follow [`Outputs::data`].
    pub fn encode(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(&mut self.buffer);
        let end = self.buffer.len();
        self.current().inline.end = end;
    }

    /// Appends stored data to the current op's output.
    pub fn data(&mut self, data: ReadData) {
        self.current().data = data;
    }

    /// Sets the number in the reply's copy of the current op.
    pub fn length(&mut self, length: u64) {
        self.current().length = Some(length);
    }

    /// Sets the current op's value.
    pub fn finish(&mut self, rval: i32) {
        self.current().rval = rval;
    }

    /// Drops the current op's output, as failed ops return nothing.
    pub fn discard(&mut self) {
        let start = self.current().inline.start;
        self.buffer.truncate(start);
        let op = self.current();
        op.inline = start..start;
        op.data = ReadData::default();
        op.length = None;
    }

    /// Fills up with empty outputs for ops that did not run.
    pub fn pad(&mut self, count: usize) {
        while self.ops.len() < count {
            self.begin();
        }
    }

    /// The results so far.
    pub fn ops(&self) -> &[Output] {
        &self.ops
    }

    /// Drops all outputs and keeps the values, as a write without RETURNVEC answers.
    pub fn drop_data(&mut self) {
        self.buffer.clear();
        for op in &mut self.ops {
            op.inline = 0..0;
            op.data = ReadData::default();
        }
    }

    /// Replaces the first op's output that is longer than `max` by an error. True if there was one.
    pub fn fail_longer_than(&mut self, max: usize, rval: i32) -> bool {
        let mut found = false;
        for op in &mut self.ops {
            if op.len() > max {
                *op = Output { rval, ..Output::default() };
                found = true;
            }
        }
        found
    }

    /// Bytes of an op's output.
    pub fn len_of(&self, op: &Output) -> usize {
        op.len()
    }

    /// Bytes of all outputs.
    pub fn total(&self) -> usize {
        self.ops.iter().map(Output::len).sum()
    }

    /// The pieces of an op's output in order.
    pub fn pieces<'s>(&'s self, op: &'s Output) -> impl Iterator<Item = &'s [u8]> {
        std::iter::once(&self.buffer[op.inline.clone()])
            .chain(op.data.pieces().iter().map(|piece| &piece[..]))
            .filter(|piece| !piece.is_empty())
    }

    /// The values and outputs as a write's duplicates are answered with. Thousands of them are remembered,
    /// so an output of more than `longest` bytes is left out.
    pub fn to_returns(&self, longest: usize) -> Vec<(i32, Bytes)> {
        let output = |op| match self.len_of(op) {
            0 => Bytes::new(),
            len if len > longest => Bytes::new(),
            _ => self.pieces(op).collect::<Vec<_>>().concat().into(),
        };
        self.ops.iter().map(|op| (op.rval, output(op))).collect()
    }
}

impl Output {
    fn len(&self) -> usize {
        self.inline.len() + self.data.len()
    }
}
