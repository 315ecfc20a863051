//! Appending primitives to a byte buffer.

/// Little-endian appends. Implemented for `Vec<u8>`, which is also what connections write from, so a
/// message is encoded straight into the bytes that leave.
pub trait Put {
    /// Appends raw bytes.
    fn put(&mut self, bytes: &[u8]);
    /// Bytes so far.
    fn position(&self) -> usize;
    /// Overwrites bytes that were appended before; `at + bytes.len()` must not pass the end.
    fn patch(&mut self, at: usize, bytes: &[u8]);

    /// Appends a `u8`.
    #[inline]
    fn put_u8(&mut self, v: u8) {
        self.put(&[v]);
    }
    /// Appends a `u16`.
    #[inline]
    fn put_u16(&mut self, v: u16) {
        self.put(&v.to_le_bytes());
    }
    /// Appends a `u32`.
    #[inline]
    fn put_u32(&mut self, v: u32) {
        self.put(&v.to_le_bytes());
    }
    /// Appends a `u64`.
    #[inline]
    fn put_u64(&mut self, v: u64) {
        self.put(&v.to_le_bytes());
    }
    /// Appends an `i8`.
    #[inline]
    fn put_i8(&mut self, v: i8) {
        self.put(&v.to_le_bytes());
    }
    /// Appends an `i16`.
    #[inline]
    fn put_i16(&mut self, v: i16) {
        self.put(&v.to_le_bytes());
    }
    /// Appends an `i32`.
    #[inline]
    fn put_i32(&mut self, v: i32) {
        self.put(&v.to_le_bytes());
    }
    /// Appends an `i64`.
    #[inline]
    fn put_i64(&mut self, v: i64) {
        self.put(&v.to_le_bytes());
    }
    /// Appends an `f32`.
    #[inline]
    fn put_f32(&mut self, v: f32) {
        self.put(&v.to_le_bytes());
    }
    /// Appends an `f64`.
    #[inline]
    fn put_f64(&mut self, v: f64) {
        self.put(&v.to_le_bytes());
    }
    /// Appends a bool as one byte.
    #[inline]
    fn put_bool(&mut self, v: bool) {
        self.put_u8(v.into());
    }
    /// Appends the length of something as a `u32`.
    ///
    /// # Panics
    /// If `len` does not fit, which no value this side builds can reach.
    #[inline]
    fn put_len(&mut self, len: usize) {
        self.put_u32(u32::try_from(len).expect("a local value of at least 4 GiB"));
    }
    /// Appends a length-prefixed string or blob.
    #[inline]
    fn put_blob(&mut self, bytes: &[u8]) {
        self.put_len(bytes.len());
        self.put(bytes);
    }

    /// Appends a `u32` length and what `body` appends.
    fn put_sized(&mut self, body: impl FnOnce(&mut Self))
    where
        Self: Sized,
    {
        let at = self.position();
        self.put_u32(0);
        body(self);
        let len = u32::try_from(self.position() - at - 4).expect("a local value of at least 4 GiB");
        self.patch(at, &len.to_le_bytes());
    }

    /// Appends a versioned struct: `version, compat, u32 length, body`.
    fn put_versioned(&mut self, version: u8, compat: u8, body: impl FnOnce(&mut Self))
    where
        Self: Sized,
    {
        self.put_u8(version);
        self.put_u8(compat);
        self.put_sized(body);
    }
}

impl Put for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    #[inline]
    fn position(&self) -> usize {
        self.len()
    }
    #[inline]
    fn patch(&mut self, at: usize, bytes: &[u8]) {
        self[at..at + bytes.len()].copy_from_slice(bytes);
    }
}
