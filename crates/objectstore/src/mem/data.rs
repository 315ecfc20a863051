//! An object's bytes in memory.
//!
//! Objects that were written whole, and objects of at most one chunk, are one buffer. Others are cut
//! into chunks of [`CHUNK`] bytes, so that an append or an overwrite touches the chunks it covers and
//! nothing else. What no buffer covers reads as zeros.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use crate::{ReadData, WriteData};

/// Bytes in a chunk.
const CHUNK: usize = 64 << 10;
const CHUNK64: u64 = CHUNK as u64;

static ZEROS: [u8; CHUNK] = [0; CHUNK];

#[derive(Debug, Default)]
pub(super) struct Data {
    size: u64,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// The object's first bytes.
    Flat(Bytes),
    /// Chunks by number; each holds its chunk's first bytes and at most [`CHUNK`].
    Chunked(BTreeMap<u64, Bytes>),
}

impl Default for Body {
    fn default() -> Self {
        Body::Flat(Bytes::new())
    }
}

impl Data {
    pub fn whole(data: Bytes) -> Self {
        Data { size: data.len() as u64, body: Body::Flat(data) }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn read(&self, offset: u64, length: u64) -> ReadData {
        let end = offset.saturating_add(length).min(self.size);
        if offset >= end {
            return ReadData::default();
        }
        match &self.body {
            Body::Flat(flat) if end <= flat.len() as u64 => {
                // `end` fits a buffer's length, so both fit usize.
                ReadData::One(flat.slice(offset as usize..end as usize))
            }
            Body::Flat(flat) => {
                let mut pieces = Vec::new();
                let held = (flat.len() as u64).max(offset);
                if offset < flat.len() as u64 {
                    pieces.push(flat.slice(offset as usize..));
                }
                push_zeros(&mut pieces, end - held);
                one_or_many(pieces)
            }
            Body::Chunked(chunks) => {
                let mut pieces = Vec::new();
                let mut at = offset;
                while at < end {
                    let within = (at % CHUNK64) as usize;
                    let take = (CHUNK - within).min(usize::try_from(end - at).unwrap_or(CHUNK));
                    let chunk = chunks.get(&(at / CHUNK64)).map(|c| c.slice(within.min(c.len())..));
                    let piece = chunk.unwrap_or_default();
                    let held = piece.len().min(take);
                    if held > 0 {
                        pieces.push(piece.slice(..held));
                    }
                    push_zeros(&mut pieces, (take - held) as u64);
                    at += take as u64;
                }
                one_or_many(pieces)
            }
        }
    }

    pub fn write(&mut self, offset: u64, data: WriteData<'_>) {
        let end = offset + data.len() as u64;
        if offset == 0 && end >= self.size {
            *self = Data::whole(data.into_bytes());
            return;
        }
        self.size = self.size.max(end);
        if data.is_empty() {
            return;
        }
        if let Body::Flat(flat) = &mut self.body
            && end <= CHUNK64
            && flat.len() <= CHUNK
        {
            overwrite(flat, offset as usize, data.as_slice());
            return;
        }
        let data = data.as_slice();
        let chunks = self.chunked();
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let within = (at % CHUNK64) as usize;
            let take = (CHUNK - within).min(data.len() - done);
            overwrite(chunks.entry(at / CHUNK64).or_default(), within, &data[done..done + take]);
            done += take;
        }
    }

    pub fn zero(&mut self, offset: u64, length: u64) {
        let end = offset.saturating_add(length).min(self.size);
        if offset >= end {
            return;
        }
        if let Body::Flat(flat) = &mut self.body
            && flat.len() <= CHUNK
        {
            zero_within(flat, offset, end);
            return;
        }
        let chunks = self.chunked();
        let (first, last) = (offset / CHUNK64, (end - 1) / CHUNK64);
        let touched: Vec<u64> = chunks.range(first..=last).map(|(number, _)| *number).collect();
        for number in touched {
            let start = number * CHUNK64;
            if offset <= start && end >= start + CHUNK64 {
                chunks.remove(&number);
            } else if let Some(chunk) = chunks.get_mut(&number) {
                zero_within(chunk, offset.saturating_sub(start), (end - start).min(CHUNK64));
            }
        }
    }

