//! The forms of `mon_host`.

use std::net::{SocketAddr, ToSocketAddrs};

use sepiola_wire::{AddrType, EntityAddr};
use thiserror::Error;

/// The port of messenger v2 monitors.
const MSGR2_PORT: u16 = 3300;
/// The port of messenger v1 monitors.
const LEGACY_PORT: u16 = 6789;

/// One address of a monitor, perhaps still a host name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonEndpoint {
    /// Messenger v2 unless the text says `v1:` or gives the v1 port.
    pub kind: AddrType,
    /// An IP address or a host name.
    pub host: String,
    /// The port.
    pub port: u16,
    /// 0 unless the text gives another.
    pub nonce: u32,
}

/// A `mon_host` text that names no monitors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "mon_host: `{0}` is not an address; expected e.g. [v2:127.0.0.1:3300/0,v1:127.0.0.1:6789/0] or host[:port]"
)]
pub struct ParseMonHostError(String);

impl MonEndpoint {
    /// Looks the host up; every address it has is a candidate.
    ///
    /// # Errors
    /// If the host name is unknown.
    pub fn resolve(&self) -> std::io::Result<Vec<EntityAddr>> {
        let addrs = (self.host.as_str(), self.port).to_socket_addrs()?;
        Ok(addrs
            .map(|socket| EntityAddr { kind: self.kind, nonce: self.nonce, socket: Some(socket) })
            .collect())
    }
}

/// Parses a list of monitors, separated by commas, semicolons or blanks; brackets group the addresses of
/// one monitor and carry no meaning here.
pub fn parse_mon_host(text: &str) -> Result<Vec<MonEndpoint>, ParseMonHostError> {
    let mut endpoints = Vec::new();
    for word in split_outside_ipv6(text) {
        endpoints.push(parse_endpoint(word).ok_or_else(|| ParseMonHostError(word.to_owned()))?);
    }
    if endpoints.is_empty() { Err(ParseMonHostError(text.to_owned())) } else { Ok(endpoints) }
}

/// Words of the list. A bracket that is followed by `v1:`, `v2:` or `any:` groups addresses and is dropped;
/// one that is followed by an IPv6 address belongs to it.
fn split_outside_ipv6(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', ' ', '\t'])
        .map(|word| {
            let word = match word.strip_prefix('[') {
                Some(inner) if ["v1:", "v2:", "any:"].iter().any(|p| inner.starts_with(p)) => inner,
                _ => word,
            };
            // A closing bracket that no opening one precedes ends a group.
            if word.ends_with(']') && word.matches('[').count() < word.matches(']').count() {
                &word[..word.len() - 1]
            } else {
                word
            }
        })
        .filter(|word| !word.is_empty())
}

fn parse_endpoint(word: &str) -> Option<MonEndpoint> {
    let (kind, rest) = match word.split_at_checked(3) {
        Some(("v1:", rest)) => (Some(AddrType::Legacy), rest),
        Some(("v2:", rest)) => (Some(AddrType::Msgr2), rest),
        _ => (None, word.strip_prefix("any:").unwrap_or(word)),
    };
    let (rest, nonce) = match rest.rsplit_once('/') {
        Some((rest, nonce)) => (rest, nonce.parse().ok()?),
        None => (rest, 0),
    };
    let (host, port) = if let Ok(socket) = rest.parse::<SocketAddr>() {
        (socket.ip().to_string(), Some(socket.port()))
    } else if let Some(ip) = rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        (ip.to_owned(), None)
    } else if rest.parse::<std::net::Ipv6Addr>().is_ok() {
        (rest.to_owned(), None)
    } else {
        match rest.split_once(':') {
            Some((host, port)) => (host.to_owned(), Some(port.parse().ok()?)),
            None => (rest.to_owned(), None),
        }
    };
    if host.is_empty() {
        return None;
    }
    let kind = kind.unwrap_or(if port == Some(LEGACY_PORT) { AddrType::Legacy } else { AddrType::Msgr2 });
    let default_port = if kind == AddrType::Legacy { LEGACY_PORT } else { MSGR2_PORT };
    Some(MonEndpoint { kind, host, port: port.filter(|p| *p != 0).unwrap_or(default_port), nonce })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<String> {
        parse_mon_host(text)
            .unwrap()
            .into_iter()
            .map(|e| format!("{}:{}:{}/{}", e.kind as u8, e.host, e.port, e.nonce))
            .collect()
    }

    #[test]
    fn every_form() {
        assert_eq!(parsed("[v2:1.2.3.4:3300/0,v1:1.2.3.4:6789/0]"), ["2:1.2.3.4:3300/0", "1:1.2.3.4:6789/0"]);
        assert_eq!(
            parsed("[v2:1.1.1.1:3301/0],[v2:2.2.2.2:3302/0]"),
            ["2:1.1.1.1:3301/0", "2:2.2.2.2:3302/0"]
        );
        assert_eq!(parsed("v2:[::1]:3300/0"), ["2:::1:3300/0"]);
        assert_eq!(parsed("[v2:[::1]:3300/0,v1:[::1]:6789/0]"), ["2:::1:3300/0", "1:::1:6789/0"]);
        assert_eq!(
            parsed("1.2.3.4, mon.example:3300;other"),
            ["2:1.2.3.4:3300/0", "2:mon.example:3300/0", "2:other:3300/0"]
        );
        assert_eq!(parsed("1.2.3.4:6789"), ["1:1.2.3.4:6789/0"]);
        assert_eq!(parsed("[::1]"), ["2:::1:3300/0"]);
    }

    #[test]
    fn nonsense_is_named() {
        for bad in ["", "v2:", "1.2.3.4:port", "1.2.3.4/x", ":3300"] {
            assert!(parse_mon_host(bad).is_err(), "{bad:?}");
        }
    }
}
