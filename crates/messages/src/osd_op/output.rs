//! Outputs of operations: written by an OSD, read by a client.

use bytes::Bytes;
use sepiola_wire::{
    Cookie, Decode, DecodeError, Encode, EntityAddr, EntityNum, Features, HObject, Put, Reader, SnapId, UTime,
};

/// Output of stat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Time of the last write that gave one.
    pub mtime: UTime,
}

impl Encode for Stat {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u64(self.size);
        self.mtime.encode(out, features);
    }
}

impl Decode for Stat {
    const MIN_SIZE: usize = 16;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Stat { size: r.u64()?, mtime: UTime::decode(r)? })
    }
}

/// Appends the output of sparse-read: extents (offset, length) that exist, then their bytes.
pub fn put_sparse_read(out: &mut Vec<u8>, extents: &[(u64, u64)], data: &[u8]) {
    extents.encode(out, Features::SUPPORTED);
    out.put_blob(data);
}

/// Output of sparse-read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SparseRead {
    /// Extents (offset, length) that exist.
    pub extents: Vec<(u64, u64)>,
    /// Their bytes, one after the other.
    pub data: Bytes,
}

impl SparseRead {
    /// Reads the output, sharing its memory.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn decode(output: &Bytes) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(output);
        Ok(SparseRead { extents: Decode::decode(r)?, data: output.slice_ref(r.blob()?) })
    }
}

/// Writes the outputs of omap listings and getxattrs: a count, which is patched at the end, and the items.
#[derive(Debug)]
pub struct ListWriter<'o> {
    out: &'o mut Vec<u8>,
    at: usize,
    count: u32,
}

impl<'o> ListWriter<'o> {
    /// Begins a list at the end of `out`.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        let at = out.position();
        out.put_u32(0);
        ListWriter { out, at, count: 0 }
    }

    /// Appends a key alone.
    pub fn key(&mut self, key: &[u8]) {
        self.out.put_blob(key);
        self.count += 1;
    }

    /// Appends a key and a value.
    pub fn entry(&mut self, key: &[u8], value: &[u8]) {
        self.out.put_blob(key);
        self.out.put_blob(value);
        self.count += 1;
    }

    /// Items so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Ends the list of getxattrs or omap-get-vals-by-keys.
    pub fn finish(self) {
        self.out.patch(self.at, &self.count.to_le_bytes());
    }

    /// Ends the list of omap-get-keys or omap-get-vals; `more` says that items were left out.
    pub fn finish_with_more(self, more: bool) {
        self.out.put_bool(more);
        self.finish();
    }
}

/// Output of omap-get-keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OmapKeys {
    /// Keys in order.
    pub keys: Vec<Bytes>,
    /// True if there are more.
    pub more: bool,
}

impl OmapKeys {
    /// Reads the output, sharing its memory.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn decode(output: &Bytes) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(output);
        let n = r.count(4)?;
        let keys = (0..n).map(|_| Ok(output.slice_ref(r.blob()?))).collect::<Result<_, DecodeError>>()?;
        Ok(OmapKeys { keys, more: r.bool()? })
    }
}

/// Output of omap-get-vals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OmapVals {
    /// Entries in key order.
    pub entries: Vec<(Bytes, Bytes)>,
    /// True if there are more.
    pub more: bool,
}

fn entries(output: &Bytes, r: &mut Reader<'_>) -> Result<Vec<(Bytes, Bytes)>, DecodeError> {
    let n = r.count(8)?;
    (0..n).map(|_| Ok((output.slice_ref(r.blob()?), output.slice_ref(r.blob()?)))).collect()
}

impl OmapVals {
    /// Reads the output, sharing its memory.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn decode(output: &Bytes) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(output);
        Ok(OmapVals { entries: entries(output, r)?, more: r.bool()? })
    }
}

/// Reads the output of getxattrs or omap-get-vals-by-keys, sharing its memory.
///
/// # Errors
/// If it is malformed.
pub fn decode_entries(output: &Bytes) -> Result<Vec<(Bytes, Bytes)>, DecodeError> {
    entries(output, &mut Reader::new(output))
}

/// One watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watcher {
    /// Who watches.
    pub name: EntityNum,
    /// Under which number.
    pub cookie: Cookie,
    /// Seconds.
    pub timeout: u32,
    /// Where from.
    pub addr: EntityAddr,
}

impl Encode for Watcher {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(2, 1, |out| {
            self.name.encode(out, features);
            self.cookie.encode(out, features);
            out.put_u32(self.timeout);
            self.addr.encode(out, features);
        });
    }
}

