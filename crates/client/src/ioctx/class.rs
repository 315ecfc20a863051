//! Methods of object classes, which run beside the object.

use bytes::Bytes;

use super::IoCtx;
use crate::{ObjectName, Result, WriteOp};

impl IoCtx {
    /// Calls a method of an object class, which may read and write, and returns its answer. For a method
    /// that only reads, [`ReadOp::call`](crate::ReadOp::call) also works while the cluster is full.
    ///
    /// # Errors
    /// The method's own; EOPNOTSUPP for a method that the class does not have, and EPERM or EOPNOTSUPP for a
    /// class that the OSD does not have.
    pub async fn exec(
        &self,
        object: impl Into<ObjectName>,
        class: &str,
        method: &str,
        input: impl AsRef<[u8]>,
    ) -> Result<Bytes> {
        let op = WriteOp::new().call(class, method, input).return_results();
        self.operate(object, op).await?.bytes(0)
    }
}
