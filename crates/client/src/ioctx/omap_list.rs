//! Walking through an omap, page by page.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::{self, Stream};

use super::{IoCtx, omap::PAGE};
use crate::{ObjectName, Result};

/// A walk through the omap of one object, in the order of the keys. It holds one page, 1024 entries at most;
/// changes made meanwhile may or may not be in it. Dropping it ends it.
#[derive(Debug, Clone)]
#[must_use = "a walk does nothing until it is asked for entries"]
pub struct OmapList {
    io: IoCtx,
    object: ObjectName,
    after: Bytes,
    prefix: Bytes,
    end: Option<Bytes>,
    max_page: u64,
    page: VecDeque<(Bytes, Bytes)>,
    is_over: bool,
}

impl IoCtx {
    /// Walks through all omap entries of an object; [`OmapList::prefix`] and others choose some.
    pub fn omap_list(&self, object: impl Into<ObjectName>) -> OmapList {
        OmapList {
            io: self.clone(),
            object: object.into(),
            after: Bytes::new(),
            prefix: Bytes::new(),
            end: None,
            max_page: PAGE,
            page: VecDeque::new(),
            is_over: false,
        }
    }
}

impl OmapList {
    /// Only keys that start so.
    pub fn prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.prefix = Bytes::copy_from_slice(prefix.as_ref());
        self
    }

    /// Only keys behind this one.
    pub fn start_after(mut self, key: impl AsRef<[u8]>) -> Self {
        self.after = Bytes::copy_from_slice(key.as_ref());
        self
    }

    /// Only keys before this one.
    pub fn until(mut self, key: impl AsRef<[u8]>) -> Self {
        self.end = Some(Bytes::copy_from_slice(key.as_ref()));
        self
    }

    /// At most so many entries a request; at least one.
    pub fn page_size(mut self, entries: u64) -> Self {
        self.max_page = entries.max(1);
        self
    }

    /// The next entry, `None` at the end.
    ///
    /// # Errors
    /// ENOENT without the object. The call can be repeated.
    pub async fn next(&mut self) -> Result<Option<(Bytes, Bytes)>> {
        if self.page.is_empty() {
            self.page = self.next_page().await?.into();
        }
        Ok(self.page.pop_front())
    }

    /// What is left of the page, or what the next request finds; empty only at the end.
    ///
    /// # Errors
    /// As [`OmapList::next`].
    pub async fn next_page(&mut self) -> Result<Vec<(Bytes, Bytes)>> {
        if !self.page.is_empty() {
            return Ok(std::mem::take(&mut self.page).into());
        }
        if self.is_over {
            return Ok(Vec::new());
        }
        let found = self.io.omap_get_page(&self.object, &self.after, &self.prefix, self.max_page).await?;
        let mut entries = found.entries;
        self.is_over = !found.more || entries.is_empty();
        if let Some((last, _)) = entries.last() {
            self.after = last.clone();
        }
        if let Some(end) = &self.end {
            let within = entries.partition_point(|(key, _)| key < end);
            self.is_over |= within < entries.len();
            entries.truncate(within);
        }
        Ok(entries)
    }

    /// The walk as a stream. It ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<(Bytes, Bytes)>> + Send {
        stream::unfold(Some(self), |list| async {
            let mut list = list?;
            match list.next().await {
                Ok(Some(entry)) => Some((Ok(entry), Some(list))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}
