//! `Encode` and `Decode`, and the containers of the wire.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::{DecodeError, Features, Put, Reader};

/// Values that can be written for a peer with the given features.
pub trait Encode {
    /// Appends the value to `out`.
    fn encode(&self, out: &mut Vec<u8>, features: Features);
}

/// Values that can be read. What a decoder accepts depends on the bytes alone, never on features.
pub trait Decode: Sized {
    /// The fewest bytes a value can take, for bounding counts before allocation.
    const MIN_SIZE: usize = 1;
    /// Reads one value.
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// Encodes one value into a fresh buffer.
pub fn encode_to_vec(value: &impl Encode, features: Features) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(&mut out, features);
    out
}

/// Decodes one value that must fill `bytes`.
pub fn decode_all<T: Decode>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut r = Reader::new(bytes);
    let value = T::decode(&mut r)?;
    r.finish()?;
    Ok(value)
}

macro_rules! primitive {
    ($($ty:ident, $put:ident, $size:literal;)*) => {$(
        impl Encode for $ty {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>, _: Features) {
                out.$put(*self);
            }
        }
        impl Decode for $ty {
            const MIN_SIZE: usize = $size;
            #[inline]
            fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                r.$ty()
            }
        }
    )*};
}
primitive! {
    u8, put_u8, 1; u16, put_u16, 2; u32, put_u32, 4; u64, put_u64, 8;
    i8, put_i8, 1; i16, put_i16, 2; i32, put_i32, 4; i64, put_i64, 8;
    f32, put_f32, 4; f64, put_f64, 8; bool, put_bool, 1;
}

impl Encode for str {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_blob(self.as_bytes());
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_blob(self.as_bytes());
    }
}

impl Decode for String {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.utf8().map(str::to_owned)
    }
}

impl Encode for Bytes {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_blob(self);
    }
}

impl Decode for Bytes {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.blob().map(Bytes::copy_from_slice)
    }
}

impl Encode for uuid::Uuid {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put(self.as_bytes());
    }
}

impl Decode for uuid::Uuid {
    const MIN_SIZE: usize = 16;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.array().map(uuid::Uuid::from_bytes)
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_bool(self.is_some());
        if let Some(value) = self {
            value.encode(out, features);
        }
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if r.bool()? { T::decode(r).map(Some) } else { Ok(None) }
    }
}

impl<A: Encode, B: Encode> Encode for (A, B) {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        self.0.encode(out, features);
        self.1.encode(out, features);
    }
}

impl<A: Decode, B: Decode> Decode for (A, B) {
    const MIN_SIZE: usize = A::MIN_SIZE + B::MIN_SIZE;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::decode(r)?, B::decode(r)?))
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_len(self.len());
        for item in self {
            item.encode(out, features);
        }
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        self.as_slice().encode(out, features);
    }
}

impl<T: Decode> Decode for Vec<T> {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = r.count(T::MIN_SIZE)?;
        // The count is bounded by the bytes that remain, but T may be larger in memory than on the
        // wire: reserve modestly and let the vector grow.
        let mut items = Vec::with_capacity(n.min(1024));
        for _ in 0..n {
            items.push(T::decode(r)?);
        }
        Ok(items)
    }
}

impl<T: Encode> Encode for BTreeSet<T> {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_len(self.len());
        for item in self {
            item.encode(out, features);
        }
    }
}

impl<T: Decode + Ord> Decode for BTreeSet<T> {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = r.count(T::MIN_SIZE)?;
        (0..n).map(|_| T::decode(r)).collect()
    }
}

impl<K: Encode, V: Encode> Encode for BTreeMap<K, V> {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_len(self.len());
        for (key, value) in self {
            key.encode(out, features);
            value.encode(out, features);
        }
    }
}

impl<K: Decode + Ord, V: Decode> Decode for BTreeMap<K, V> {
    const MIN_SIZE: usize = 4;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let n = r.count(K::MIN_SIZE + V::MIN_SIZE)?;
        (0..n).map(|_| Ok((K::decode(r)?, V::decode(r)?))).collect()
    }
}
