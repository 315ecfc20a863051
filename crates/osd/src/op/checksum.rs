//! checksum: sums over chunks of a range.

use sepiola_messages::osd_op::{OpRef, checksum_kind};
use sepiola_wire::{Errno, Put, Reader, crc32c_append};
use xxhash_rust::{xxh32::xxh32, xxh64::xxh64};

use super::{Execution, Failure, OpResult};

#[derive(Clone, Copy)]
enum Sum {
    XxHash32(u32),
    XxHash64(u64),
    Crc32c(u32),
}

impl Sum {
    /// The algorithm with its initial value, which the op's input carries.
    fn parse(kind: u8, input: &[u8]) -> Result<Self, Failure> {
        let r = &mut Reader::new(input);
        let sum = match kind {
            checksum_kind::XXHASH32 => r.u32().map(Sum::XxHash32),
            checksum_kind::XXHASH64 => r.u64().map(Sum::XxHash64),
            checksum_kind::CRC32C => r.u32().map(Sum::Crc32c),
            _ => return Err(Errno::EINVAL.into()),
        };
        sum.map_err(|_| Errno::EINVAL.into())
    }

    fn put(self, chunk: &[u8], out: &mut Vec<u8>) {
        match self {
            Sum::XxHash32(seed) => out.put_u32(xxh32(chunk, seed)),
            Sum::XxHash64(seed) => out.put_u64(xxh64(chunk, seed)),
            Sum::Crc32c(init) => out.put_u32(crc32c_append(init, chunk)),
        }
    }
}

pub(super) fn checksum<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.require()?;
    let args = op.args.checksum();
    let sum = Sum::parse(args.kind, op.input)?;
    // Only the sum over a whole object may leave the length open.
    if args.length == 0 && (args.offset != 0 || args.chunk_size != 0) {
        return Err(Errno::EINVAL.into());
    }
    let left = x.size().saturating_sub(args.offset);
    let length = if args.length == 0 { left } else { args.length.min(left) };
    let chunk = if args.chunk_size == 0 { length } else { args.chunk_size.into() };
    if chunk != 0 && !length.is_multiple_of(chunk) {
        return Err(Errno::EINVAL.into());
    }
    let data = x.stored(|store, pg, object| store.read(pg, object, args.offset, length))?.into_bytes();
    // The whole range is at most an object, so a chunk fits usize.
    let chunks = data.chunks((chunk as usize).max(1));
    x.reserve_output(chunks.len() as u64 * 8)?;
    x.out.encode(|out| {
        out.put_len(chunks.len());
        chunks.for_each(|chunk| sum.put(chunk, out));
    });
    Ok(0)
}
