//! Network addresses of entities.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    str::FromStr,
};

use thiserror::Error;

use crate::{Decode, DecodeError, Encode, Features, Put, Reader};

/// Which protocol an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum AddrType {
    /// No address.
    #[default]
    None = 0,
    /// Messenger version 1.
    Legacy = 1,
    /// Messenger version 2.
    Msgr2 = 2,
    /// Either; what clients give as their own, and what blocklist entries have.
    Any = 3,
    /// A network, in range blocklists.
    Cidr = 4,
}

impl AddrType {
    fn from_u32(v: u32) -> Option<Self> {
        [AddrType::None, AddrType::Legacy, AddrType::Msgr2, AddrType::Any, AddrType::Cidr]
            .get(v as usize)
            .copied()
    }
}

/// An address with the nonce that tells one process instance from the next on the same port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EntityAddr {
    /// The protocol.
    pub kind: AddrType,
    /// The process instance; 0 is normal for a monitor.
    pub nonce: u32,
    /// The socket address; `None` is the blank address.
    pub socket: Option<SocketAddr>,
}

const FAMILY_IPV4: u16 = 2;
const FAMILY_IPV6: u16 = 10;
const SOCKADDR_IN: usize = 16;
const SOCKADDR_IN6: usize = 28;

impl EntityAddr {
    /// The blank address.
    pub const BLANK: EntityAddr = EntityAddr { kind: AddrType::None, nonce: 0, socket: None };

    /// A messenger v2 address.
    pub const fn msgr2(socket: SocketAddr, nonce: u32) -> Self {
        EntityAddr { kind: AddrType::Msgr2, nonce, socket: Some(socket) }
    }

    /// A client's own address: any protocol, no port.
    pub fn client(ip: IpAddr, nonce: u32) -> Self {
        EntityAddr { kind: AddrType::Any, nonce, socket: Some(SocketAddr::new(ip, 0)) }
    }

    /// True when there is no address.
    pub fn is_blank(&self) -> bool {
        self.socket.is_none()
    }

    fn decode_body(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut s = r.versioned("entity_addr", 1)?;
        let r = &mut s.body;
        let kind = AddrType::from_u32(r.u32()?).ok_or(DecodeError::Invalid("unknown address type"))?;
        let nonce = r.u32()?;
        let len = r.u32()? as usize;
        if len == 0 {
            return Ok(EntityAddr { kind, nonce, socket: None });
        }
        let mut sockaddr = r.sub(len)?;
        let family = sockaddr.u16()?;
        let limit = if family == FAMILY_IPV4 { SOCKADDR_IN } else { SOCKADDR_IN6 };
        if len > limit {
            return Err(DecodeError::Invalid("socket address is longer than its family allows"));
        }
        Ok(EntityAddr { kind, nonce, socket: decode_sockaddr(family, &mut sockaddr)? })
    }

    /// The fixed-size form of old peers, whose family is big-endian.
    fn decode_legacy(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.u8()?;
        r.u16()?;
        let nonce = r.u32()?;
        let mut storage = r.sub(128)?;
        let family = u16::from_be_bytes(storage.array()?);
        Ok(EntityAddr { kind: AddrType::Legacy, nonce, socket: decode_sockaddr(family, &mut storage)? })
    }
}

fn decode_sockaddr(family: u16, r: &mut Reader<'_>) -> Result<Option<SocketAddr>, DecodeError> {
    match family {
        0 => Ok(None),
        FAMILY_IPV4 => {
            let port = u16::from_be_bytes(r.array()?);
            let ip = Ipv4Addr::from(r.array::<4>()?);
            Ok(Some(SocketAddrV4::new(ip, port).into()))
        }
        FAMILY_IPV6 => {
            let port = u16::from_be_bytes(r.array()?);
            let flow = r.u32()?;
            let ip = Ipv6Addr::from(r.array::<16>()?);
            let scope = r.u32()?;
            Ok(Some(SocketAddrV6::new(ip, port, flow, scope).into()))
        }
        _ => Err(DecodeError::Invalid("unknown address family")),
    }
}

impl Encode for EntityAddr {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u8(1);
        out.put_versioned(1, 1, |out| {
            out.put_u32(self.kind as u32);
            out.put_u32(self.nonce);
            match self.socket {
                None => {
                    out.put_len(SOCKADDR_IN6);
                    out.put(&[0; SOCKADDR_IN6]);
                }
                Some(SocketAddr::V4(v4)) => {
                    out.put_len(SOCKADDR_IN);
                    out.put_u16(FAMILY_IPV4);
                    out.put(&v4.port().to_be_bytes());
                    out.put(&v4.ip().octets());
                    out.put(&[0; 8]);
                }
                Some(SocketAddr::V6(v6)) => {
                    out.put_len(SOCKADDR_IN6);
                    out.put_u16(FAMILY_IPV6);
                    out.put(&v6.port().to_be_bytes());
                    out.put_u32(v6.flowinfo());
                    out.put(&v6.ip().octets());
                    out.put_u32(v6.scope_id());
                }
            }
        });
    }
}

