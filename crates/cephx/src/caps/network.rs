//! `network` restrictions of grants.

use std::net::IpAddr;

/// An address prefix. One that does not parse matches nobody, so that a typing mistake never opens a door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Network(Option<(IpAddr, u8)>);

impl Network {
    pub(super) fn parse(text: &str) -> Self {
        Network(Self::prefix(text))
    }

    fn prefix(text: &str) -> Option<(IpAddr, u8)> {
        let (addr, len) = text.split_once('/')?;
        let addr: IpAddr = addr.trim_matches(['[', ']']).parse().ok()?;
        let len: u8 = len.parse().ok()?;
        (u32::from(len) <= bits(addr).1).then_some((addr, len))
    }

    /// Whether `addr` is in the network; an unknown address is in none.
    pub(super) fn contains(&self, addr: Option<IpAddr>) -> bool {
        let (Some((network, len)), Some(addr)) = (self.0, addr) else { return false };
        let ((network, width), (addr, addr_width)) = (bits(network), bits(addr.to_canonical()));
        let shift = width - u32::from(len);
        width == addr_width && network.checked_shr(shift) == addr.checked_shr(shift)
    }
}

/// The address as a number, and how many bits it has.
fn bits(addr: IpAddr) -> (u128, u32) {
    match addr {
        IpAddr::V4(v4) => (u32::from(v4).into(), 32),
        IpAddr::V6(v6) => (v6.into(), 128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        let holds = |network: &str, addr: &str| Network::parse(network).contains(addr.parse().ok());
        assert!(holds("10.0.0.0/8", "10.255.1.2"));
        assert!(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(!holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("0.0.0.0/0", "11.0.0.1"));
        assert!(!holds("0.0.0.0/0", "::1"));
        assert!(holds("10.1.2.3/32", "10.1.2.3"));
        assert!(!holds("10.1.2.3/32", "10.1.2.2"));
        assert!(holds("fd00::/8", "fd12::1"));
        assert!(holds("::/0", "fd12::1"));
        for bad in ["bad", "10.0.0.0", "10.0.0.0/33", "fd00::/129", "/8", ""] {
            assert!(!holds(bad, "10.0.0.1"), "{bad}");
        }
    }

    #[test]
    fn an_unknown_address_is_nowhere() {
        assert!(!Network::parse("0.0.0.0/0").contains(None));
    }
}