impl Decode for Watcher {
    const MIN_SIZE: usize = 27;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("watch_item", 2)?;
        let (v, r) = (s.version, &mut s.body);
        Ok(Watcher {
            name: EntityNum::decode(r)?,
            cookie: Cookie::decode(r)?,
            timeout: r.u32()?,
            addr: if v >= 2 { EntityAddr::decode(r)? } else { EntityAddr::BLANK },
        })
    }
}

/// Output of list-watchers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Watchers(pub Vec<Watcher>);

impl Encode for Watchers {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| self.0.encode(out, features));
    }
}

impl Decode for Watchers {
    const MIN_SIZE: usize = 10;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("list_watchers", 1)?;
        Decode::decode(&mut s.body).map(Watchers)
    }
}

/// One clone of an object, or its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloneInfo {
    /// The newest snapshot that it serves; [`SnapId::HEAD`] for the head.
    pub id: SnapId,
    /// The snapshots that it serves.
    pub snaps: Vec<SnapId>,
    /// Extents (offset, length) that it shares with the next newer one.
    pub overlap: Vec<(u64, u64)>,
    /// Bytes.
    pub size: u64,
}

impl Encode for CloneInfo {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.id.encode(out, features);
            self.snaps.encode(out, features);
            self.overlap.encode(out, features);
            out.put_u64(self.size);
        });
    }
}

impl Decode for CloneInfo {
    const MIN_SIZE: usize = 30;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("clone_info", 1)?;
        let r = &mut s.body;
        Ok(CloneInfo {
            id: SnapId::decode(r)?,
            snaps: Decode::decode(r)?,
            overlap: Decode::decode(r)?,
            size: r.u64()?,
        })
    }
}

/// Output of list-snaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapSet {
    /// Clones, oldest first, then the head if it exists.
    pub clones: Vec<CloneInfo>,
    /// The newest snapshot that the object knows of.
    pub seq: SnapId,
}

impl Encode for SnapSet {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(2, 1, |out| {
            self.clones.encode(out, features);
            self.seq.encode(out, features);
        });
    }
}

impl Decode for SnapSet {
    const MIN_SIZE: usize = 10;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("list_snaps", 2)?;
        let clones = Decode::decode(&mut s.body)?;
        let seq = if s.version >= 2 { SnapId::decode(&mut s.body)? } else { SnapId(0) };
        Ok(SnapSet { clones, seq })
    }
}

/// One listed object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// Namespace.
    pub nspace: Bytes,
    /// Name.
    pub oid: Bytes,
    /// Placement key; empty if it is the name.
    pub key: Bytes,
}

/// Output of pgnls. The request's result is 1 at the end of the pg, else 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The next cursor: the first object not returned, or the start of the next pg in order.
    pub next: HObject,
    /// Objects in order.
    pub entries: Vec<ListEntry>,
}

impl Listing {
    /// Appends the output of pgls, which has no namespaces.
    pub fn encode_pgls(&self, out: &mut Vec<u8>) {
        let features = Features::SUPPORTED;
        out.put_versioned(1, 1, |out| {
            self.next.encode(out, features);
            out.put_len(self.entries.len());
            for e in &self.entries {
                out.put_blob(&e.oid);
                out.put_blob(&e.key);
            }
        });
    }
}

impl Encode for ListEntry {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_blob(&self.nspace);
        out.put_blob(&self.oid);
        out.put_blob(&self.key);
    }
}

impl Decode for ListEntry {
    const MIN_SIZE: usize = 12;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(ListEntry { nspace: Bytes::decode(r)?, oid: Bytes::decode(r)?, key: Bytes::decode(r)? })
    }
}

impl Encode for Listing {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_versioned(1, 1, |out| {
            self.next.encode(out, features);
            self.entries.encode(out, features);
        });
    }
}

impl Decode for Listing {
    const MIN_SIZE: usize = 49;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("pg_nls_response", 1)?;
        Ok(Listing { next: HObject::decode(&mut s.body)?, entries: Decode::decode(&mut s.body)? })
    }
}

/// Appends the output of checksum with 4-byte values (xxhash32, crc32c).
pub fn put_checksums32(out: &mut Vec<u8>, values: &[u32]) {
    values.encode(out, Features::SUPPORTED);
}

/// Appends the output of checksum with 8-byte values (xxhash64).
pub fn put_checksums64(out: &mut Vec<u8>, values: &[u64]) {
    values.encode(out, Features::SUPPORTED);
}
