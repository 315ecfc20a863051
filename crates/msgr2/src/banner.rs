//! What both sides send before any frame.

use sepiola_wire::{Put, Reader};

use crate::{Error, Incompatibility, Misbehaviour};

const PREFIX: &[u8; 8] = b"ceph v2\n";
/// How messenger v1 begins; its banner goes on with three digits.
const LEGACY_PREFIX: &[u8; 8] = b"ceph v02";
const HEADER_LEN: usize = PREFIX.len() + 2;
const PAYLOAD_MIN: usize = 16;
/// Newer peers may append fields, but not kilobytes of them.
const PAYLOAD_MAX: usize = 1024;

/// Frame revision 1. Compression (bit 1) is left out, which keeps peers from starting to negotiate it.
const REVISION_1: u64 = 1;
pub(crate) const SUPPORTED: u64 = REVISION_1;
/// Real peers require nothing either; a missing [`REVISION_1`] is refused when the banner was read.
const REQUIRED: u64 = 0;

/// Appends this side's banner, which announces [`SUPPORTED`].
pub(crate) fn encode(out: &mut Vec<u8>, supported: u64) {
    out.put(PREFIX);
    out.put_u16(PAYLOAD_MIN as u16);
    out.put_u64(supported);
    out.put_u64(REQUIRED);
}

/// Reads the peer's banner from the front of `bytes` and returns its length, `None` if it has not arrived
/// completely. A wrong byte is refused as soon as it is there.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<usize>, Error> {
    let prefix = &bytes[..bytes.len().min(PREFIX.len())];
    if prefix != &PREFIX[..prefix.len()] {
        if prefix == LEGACY_PREFIX {
            return Err(Incompatibility::LegacyMessenger.into());
        }
        // "ceph v" alone could still become either.
        return if LEGACY_PREFIX.starts_with(prefix) { Ok(None) } else { Err(Misbehaviour::NotCeph.into()) };
    }
    let Some(header) = bytes.first_chunk::<HEADER_LEN>() else { return Ok(None) };
    let len = usize::from(u16::from_le_bytes([header[8], header[9]]));
    if !(PAYLOAD_MIN..=PAYLOAD_MAX).contains(&len) {
        return Err(Misbehaviour::BannerLength(len).into());
    }
    let Some(payload) = bytes.get(HEADER_LEN..HEADER_LEN + len) else { return Ok(None) };
    let mut payload = Reader::new(payload);
    let (Ok(supported), Ok(required)) = (payload.u64(), payload.u64()) else {
        return Err(Misbehaviour::BannerLength(len).into());
    };
    let unknown = required & !SUPPORTED;
    if unknown != 0 {
        return Err(Incompatibility::MessengerFeatures(unknown).into());
    }
    if supported & REVISION_1 == 0 {
        return Err(Incompatibility::Revision0.into());
    }
    Ok(Some(HEADER_LEN + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banner(supported: u64, required: u64, tail: &[u8]) -> Vec<u8> {
        let mut out = PREFIX.to_vec();
        out.put_u16((PAYLOAD_MIN + tail.len()) as u16);
        out.put_u64(supported);
        out.put_u64(required);
        out.put(tail);
        out
    }

    #[test]
    fn a_banner_is_taken_when_it_is_whole_and_its_tail_is_skipped() {
        let bytes = banner(3, 1, b"more");
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]).unwrap(), None, "{cut}");
        }
        assert_eq!(parse(&[&bytes[..], b"\x01\x01"].concat()).unwrap(), Some(30));
        let mut ours = Vec::new();
        encode(&mut ours, SUPPORTED);
        assert_eq!(parse(&ours).unwrap(), Some(26));
    }

    #[test]
    fn foreign_and_incompatible_banners_say_what_they_are() {
        assert!(matches!(parse(b"SSH-2.0"), Err(Error::PeerMisbehaved(Misbehaviour::NotCeph))));
        assert!(matches!(parse(b"ceph v3\n"), Err(Error::PeerMisbehaved(Misbehaviour::NotCeph))));
        assert!(matches!(
            parse(b"ceph v027"),
            Err(Error::PeerIncompatible(Incompatibility::LegacyMessenger))
        ));
        assert!(matches!(
            parse(&banner(0, 0, b"")),
            Err(Error::PeerIncompatible(Incompatibility::Revision0))
        ));
        assert!(matches!(
            parse(&banner(3, 2, b"")),
            Err(Error::PeerIncompatible(Incompatibility::MessengerFeatures(2)))
        ));
        let huge = [&PREFIX[..], &[0xff, 0xff]].concat();
        assert!(matches!(parse(&huge), Err(Error::PeerMisbehaved(Misbehaviour::BannerLength(65535)))));
        let short = [&PREFIX[..], &[15, 0]].concat();
        assert!(matches!(parse(&short), Err(Error::PeerMisbehaved(Misbehaviour::BannerLength(15)))));
    }
}
