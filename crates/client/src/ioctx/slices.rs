//! Dividing a pool for several listings at once.

use sepiola_wire::{HObject, SnapId};

use super::{IoCtx, ListedObject, ObjectList};
use crate::{Error, Result};

impl IoCtx {
    /// Listings of this context's namespace that together find what [`IoCtx::list`] finds, each object once.
    /// The pool is divided by placement hashes, so that they are of about the same size; each can run in a
    /// task of its own, or on a machine of its own.
    ///
    /// # Errors
    /// For no slices at all.
    pub fn list_slices(&self, count: u32) -> Result<Vec<ObjectList>> {
        if count == 0 {
            return Err(Error::InvalidArgument("a listing in no slices".into()));
        }
        let bounds: Vec<HObject> = (0..=count).map(|i| self.slice_bound(i, count)).collect();
        let slices = bounds.windows(2).map(|pair| self.list_from(pair[0].clone()).until(pair[1].clone()));
        Ok(slices.collect())
    }

    /// Where slice `index` of `count` begins. Listings go by hashes with their bits reversed.
    fn slice_bound(&self, index: u32, count: u32) -> HObject {
        match index {
            0 => HObject::min(),
            _ if index >= count => HObject::max(),
            _ => {
                let reversed = (u64::from(index) << 32) / u64::from(count);
                // Below 2^32, because the index is below the count.
                HObject { hash: (reversed as u32).reverse_bits(), pool: self.pool, ..HObject::min() }
            }
        }
    }

    /// Where a listed object comes in the order of listings.
    pub(super) fn place_of(&self, object: &ListedObject) -> HObject {
        let map = self.rados.osdmap();
        let hash = map
            .pool(self.pool)
            .map_or(0, |pool| pool.object_hash(&object.name, &object.locator_key, &object.namespace));
        HObject {
            key: object.locator_key.clone(),
            oid: object.name.clone(),
            snap: SnapId::HEAD,
            hash,
            max: false,
            nspace: object.namespace.clone(),
            pool: self.pool,
        }
    }
}
