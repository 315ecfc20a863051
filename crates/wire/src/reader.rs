//! A bounded reader over received bytes.

use thiserror::Error;

/// Why bytes could not be decoded. The sender of the bytes is at fault in every case.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("truncated: {needed} bytes needed, {remaining} left")]
    Truncated {
        /// Bytes that the value still needed.
        needed: usize,
        /// Bytes that were left.
        remaining: usize,
    },
    /// A count or length promises more than the remaining bytes could hold.
    #[error("count {count} cannot fit in {remaining} bytes")]
    CountTooLarge {
        /// The announced number of items.
        count: usize,
        /// Bytes that were left.
        remaining: usize,
    },
    /// The sender says that only newer decoders understand this struct.
    #[error("{what}: needs a decoder of version {compat}, this one knows {known}")]
    Incompatible {
        /// The struct.
        what: &'static str,
        /// Oldest decoder version that can read it, as the sender says.
        compat: u8,
        /// Newest version known here.
        known: u8,
    },
    /// A field holds a value outside its closed set.
    #[error("{0}")]
    Invalid(&'static str),
    /// Bytes were left where none may be.
    #[error("{0} trailing bytes")]
    Trailing(usize),
}

type Result<T> = std::result::Result<T, DecodeError>;

/// Reads primitives from a byte slice and never past its end.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// A versioned struct: `u8 version, u8 compat, u32 length, body`. Whatever the decoder leaves of the
/// body is skipped, which is how newer peers extend structs.
#[derive(Debug)]
pub struct Versioned<'a> {
    /// The layout that the sender wrote.
    pub version: u8,
    /// The struct's bytes and nothing behind them.
    pub body: Reader<'a>,
}

macro_rules! int {
    ($($name:ident: $ty:ty),*) => {$(
        #[doc = concat!("Reads a little-endian `", stringify!($ty), "`.")]
        #[inline]
        pub fn $name(&mut self) -> Result<$ty> {
            Ok(<$ty>::from_le_bytes(self.array()?))
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Reads from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// True when everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The unread bytes, without consuming them.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Fails unless everything was read.
    pub fn finish(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::Trailing(self.rest.len())) }
    }

    /// Reads exactly `n` bytes as a view.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(DecodeError::Truncated { needed: n, remaining: self.rest.len() }),
        }
    }

    /// Reads a fixed-size array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(DecodeError::Truncated { needed: N, remaining: self.rest.len() }),
        }
    }

    int!(u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f32: f32, f64: f64);

    /// Reads a bool; any non-zero byte is true, as peers read it.
    #[inline]
    pub fn bool(&mut self) -> Result<bool> {
        Ok(self.u8()? != 0)
    }

    /// Reads a `u32` length and that many bytes: a string, an object name or a blob.
    #[inline]
    pub fn blob(&mut self) -> Result<&'a [u8]> {
        let n = self.u32()? as usize;
        self.bytes(n)
    }

    /// Reads a string that must be UTF-8 (option names, pool names); object names are [`Reader::blob`]s.
    pub fn utf8(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.blob()?).map_err(|_| DecodeError::Invalid("text is not UTF-8"))
    }

    /// A reader over the next `n` bytes, which this reader skips.
    pub fn sub(&mut self, n: usize) -> Result<Reader<'a>> {
        self.bytes(n).map(Reader::new)
    }

    /// A reader over a length-prefixed blob.
    pub fn sub_blob(&mut self) -> Result<Reader<'a>> {
        self.blob().map(Reader::new)
    }

    /// Reads a `u32` item count and checks it against the remaining bytes, `min_size` bytes an item, so
    /// that it is safe to reserve room for the result.
    pub fn count(&mut self, min_size: usize) -> Result<usize> {
        let count = self.u32()? as usize;
        if count.checked_mul(min_size.max(1)).is_none_or(|total| total > self.rest.len()) {
            return Err(DecodeError::CountTooLarge { count, remaining: self.rest.len() });
        }
        Ok(count)
    }

    /// Opens a versioned struct for a decoder that knows versions up to `known`.
    pub fn versioned(&mut self, what: &'static str, known: u8) -> Result<Versioned<'a>> {
        let version = self.u8()?;
        let compat = self.u8()?;
        if compat > known {
            return Err(DecodeError::Incompatible { what, compat, known });
        }
        let len = self.u32()? as usize;
        Ok(Versioned { version, body: self.sub(len)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_struct_is_read_by_its_length() {
        let bytes = [9, 1, 5, 0, 0, 0, 7, 0, 0, 0, 0xff, 42];
        let mut r = Reader::new(&bytes);
        let mut s = r.versioned("test", 3).unwrap();
        assert_eq!((s.version, s.body.u32().unwrap()), (9, 7));
        assert_eq!(r.u8().unwrap(), 42);
        r.finish().unwrap();
    }

    #[test]
    fn a_struct_for_newer_decoders_is_refused() {
        let err = Reader::new(&[9, 4, 0, 0, 0, 0]).versioned("test", 3).unwrap_err();
        assert_eq!(err, DecodeError::Incompatible { what: "test", compat: 4, known: 3 });
    }

    #[test]
    fn a_count_beyond_the_bytes_is_refused_before_allocation() {
        let bytes = [0xff, 0xff, 0xff, 0x7f, 1, 2, 3];
        assert!(matches!(Reader::new(&bytes).count(1), Err(DecodeError::CountTooLarge { .. })));
        assert!(matches!(Reader::new(&bytes).blob(), Err(DecodeError::Truncated { .. })));
    }
}
