//! Who a peer is: `client.admin`, `osd.3`, `mon.a`.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::{Decode, DecodeError, Encode, Features, Put, Reader};

/// The kinds of entity; also the bits of a wanted-services mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntityType {
    /// A monitor.
    Mon = 0x01,
    /// A metadata server.
    Mds = 0x02,
    /// An object storage daemon.
    Osd = 0x04,
    /// A client.
    Client = 0x08,
    /// A manager.
    Mgr = 0x10,
    /// The authentication service of the monitors, which only tickets name.
    Auth = 0x20,
    /// Any of them.
    Any = 0xff,
}

impl EntityType {
    const ALL: [EntityType; 7] = [
        EntityType::Mon,
        EntityType::Mds,
        EntityType::Osd,
        EntityType::Client,
        EntityType::Mgr,
        EntityType::Auth,
        EntityType::Any,
    ];

    /// The type with this number.
    pub fn from_u32(value: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|t| *t as u32 == value)
    }

    /// The wire number, as a ticket's service id has it.
    pub const fn as_u32(self) -> u32 {
        self as u8 as u32
    }

    /// The lower-case name of the text form.
    pub const fn as_str(self) -> &'static str {
        match self {
            EntityType::Mon => "mon",
            EntityType::Mds => "mds",
            EntityType::Osd => "osd",
            EntityType::Client => "client",
            EntityType::Mgr => "mgr",
            EntityType::Auth => "auth",
            EntityType::Any => "any",
        }
    }
}

impl fmt::Display for EntityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EntityType {
    type Err = ParseEntityError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|t| t.as_str() == s && *t != EntityType::Any)
            .ok_or_else(|| ParseEntityError(s.to_owned()))
    }
}

/// A text that names no entity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not an entity: expected TYPE.ID with TYPE one of mon, mds, osd, client, mgr, auth")]
pub struct ParseEntityError(String);

/// The name that authentication works with: a type and a text id, `client.admin`. `mon.` has no id and
/// is the identity that all monitors share. Ordered by type, then id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityName {
    /// The kind.
    pub kind: EntityType,
    /// The id, without the type.
    pub id: String,
}

impl EntityName {
    /// A name from its parts.
    pub fn new(kind: EntityType, id: impl Into<String>) -> Self {
        EntityName { kind, id: id.into() }
    }
    /// `client.ID`.
    pub fn client(id: impl Into<String>) -> Self {
        Self::new(EntityType::Client, id)
    }
    /// `osd.N`.
    pub fn osd(id: crate::OsdId) -> Self {
        Self::new(EntityType::Osd, id.to_string())
    }
    /// `mon.`, the identity that monitors share.
    pub fn mon() -> Self {
        Self::new(EntityType::Mon, "")
    }
}

impl fmt::Display for EntityName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.kind, self.id)
    }
}

impl FromStr for EntityName {
    type Err = ParseEntityError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let (kind, id) = s.split_once('.').ok_or_else(|| ParseEntityError(s.to_owned()))?;
        let kind = kind.parse().map_err(|_| ParseEntityError(s.to_owned()))?;
        if id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(ParseEntityError(s.to_owned()));
        }
        Ok(EntityName::new(kind, id))
    }
}

impl Encode for EntityName {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u32(self.kind.as_u32());
        out.put_blob(self.id.as_bytes());
    }
}

impl Decode for EntityName {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let kind = EntityType::from_u32(r.u32()?).ok_or(DecodeError::Invalid("unknown entity type"))?;
        Ok(EntityName { kind, id: r.utf8()?.to_owned() })
    }
}

/// The numeric form inside request ids, watches and lockers: `client.4123`. The number is a global_id
/// for clients and the daemon's number for daemons. 9 bytes on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EntityNum {
    /// The type's wire number; 0 in requests that leave the name to the connection.
    pub kind: u8,
    /// The number.
    pub num: i64,
}

impl EntityNum {
    /// `client.GLOBAL_ID`.
    pub fn client(id: crate::GlobalId) -> Self {
        EntityNum { kind: EntityType::Client as u8, num: id.0 as i64 }
    }
}

impl fmt::Display for EntityNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match EntityType::from_u32(self.kind.into()) {
            Some(kind) => write!(f, "{kind}.{}", self.num),
            None => write!(f, "unknown.{}", self.num),
        }
    }
}

impl Encode for EntityNum {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u8(self.kind);
        out.put_i64(self.num);
    }
}

impl Decode for EntityNum {
    const MIN_SIZE: usize = 9;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(EntityNum { kind: r.u8()?, num: r.i64()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        assert_eq!("client.admin".parse(), Ok(EntityName::client("admin")));
        assert_eq!("mon.".parse(), Ok(EntityName::mon()));
        assert_eq!("client.a.b".parse(), Ok(EntityName::client("a.b")));
        for bad in ["admin", "Client.admin", "any.x", "client.a b", ""] {
            assert!(bad.parse::<EntityName>().is_err(), "{bad}");
        }
        assert_eq!(EntityName::osd(crate::OsdId(3)).to_string(), "osd.3");
    }
}
