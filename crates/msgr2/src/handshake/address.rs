//! The addresses that peers give each other.

use std::net::SocketAddr;

use sepiola_wire::{EntityAddr, EntityAddrVec, Features, encode_to_vec};

use crate::LocalFault;

/// True if one of `addrs` is `addr` byte for byte: type, nonce, IP and port.
pub(super) fn has_exactly(addrs: &EntityAddrVec, addr: &EntityAddr) -> bool {
    let wanted = encode_to_vec(addr, Features::SUPPORTED);
    addrs.0.iter().any(|addr| encode_to_vec(addr, Features::SUPPORTED) == wanted)
}

/// What this side gives as its addresses: those configured, with the IP that the peer sees wherever it does
/// not know its own.
pub(super) fn own_addrs(configured: &EntityAddrVec, seen: &EntityAddr) -> Result<EntityAddrVec, LocalFault> {
    if configured.0.is_empty() {
        return Err(LocalFault::NoAddress);
    }
    let complete = |addr: &EntityAddr| {
        let port = match addr.socket {
            Some(socket) if !socket.ip().is_unspecified() => return Ok(*addr),
            Some(socket) => socket.port(),
            None => 0,
        };
        let seen = seen.socket.ok_or(LocalFault::NoAddress)?;
        Ok(EntityAddr { socket: Some(SocketAddr::new(seen.ip(), port)), ..*addr })
    };
    configured.0.iter().map(complete).collect::<Result<_, _>>().map(EntityAddrVec)
}

#[cfg(test)]
mod tests {
    use sepiola_wire::AddrType;

    use super::*;

    fn addr(text: &str) -> EntityAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_must_match_in_every_part() {
        let ours = EntityAddrVec(vec![addr("v2:127.0.0.1:6800/7"), addr("v1:127.0.0.1:6801/7")]);
        assert!(has_exactly(&ours, &addr("v2:127.0.0.1:6800/7")));
        for other in ["v2:127.0.0.1:6800/8", "v2:127.0.0.1:6801/7", "v2:127.0.0.2:6800/7", "127.0.0.1:6800/7"]
        {
            assert!(!has_exactly(&ours, &addr(other)), "{other}");
        }
    }

    #[test]
    fn an_unknown_own_ip_is_learned_from_the_peer() {
        let seen = addr("v2:10.0.0.9:40000/0");
        let blank = EntityAddr { kind: AddrType::Any, nonce: 5, socket: None };
        let configured = EntityAddrVec(vec![blank, addr("v2:0.0.0.0:6800/5"), addr("v2:10.0.0.1:6800/5")]);
        let expected = [addr("10.0.0.9:0/5"), addr("v2:10.0.0.9:6800/5"), addr("v2:10.0.0.1:6800/5")];
        assert_eq!(own_addrs(&configured, &seen).unwrap().0, expected);
        assert_eq!(own_addrs(&configured, &EntityAddr::BLANK), Err(LocalFault::NoAddress));
        assert_eq!(own_addrs(&EntityAddrVec(vec![]), &seen), Err(LocalFault::NoAddress));
    }
}
