//! Clients that must not be served.

use std::{cmp::Ordering, net::IpAddr, net::SocketAddr};

use sepiola_wire::{AddrType, Decode, DecodeError, Encode, EntityAddr, Features, Reader};

use crate::OsdMap;

/// An address as the key of a blocklist. It orders as the bytes of the address in memory do on the hosts
/// that write maps (little-endian numbers compared byte by byte), because maps are checksummed in this
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlocklistKey(EntityAddr);

impl BlocklistKey {
    /// The address.
    pub fn addr(&self) -> &EntityAddr {
        &self.0
    }

    /// The address as it lies in memory: type, nonce, and a socket address with its port and ip in
    /// network order.
    fn image(&self) -> [u8; 36] {
        let mut image = [0; 36];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            image[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&(self.0.kind as u32).to_le_bytes());
        put(&self.0.nonce.to_le_bytes());
        match self.0.socket {
            None => {}
            Some(SocketAddr::V4(v4)) => {
                put(&[2, 0]);
                put(&v4.port().to_be_bytes());
                put(&v4.ip().octets());
            }
            Some(SocketAddr::V6(v6)) => {
                put(&[10, 0]);
                put(&v6.port().to_be_bytes());
                put(&v6.flowinfo().to_le_bytes());
                put(&v6.ip().octets());
                put(&v6.scope_id().to_le_bytes());
            }
        }
        image
    }
}

impl From<EntityAddr> for BlocklistKey {
    fn from(addr: EntityAddr) -> Self {
        BlocklistKey(addr)
    }
}

impl Ord for BlocklistKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.image().cmp(&other.image())
    }
}

impl PartialOrd for BlocklistKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Encode for BlocklistKey {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        self.0.encode(out, features);
    }
}

impl Decode for BlocklistKey {
    const MIN_SIZE: usize = EntityAddr::MIN_SIZE;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        EntityAddr::decode(r).map(BlocklistKey)
    }
}

impl OsdMap {
    /// True when a client with this address is blocklisted: by itself, by its host, or by its network.
    /// Expiry is the monitor's business: it takes expired entries out of the map.
    pub fn is_blocklisted(&self, addr: &EntityAddr) -> bool {
        if self.blocklist.is_empty() && self.range_blocklist.is_empty() {
            return false;
        }
        let Some(mut socket) = addr.socket else { return false };
        let exact = EntityAddr { kind: AddrType::Any, ..*addr };
        if self.blocklist.contains_key(&exact.into()) {
            return true;
        }
        socket.set_port(0);
        let host = EntityAddr { kind: AddrType::Any, nonce: 0, socket: Some(socket) };
        self.blocklist.contains_key(&host.into())
            || self.range_blocklist.keys().any(|range| in_range(socket.ip(), range.addr()))
    }
}

/// A network's prefix length is in the nonce of its address.
fn in_range(ip: IpAddr, range: &EntityAddr) -> bool {
    let same_prefix = |a: u128, b: u128, width: u32| {
        let host_bits = width.saturating_sub(range.nonce);
        a.checked_shr(host_bits) == b.checked_shr(host_bits)
    };
    match (ip, range.socket.map(|socket| socket.ip())) {
        (IpAddr::V4(a), Some(IpAddr::V4(b))) => same_prefix(a.to_bits().into(), b.to_bits().into(), 32),
        (IpAddr::V6(a), Some(IpAddr::V6(b))) => same_prefix(a.to_bits(), b.to_bits(), 128),
        _ => false,
    }
}
