//! The store's interface.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
};

use bytes::Bytes;
use sepiola_wire::PgId;
use thiserror::Error;

use crate::{CollectionStats, KeyRef, ObjectKey, ObjectStat, RemovalLimit, Space, Transaction};

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such collection.
    #[error("no collection {0}")]
    NoCollection(PgId),
    /// There is no such object.
    #[error("no such object")]
    NoObject,
    /// There is no room for what the transaction adds.
    #[error("the store is full")]
    Full,
    /// The medium failed.
    #[error("store: {0}")]
    Io(String),
}

/// Called once when a transaction is durable or has failed, on a thread of the store.
pub type Completion = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// What became of a submitted transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Submitted {
    /// It is applied and durable, or it failed and nothing changed.
    Done(Result<(), StoreError>),
    /// The completion will tell.
    Pending,
}

/// The answer to a read: now or later.
#[must_use]
pub enum Fetch<T> {
    /// Here it is.
    Ready(Result<T, StoreError>),
    /// It has to be fetched.
    Pending(Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>),
}

impl<T> Fetch<T> {
    /// The answer, blocking the thread if it is not there yet. A store that answers at once never blocks.
    pub fn wait(self) -> Result<T, StoreError> {
        match self {
            Fetch::Ready(answer) => answer,
            Fetch::Pending(future) => block_on(future),
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Data that was read: refcounted pieces of what the store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadData {
    /// One piece, possibly empty.
    One(Bytes),
    /// Several pieces in order.
    Many(Vec<Bytes>),
}

impl Default for ReadData {
    fn default() -> Self {
        ReadData::One(Bytes::new())
    }
}

impl ReadData {
    /// The pieces in order.
    pub fn pieces(&self) -> &[Bytes] {
        match self {
            ReadData::One(piece) => std::slice::from_ref(piece),
            ReadData::Many(pieces) => pieces,
        }
    }

    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.pieces().iter().map(Bytes::len).sum()
    }

    /// True without any bytes.
    pub fn is_empty(&self) -> bool {
        self.pieces().iter().all(Bytes::is_empty)
    }

    /// One buffer with everything; copies only if there are several pieces.
    pub fn into_bytes(self) -> Bytes {
        match self {
            ReadData::One(piece) => piece,
            ReadData::Many(pieces) => pieces.concat().into(),
        }
    }
}

/// Which omap entries to read.
#[derive(Debug, Clone, Copy)]
pub struct OmapQuery<'a> {
    /// Only keys behind this one; empty for all.
    pub after: &'a [u8],
    /// Only keys that start so.
    pub prefix: &'a [u8],
    /// At most so many entries.
    pub max_entries: usize,
    /// Stop when keys and values exceed so many bytes, after at least one entry.
    pub max_bytes: usize,
    /// Leave values out (they read as empty).
    pub keys_only: bool,
}

/// Some omap entries in key order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OmapPage {
    /// Keys and values.
    pub entries: Vec<(Bytes, Bytes)>,
    /// True when further entries fit the query.
    pub more: bool,
}

/// Collections of objects, changed by transactions.
///
/// Transactions on one collection take effect in the order of submission, and a read sees every
/// transaction submitted before it. Objects are ordered by their keys, see [`ObjectKey`].
pub trait ObjectStore: Send + Sync + 'static {
    /// Creates a collection; nothing happens if it exists.
    fn create_collection(&self, collection: PgId) -> Result<(), StoreError>;
    /// Removes a collection and all its objects; nothing happens if it does not exist.
    fn remove_collection(&self, collection: PgId) -> Result<(), StoreError>;
    /// One step of removing a collection, which takes away objects up to `limit`; the collection goes with
    /// its last object. True when it is gone.
    fn remove_some(&self, collection: PgId, limit: RemovalLimit) -> Result<bool, StoreError>;
    /// The collections, in no particular order.
    fn collections(&self) -> Vec<PgId>;

    /// Applies a transaction and empties it; [`StoreError::Full`] if it would need more room than there is.
    /// The store asks `later` for a completion only when it answers
    /// [`Submitted::Pending`], so a store that answers at once costs no allocation.
    fn submit(&self, transaction: &mut Transaction<'_>, later: &mut dyn FnMut() -> Completion) -> Submitted;

    /// Applies a transaction and waits until it is durable. A store that answers at once never blocks.
    fn apply(&self, transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
        let (mut done, mut waiter) = (None, None);
        let submitted = self.submit(transaction, &mut || {
            let (sender, receiver) = mpsc::sync_channel(1);
            waiter = Some(receiver);
            // The receiver is gone only if this thread is.
            Box::new(move |result| drop(sender.send(result)))
        });
        if let Submitted::Done(result) = submitted {
            done = Some(result);
        }
        let lost = || Err(StoreError::Io("the store forgot a transaction".to_owned()));
        done.or_else(|| waiter.and_then(|waiter| waiter.recv().ok())).unwrap_or_else(lost)
    }

    /// An object's size and information, `None` if it does not exist.
    fn stat(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Option<ObjectStat>>;
    /// Data of a range in bytes, cut at the object's end.
    fn read(&self, collection: PgId, object: KeyRef<'_>, offset: u64, length: u64) -> Fetch<ReadData>;
    /// One extended attribute, `None` if it is not set.
    fn xattr(&self, collection: PgId, object: KeyRef<'_>, name: &[u8]) -> Fetch<Option<Bytes>>;
    /// All extended attributes by name.
    fn xattrs(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Vec<(Bytes, Bytes)>>;
    /// The omap header, empty if none was set.
    fn omap_header(&self, collection: PgId, object: KeyRef<'_>) -> Fetch<Bytes>;
    /// Omap entries in key order.
    fn omap_range(&self, collection: PgId, object: KeyRef<'_>, query: OmapQuery<'_>) -> Fetch<OmapPage>;
    /// One omap entry's value.
    fn omap_get(&self, collection: PgId, object: KeyRef<'_>, key: &[u8]) -> Fetch<Option<Bytes>>;

    /// Up to `max` objects from `from` on, itself included.
    fn list(&self, collection: PgId, from: KeyRef<'_>, max: usize) -> Fetch<Vec<ObjectKey>>;
    /// Room in all, and what is taken of it. Asked for with every write that grows, so it must be cheap.
    fn space(&self) -> Space;

    /// The collection's totals.
    fn stats(&self, collection: PgId) -> Result<CollectionStats, StoreError>;
}
