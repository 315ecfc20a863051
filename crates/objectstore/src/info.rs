//! What is kept about objects and collections besides their contents.

use sepiola_wire::{EVersion, UTime};

/// How a client expects to use an object. Stored and handed back, never acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllocHint {
    /// The size the object will have, in bytes.
    pub expected_object_size: u64,
    /// The size of its writes, in bytes.
    pub expected_write_size: u64,
    /// The wire's hint flags.
    pub flags: u32,
}

/// What the OSD keeps with every object. Stores do not interpret it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectInfo {
    /// The log position of the last write.
    pub version: EVersion,
    /// The version that clients see and assert on.
    pub user_version: u64,
    /// The time that the last writer gave, zero if none ever did.
    pub mtime: UTime,
    /// The sequence of the last truncation that a file-system client asked for.
    pub truncate_seq: u32,
    /// The size that truncation left.
    pub truncate_size: u64,
    /// The last allocation hint.
    pub hint: AllocHint,
}

/// An object's size and information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectStat {
    /// Bytes of data, holes included.
    pub size: u64,
    /// True when the object has omap entries or a header.
    pub has_omap: bool,
    /// What the OSD keeps with it.
    pub info: ObjectInfo,
}

/// Totals over a collection, kept up to date with every transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectionStats {
    /// Objects.
    pub objects: u64,
    /// Sum of the objects' sizes in bytes, holes included.
    pub bytes: u64,
    /// Omap entries.
    pub omap_keys: u64,
    /// Bytes of omap keys and values.
    pub omap_bytes: u64,
}

impl CollectionStats {
    /// Adds another collection's totals.
    pub fn add(&mut self, other: &CollectionStats) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.omap_keys += other.omap_keys;
        self.omap_bytes += other.omap_bytes;
    }
}

/// Bytes of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// What it may hold.
    pub total: u64,
    /// What it holds: contents, and what it spends on keeping them.
    pub used: u64,
}

impl Space {
    /// What is free.
    pub fn available(&self) -> u64 {
        self.total.saturating_sub(self.used)
    }
}

/// How much one step of a removal takes away; it ends with the object that reaches either limit.
#[derive(Debug, Clone, Copy)]
pub struct RemovalLimit {
    /// Objects.
    pub objects: usize,
    /// Bytes of what they hold.
    pub bytes: u64,
}