impl Decode for EntityAddr {
    const MIN_SIZE: usize = 19;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.u8()? {
            0 => Self::decode_legacy(r),
            1 => Self::decode_body(r),
            _ => Err(DecodeError::Invalid("unknown address marker")),
        }
    }
}

/// The addresses of one entity, one a protocol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EntityAddrVec(pub Vec<EntityAddr>);

impl EntityAddrVec {
    /// The first messenger v2 address.
    pub fn msgr2(&self) -> Option<&EntityAddr> {
        self.0.iter().find(|a| a.kind == AddrType::Msgr2)
    }
}

impl From<EntityAddr> for EntityAddrVec {
    fn from(a: EntityAddr) -> Self {
        EntityAddrVec(vec![a])
    }
}

impl Encode for EntityAddrVec {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u8(2);
        self.0.encode(out, features);
    }
}

impl Decode for EntityAddrVec {
    const MIN_SIZE: usize = 5;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match r.u8()? {
            0 => EntityAddr::decode_legacy(r).map(Into::into),
            1 => EntityAddr::decode_body(r).map(Into::into),
            2 => Vec::decode(r).map(EntityAddrVec),
            _ => Err(DecodeError::Invalid("unknown address vector marker")),
        }
    }
}

impl fmt::Display for EntityAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(socket) = self.socket else { return f.write_str("-") };
        match self.kind {
            AddrType::Legacy => f.write_str("v1:")?,
            AddrType::Msgr2 => f.write_str("v2:")?,
            AddrType::Cidr => f.write_str("cidr:")?,
            AddrType::None | AddrType::Any => {}
        }
        write!(f, "{socket}/{}", self.nonce)
    }
}

impl fmt::Display for EntityAddrVec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0.as_slice() {
            return write!(f, "{one}");
        }
        f.write_str("[")?;
        for (i, addr) in self.0.iter().enumerate() {
            write!(f, "{}{addr}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

/// A text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not an address: expected [v1:|v2:]IP[:PORT][/NONCE]")]
pub struct ParseAddrError(String);

impl FromStr for EntityAddr {
    type Err = ParseAddrError;

    /// Reads `v2:1.2.3.4:3300/0`, `1.2.3.4:0/77`, `[::1]:3300`; the port and nonce default to 0.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let bad = || ParseAddrError(s.to_owned());
        let (kind, rest) = match s.split_at_checked(3) {
            Some(("v1:", rest)) => (AddrType::Legacy, rest),
            Some(("v2:", rest)) => (AddrType::Msgr2, rest),
            _ => (AddrType::Any, s.strip_prefix("any:").unwrap_or(s)),
        };
        let (host, nonce) = match rest.rsplit_once('/') {
            Some((host, nonce)) => (host, nonce.parse().map_err(|_| bad())?),
            None => (rest, 0),
        };
        let socket = match host.parse::<SocketAddr>() {
            Ok(socket) => socket,
            Err(_) => {
                let ip = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
                SocketAddr::new(ip.parse().map_err(|_| bad())?, 0)
            }
        };
        Ok(EntityAddr { kind, nonce, socket: Some(socket) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decode_all, encode_to_vec};

    #[test]
    fn text_and_wire_round_trip() {
        for text in ["v2:127.0.0.1:3300/0", "v1:[::1]:6789/9", "10.0.0.1:0/4294967295", "v2:[fe80::1]:1/2"] {
            let addr: EntityAddr = text.parse().unwrap();
            assert_eq!(addr.to_string(), text);
            assert_eq!(decode_all::<EntityAddr>(&encode_to_vec(&addr, Features::SUPPORTED)), Ok(addr));
        }
        assert_eq!(
            decode_all(&encode_to_vec(&EntityAddr::BLANK, Features::SUPPORTED)),
            Ok(EntityAddr::BLANK)
        );
    }

    #[test]
    fn oversized_or_foreign_sockaddrs_are_refused() {
        let mut bytes = encode_to_vec(&"v2:1.2.3.4:5/6".parse::<EntityAddr>().unwrap(), Features::SUPPORTED);
        bytes[19] = 7; // family
        assert!(decode_all::<EntityAddr>(&bytes).is_err());
        bytes[0] = 3; // marker
        assert!(decode_all::<EntityAddr>(&bytes).is_err());
    }

    #[test]
    fn a_vector_may_arrive_as_one_address() {
        let addr: EntityAddr = "v2:1.2.3.4:5/6".parse().unwrap();
        let bytes = encode_to_vec(&addr, Features::SUPPORTED);
        assert_eq!(decode_all::<EntityAddrVec>(&bytes), Ok(addr.into()));
    }
}
