//! Listing the objects of a pool, pg by pg.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use sepiola_messages::osd_op::{OpSpec, RequestHead, output::ListEntry};
use sepiola_wire::{Epoch, Errno, HObject, ObjectLocator, PgId, SpgId};

use super::IoCtx;
use crate::{
    Error, ReadResult, Result,
    objecter::{Request, request_flags},
};

/// What OSDs give at once at most.
const PAGE: u64 = 1024;
/// The namespace that stands for all of them.
const ALL_NAMESPACES: &[u8] = b"\x01";

/// An object found by listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedObject {
    /// Its namespace; empty is the default one.
    pub namespace: Bytes,
    /// Its name.
    pub name: Bytes,
    /// Its locator key; empty if it is placed by its name.
    pub locator_key: Bytes,
}

impl From<ListEntry> for ListedObject {
    fn from(entry: ListEntry) -> Self {
        ListedObject { namespace: entry.nspace, name: entry.oid, locator_key: entry.key }
    }
}

/// A listing under way. Objects come in the order of their placement hashes, each once; those created or
/// removed meanwhile may or may not come.
#[derive(Debug, Clone)]
pub struct ObjectList {
    io: IoCtx,
    namespace: Bytes,
    cursor: HObject,
    /// The first place that is not listed.
    end: HObject,
    start_epoch: Epoch,
    page: VecDeque<ListedObject>,
}

impl IoCtx {
    /// Lists the objects of the pool in this context's namespace.
    pub fn list(&self) -> ObjectList {
        self.list_from(HObject::min())
    }

    /// Lists the objects of the pool in all namespaces.
    pub fn list_all_namespaces(&self) -> ObjectList {
        ObjectList { namespace: Bytes::from_static(ALL_NAMESPACES), ..self.list() }
    }

    /// Goes on with a listing of this context's namespace from a [`ObjectList::cursor`].
    pub fn list_from(&self, cursor: HObject) -> ObjectList {
        ObjectList {
            io: self.clone(),
            namespace: self.namespace.clone(),
            cursor,
            end: HObject::max(),
            start_epoch: Epoch(0),
            page: VecDeque::new(),
        }
    }
}

impl ObjectList {
    /// Ends before `cursor`, which is where another listing of the same pool stood or where a slice begins.
    #[must_use]
    pub fn until(mut self, cursor: HObject) -> Self {
        self.end = cursor;
        self
    }

    /// The next object, `None` at the end.
    ///
    /// # Errors
    /// Of the request for a page of objects; the call can be repeated.
    pub async fn next(&mut self) -> Result<Option<ListedObject>> {
        loop {
            if let Some(object) = self.page.pop_front() {
                return Ok(Some(object));
            }
            if self.is_over() {
                return Ok(None);
            }
            self.page = self.fetch().await?.into();
        }
    }

    /// All objects that one request finds, at most 1024; empty only at the end.
    ///
    /// # Errors
    /// As [`ObjectList::next`].
    pub async fn next_page(&mut self) -> Result<Vec<ListedObject>> {
        loop {
            let page = std::mem::take(&mut self.page);
            if !page.is_empty() || self.is_over() {
                return Ok(page.into());
            }
            self.page = self.fetch().await?.into();
        }
    }

    /// Where the page after those returned so far begins.
    pub fn cursor(&self) -> &HObject {
        &self.cursor
    }

    /// The listing as a stream. It ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<ListedObject>> + Send {
        stream::unfold(Some(self), |list| async {
            let mut list = list?;
            match list.next().await {
                Ok(Some(object)) => Some((Ok(object), Some(list))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    fn is_over(&self) -> bool {
        self.cursor.max || self.cursor >= self.end
    }

    /// Asks the pg that the cursor is in.
    async fn fetch(&mut self) -> Result<Vec<ListedObject>> {
        let result = self.io.objecter().execute(self.request()?).await?;
        if let Err(errno) = Errno::from_wire(result.result) {
            return Err(Error::operation(errno, WHAT, self.io.pool_name.as_bytes()));
        }
        if self.start_epoch == Epoch(0) {
            self.start_epoch = result.map_epoch;
        }
        let object = Bytes::copy_from_slice(self.io.pool_name.as_bytes());
        let listing = ReadResult { reply: result, what: WHAT, object }.listing(0)?;
        if !listing.next.max && listing.next <= self.cursor {
            return Err(Error::PeerMisbehaved("a listing that does not advance".to_owned()));
        }
        self.cursor = listing.next;
        let mut found: Vec<_> = listing.entries.into_iter().map(ListedObject::from).collect();
        if self.cursor > self.end {
            // The page reaches beyond the end, which cuts through it.
            self.cursor = self.end.clone();
            found.retain(|object| self.io.place_of(object) < self.end);
        }
        Ok(found)
    }

    fn request(&self) -> Result<Request> {
        let (io, map) = (&self.io, self.io.objecter().map());
        let pool = map.pool(io.pool).ok_or_else(|| Error::NoSuchPool(io.pool_name.clone()))?;
        let ps = pool.fold(self.cursor.hash);
        let locator =
            ObjectLocator { nspace: self.namespace.clone(), hash: ps.into(), ..ObjectLocator::new(io.pool) };
        let specs = vec![OpSpec::pgnls(&self.cursor, PAGE, self.start_epoch.0)];
        let pg = SpgId::replicated(PgId::new(io.pool, ps));
        let mut head = RequestHead::new(pg, ps, Epoch(0), locator, Bytes::new());
        head.flags = request_flags(false, specs.iter().map(|op| op.code));
        head.snap = io.read_snap;
        Ok(Request { head, specs, writes: false, what: WHAT })
    }
}

const WHAT: &str = "list objects of";