    pub fn truncate(&mut self, size: u64) {
        match &mut self.body {
            Body::Flat(flat) => shorten(flat, size),
            Body::Chunked(chunks) => {
                chunks.split_off(&size.div_ceil(CHUNK64));
                if let Some(last) = chunks.get_mut(&(size / CHUNK64)) {
                    shorten(last, size % CHUNK64);
                }
                if size == 0 {
                    self.body = Body::default();
                }
            }
        }
        self.size = size;
    }

    /// Cuts a flat body into chunks, which share its buffer until they are written.
    fn chunked(&mut self) -> &mut BTreeMap<u64, Bytes> {
        if let Body::Flat(flat) = &mut self.body {
            let mut flat = std::mem::take(flat);
            let mut chunks = BTreeMap::new();
            let mut number = 0;
            while !flat.is_empty() {
                chunks.insert(number, flat.split_to(flat.len().min(CHUNK)));
                number += 1;
            }
            self.body = Body::Chunked(chunks);
        }
        match &mut self.body {
            Body::Chunked(chunks) => chunks,
            Body::Flat(_) => unreachable!("a flat body was just cut"),
        }
    }
}

/// Writes into a buffer, in place when no reader shares it.
fn overwrite(buffer: &mut Bytes, at: usize, data: &[u8]) {
    let end = at + data.len();
    if at == 0 && end >= buffer.len() {
        *buffer = Bytes::copy_from_slice(data);
        return;
    }
    let mut own = own(std::mem::take(buffer), end);
    if own.len() < end {
        own.resize(end, 0);
    }
    own[at..end].copy_from_slice(data);
    *buffer = own.freeze();
}

/// The buffer for writing: itself if nobody shares it, else a copy with room for `room` bytes.
fn own(buffer: Bytes, room: usize) -> BytesMut {
    buffer.try_into_mut().unwrap_or_else(|shared| {
        let mut copy = BytesMut::with_capacity(room.max(shared.len()));
        copy.extend_from_slice(&shared);
        copy
    })
}

fn zero_within(buffer: &mut Bytes, from: u64, to: u64) {
    let to = to.min(buffer.len() as u64) as usize;
    let from = from.min(to as u64) as usize;
    if from < to {
        let mut own = own(std::mem::take(buffer), 0);
        own[from..to].fill(0);
        *buffer = own.freeze();
    }
}

/// Cuts a buffer. What is left is copied when it is less than half, so that it does not pin the rest.
fn shorten(buffer: &mut Bytes, size: u64) {
    if size >= buffer.len() as u64 {
        return;
    }
    let size = size as usize;
    if size < buffer.len() / 2 {
        *buffer = Bytes::copy_from_slice(&buffer[..size]);
    } else {
        buffer.truncate(size);
    }
}

fn push_zeros(pieces: &mut Vec<Bytes>, mut count: u64) {
    while count > 0 {
        let take = count.min(CHUNK64) as usize;
        pieces.push(Bytes::from_static(&ZEROS[..take]));
        count -= take as u64;
    }
}

fn one_or_many(mut pieces: Vec<Bytes>) -> ReadData {
    match pieces.len() {
        0 => ReadData::default(),
        1 => ReadData::One(pieces.swap_remove(0)),
        _ => ReadData::Many(pieces),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_share_the_stored_buffer() {
        let data = Data::whole(Bytes::from(vec![7; 4096]));
        let (a, b) = (data.read(0, 4096), data.read(0, u64::MAX));
        let (ReadData::One(a), ReadData::One(b)) = (a, b) else { panic!("a whole object is one piece") };
        assert_eq!((a.len(), a.as_ptr()), (4096, b.as_ptr()));
    }

    #[test]
    fn a_reader_keeps_what_it_read_while_the_object_is_overwritten() {
        let mut data = Data::whole(Bytes::from(vec![1; 8192]));
        let before = data.read(0, 8192);
        data.write(4096, WriteData::Borrowed(&[2; 100]));
        assert_eq!(before.into_bytes(), vec![1; 8192]);
        assert_eq!(data.read(4096, 100).into_bytes(), vec![2; 100]);
    }

    #[test]
    fn an_overwrite_of_a_large_object_leaves_the_other_chunks_alone() {
        let mut data = Data::whole(Bytes::from(vec![1; 4 << 20]));
        let ReadData::One(before) = data.read(1 << 20, 4096) else { panic!("one piece") };
        data.write(0, WriteData::Borrowed(&[2; 4096]));
        let ReadData::One(after) = data.read(1 << 20, 4096) else { panic!("one chunk") };
        assert_eq!(before.as_ptr(), after.as_ptr());
    }
}
