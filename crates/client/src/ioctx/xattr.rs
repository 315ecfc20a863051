//! Extended attributes: few and small, kept with the object.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_messages::osd_op::OpSpec;

use super::IoCtx;
use crate::{ObjectName, Result};

impl IoCtx {
    /// The value of an xattr.
    ///
    /// # Errors
    /// ENOENT without the object, ENODATA without the xattr.
    pub async fn get_xattr(&self, object: impl Into<ObjectName>, name: impl AsRef<[u8]>) -> Result<Bytes> {
        let spec = OpSpec::getxattr(name.as_ref());
        self.read_specs("get an xattr of", object.into(), vec![spec]).await?.bytes(0)
    }

    /// All xattrs.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn get_xattrs(&self, object: impl Into<ObjectName>) -> Result<BTreeMap<Bytes, Bytes>> {
        self.read_specs("get the xattrs of", object.into(), vec![OpSpec::getxattrs()]).await?.entries(0)
    }

    /// Sets an xattr. Creates the object.
    ///
    /// # Errors
    /// ENAMETOOLONG for a name that the OSDs do not take.
    pub async fn set_xattr(
        &self,
        object: impl Into<ObjectName>,
        name: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<()> {
        let spec = OpSpec::setxattr(name.as_ref(), value.as_ref());
        self.write_one("set an xattr of", object.into(), spec).await
    }

    /// Removes an xattr; one that is missing is no error.
    ///
    /// # Errors
    /// ENOENT without the object.
    pub async fn rm_xattr(&self, object: impl Into<ObjectName>, name: impl AsRef<[u8]>) -> Result<()> {
        self.write_one("remove an xattr of", object.into(), OpSpec::rmxattr(name.as_ref())).await
    }
}
