//! The omap: sorted keys and values, as many as one likes.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_messages::osd_op::OpSpec;

use super::IoCtx;
use crate::{
    ObjectName, Result,
    compound::{sorted_entries, sorted_keys},
};

/// What OSDs give at once at most.
pub(super) const PAGE: u64 = 1024;

/// A part of an omap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OmapPage {
    /// Keys and values, in the order of the keys.
    pub entries: Vec<(Bytes, Bytes)>,
    /// True if there are more behind the last one.
    pub more: bool,
}

impl IoCtx {
    /// One page of omap entries behind `start_after` whose keys start with `prefix`. OSDs give 1024 entries
    /// at most, and may give fewer than asked for.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_get_page(
        &self,
        object: impl Into<ObjectName>,
        start_after: impl AsRef<[u8]>,
        prefix: impl AsRef<[u8]>,
        max: u64,
    ) -> Result<OmapPage> {
        let spec = OpSpec::omap_get_vals(start_after.as_ref(), max, prefix.as_ref());
        self.read_specs("get the omap of", object.into(), vec![spec]).await?.omap_page(0)
    }

    /// All omap entries, in as many requests as it takes. Changes made meanwhile may or may not be in it.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_get_vals(&self, object: impl Into<ObjectName>) -> Result<BTreeMap<Bytes, Bytes>> {
        let mut list = self.omap_list(object);
        let mut all = BTreeMap::new();
        loop {
            let page = list.next_page().await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// All omap keys in order, in as many requests as it takes.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_get_keys(&self, object: impl Into<ObjectName>) -> Result<Vec<Bytes>> {
        let object = object.into();
        let mut all: Vec<Bytes> = Vec::new();
        loop {
            let spec = OpSpec::omap_get_keys(all.last().map_or(b"", |key| key), PAGE);
            let result = self.read_specs("get the omap keys of", object.clone(), vec![spec]).await?;
            let (keys, more) = result.omap_keys(0)?;
            let is_last = keys.is_empty() || !more;
            all.extend(keys);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// The entries of given keys, as far as they exist.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_get_vals_by_keys<K: AsRef<[u8]>>(
        &self,
        object: impl Into<ObjectName>,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<BTreeMap<Bytes, Bytes>> {
        let spec = OpSpec::omap_get_vals_by_keys(sorted_keys(keys).into_iter());
        self.read_specs("get omap values of", object.into(), vec![spec]).await?.entries(0)
    }

    /// The omap header; empty if it was never set.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_get_header(&self, object: impl Into<ObjectName>) -> Result<Bytes> {
        let spec = OpSpec::omap_get_header();
        self.read_specs("get the omap header of", object.into(), vec![spec]).await?.bytes(0)
    }

    /// Sets omap entries. Creates the object.
    ///
    /// # Errors
    /// EOPNOTSUPP in an erasure-coded pool.
    pub async fn omap_set<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        object: impl Into<ObjectName>,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<()> {
        let spec = OpSpec::omap_set(sorted_entries(entries).into_iter());
        self.write_one("set omap values of", object.into(), spec).await
    }

    /// Sets the omap header. Creates the object.
    ///
    /// # Errors
    /// EOPNOTSUPP in an erasure-coded pool.
    pub async fn omap_set_header(
        &self,
        object: impl Into<ObjectName>,
        header: impl Into<Bytes>,
    ) -> Result<()> {
        self.write_one("set the omap header of", object.into(), OpSpec::omap_set_header(header)).await
    }

    /// Removes omap entries; missing ones are no error.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_rm_keys<K: AsRef<[u8]>>(
        &self,
        object: impl Into<ObjectName>,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<()> {
        let spec = OpSpec::omap_rm_keys(sorted_keys(keys).into_iter());
        self.write_one("remove omap keys of", object.into(), spec).await
    }

    /// Removes the omap entries from `first` to just before `last`.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_rm_range(
        &self,
        object: impl Into<ObjectName>,
        first: impl AsRef<[u8]>,
        last: impl AsRef<[u8]>,
    ) -> Result<()> {
        let spec = OpSpec::omap_rm_range(first.as_ref(), last.as_ref());
        self.write_one("remove omap keys of", object.into(), spec).await
    }

    /// Removes all omap entries and the header.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn omap_clear(&self, object: impl Into<ObjectName>) -> Result<()> {
        self.write_one("clear the omap of", object.into(), OpSpec::omap_clear()).await
    }
}
