//! What a method has to work with.

use std::collections::BTreeMap;

use bytes::Bytes;
use sepiola_objectstore::{Change, WriteData};
use sepiola_wire::{Encode, EntityAddr, EntityNum, Errno, Features, UTime};

use super::Access;
use crate::op::{Execution, Failure};

/// Who sent the request, and when it is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller {
    /// The session's entity.
    pub name: EntityNum,
    /// Its address with the nonce that it announced.
    pub addr: EntityAddr,
    /// The OSD's clock.
    pub clock: fn() -> UTime,
}

/// One call of a method: the object, the input and the output.
pub(crate) struct MethodCall<'c, 'a, 'o> {
    x: &'c mut Execution<'a, 'o>,
    access: Access,
    /// The argument as the client sent it.
    pub input: &'a [u8],
}

impl<'c, 'a, 'o> MethodCall<'c, 'a, 'o> {
    pub fn new(x: &'c mut Execution<'a, 'o>, access: Access, input: &'a [u8]) -> Self {
        MethodCall { x, access, input }
    }

    /// Who calls.
    pub fn caller(&self) -> EntityNum {
        self.x.caller.name
    }

    /// Where from.
    pub fn caller_addr(&self) -> EntityAddr {
        self.x.caller.addr
    }

    /// Now.
    pub fn now(&self) -> UTime {
        (self.x.caller.clock)()
    }

    fn reads(&self) -> Result<(), Failure> {
        if self.access.read { Ok(()) } else { Err(Errno::EIO.into()) }
    }

    fn writes(&self) -> Result<(), Failure> {
        if self.access.write { Ok(()) } else { Err(Errno::EIO.into()) }
    }

    /// Whether the object exists. Every method may ask.
    pub fn exists(&self) -> bool {
        self.x.exists()
    }

    /// The object's data, ENOENT if it does not exist.
    pub fn read(&self) -> Result<Bytes, Failure> {
        self.x.require()?;
        let size = self.x.size();
        let data = self.x.stored(|store, pg, object| store.read(pg, object, 0, size))?;
        self.reads()?;
        Ok(data.into_bytes())
    }

    /// An attribute, `None` if it is not set, ENOENT if there is no object.
    pub fn xattr(&self, name: &str) -> Result<Option<Bytes>, Failure> {
        self.reads()?;
        self.x.require()?;
        self.x.xattr(name.as_bytes())
    }

    /// All attributes.
    pub fn xattrs(&self) -> Result<BTreeMap<Bytes, Bytes>, Failure> {
        self.reads()?;
        self.x.xattrs()
    }

    /// An omap value as it was before the request.
    pub fn omap_value(&self, key: &[u8]) -> Result<Option<Bytes>, Failure> {
        self.reads()?;
        self.x.stored(|store, pg, object| store.omap_get(pg, object, key))
    }

    /// Replaces the data; creates the object.
    pub fn write_full(&mut self, data: impl Into<Bytes>) -> Result<(), Failure> {
        self.writes()?;
        let data: Bytes = data.into();
        let size = data.len() as u64;
        self.x.limits.check_range(0, size)?;
        self.x.written += size;
        self.x.change_data(Change::WriteFull(WriteData::Shared(data)), size);
        Ok(())
    }

    /// Sets an attribute; creates the object.
    pub fn set_xattr(&mut self, name: &str, value: impl Into<Bytes>) -> Result<(), Failure> {
        self.writes()?;
        if name.len() > self.x.limits.max_xattr_name {
            return Err(Errno::ENAMETOOLONG.into());
        }
        let value = WriteData::Shared(value.into());
        self.x.change(Change::SetXattr { name: name.as_bytes().to_vec().into(), value });
        Ok(())
    }

    /// Sets an omap value; creates the object.
    pub fn set_omap_value(&mut self, key: &[u8], value: impl Into<Bytes>) -> Result<(), Failure> {
        self.writes()?;
        let value = WriteData::Shared(value.into());
        self.x.change(Change::OmapSet { key: key.to_vec().into(), value });
        Ok(())
    }

    /// Removes the object.
    pub fn remove(&mut self) -> Result<(), Failure> {
        self.writes()?;
        self.x.require()?;
        self.x.remove();
        Ok(())
    }

    /// Appends bytes to the output.
    pub fn put(&mut self, bytes: &[u8]) {
        self.x.out.encode(|out| out.extend_from_slice(bytes));
    }

    /// Appends an encoded value to the output.
    pub fn put_encoded(&mut self, value: &impl Encode) {
        self.x.out.encode(|out| value.encode(out, Features::SUPPORTED));
    }
}
