//! Object names: bytes, not text.

use bytes::Bytes;

/// An object's name. Anything that is bytes or text converts into one; [`Bytes`] does so without copying.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName(Bytes);

impl ObjectName {
    /// The name's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl AsRef<[u8]> for ObjectName {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for ObjectName {
    fn from(name: &str) -> Self {
        ObjectName(Bytes::copy_from_slice(name.as_bytes()))
    }
}

impl From<&[u8]> for ObjectName {
    fn from(name: &[u8]) -> Self {
        ObjectName(Bytes::copy_from_slice(name))
    }
}

impl<const N: usize> From<&[u8; N]> for ObjectName {
    fn from(name: &[u8; N]) -> Self {
        ObjectName(Bytes::copy_from_slice(name))
    }
}

impl From<&ObjectName> for ObjectName {
    fn from(name: &ObjectName) -> Self {
        name.clone()
    }
}

impl From<&String> for ObjectName {
    fn from(name: &String) -> Self {
        name.as_str().into()
    }
}

impl From<&Bytes> for ObjectName {
    fn from(name: &Bytes) -> Self {
        ObjectName(name.clone())
    }
}

macro_rules! from_owned {
    ($($ty:ty),*) => {$(
        impl From<$ty> for ObjectName {
            fn from(name: $ty) -> Self {
                ObjectName(name.into())
            }
        }
    )*};
}
from_owned!(Bytes, String, Vec<u8>);
