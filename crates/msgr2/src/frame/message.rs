//! The header segment of MESSAGE frames.

use sepiola_wire::{DecodeError, Reader, Tid};

/// Bytes of the header segment.
pub const MESSAGE_HEADER_LEN: usize = 41;

/// The header of a message. 41 packed bytes on the wire.
///
/// It does not name the sender: that is the peer's type and number, see [`crate::PeerInfo::source`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader {
    /// Position in this direction of the session, from 1. [`crate::FrameWriter`] fills it in.
    pub seq: u64,
    /// The transaction, which a reply repeats.
    pub tid: Tid,
    /// The message type.
    pub kind: u16,
    /// 127 is ordinary, 196 high, 255 highest.
    pub priority: u16,
    /// The version of the front's layout.
    pub version: u16,
    /// The oldest version whose decoders can read the front.
    pub compat_version: u16,
    /// Where the data lies within its page or object; a hint for the receiver's buffers.
    pub data_off: u16,
    /// The highest sequence number received from the peer. [`crate::FrameWriter`] fills it in.
    pub ack_seq: u64,
    /// Bit 0 complete, bit 1 no message crc. Receivers accept anything.
    pub flags: u8,
}

impl MessageHeader {
    const PRIORITY_DEFAULT: u16 = 127;
    const FLAGS_DEFAULT: u8 = 3;

    /// A header of default priority for a message of this type and layout.
    pub const fn new(kind: u16, version: u16, compat_version: u16) -> Self {
        MessageHeader {
            seq: 0,
            tid: Tid(0),
            kind,
            priority: Self::PRIORITY_DEFAULT,
            version,
            compat_version,
            data_off: 0,
            ack_seq: 0,
            flags: Self::FLAGS_DEFAULT,
        }
    }

    /// The same header with a transaction number.
    #[must_use]
    pub const fn with_tid(mut self, tid: Tid) -> Self {
        self.tid = tid;
        self
    }

    /// The same header with a priority.
    #[must_use]
    pub const fn with_priority(mut self, priority: u16) -> Self {
        self.priority = priority;
        self
    }

    /// The wire form.
    pub fn encode(&self) -> [u8; MESSAGE_HEADER_LEN] {
        let mut out = [0; MESSAGE_HEADER_LEN];
        out[..8].copy_from_slice(&self.seq.to_le_bytes());
        out[8..16].copy_from_slice(&self.tid.0.to_le_bytes());
        out[16..18].copy_from_slice(&self.kind.to_le_bytes());
        out[18..20].copy_from_slice(&self.priority.to_le_bytes());
        out[20..22].copy_from_slice(&self.version.to_le_bytes());
        // 22..26 is data_pre_padding_len, which nobody uses.
        out[26..28].copy_from_slice(&self.data_off.to_le_bytes());
        out[28..36].copy_from_slice(&self.ack_seq.to_le_bytes());
        out[36] = self.flags;
        out[37..39].copy_from_slice(&self.compat_version.to_le_bytes());
        out
    }

    /// Reads the wire form, which must be exactly 41 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let seq = r.u64()?;
        let tid = Tid(r.u64()?);
        let kind = r.u16()?;
        let priority = r.u16()?;
        let version = r.u16()?;
        r.u32()?;
        let data_off = r.u16()?;
        let ack_seq = r.u64()?;
        let flags = r.u8()?;
        let compat_version = r.u16()?;
        r.u16()?;
        r.finish()?;
        Ok(MessageHeader { seq, tid, kind, priority, version, compat_version, data_off, ack_seq, flags })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_survives() {
        let header = MessageHeader {
            seq: 1,
            tid: Tid(u64::MAX - 2),
            kind: 42,
            priority: 196,
            version: 9,
            compat_version: 3,
            data_off: 4095,
            ack_seq: 77,
            flags: 3,
        };
        assert_eq!(MessageHeader::decode(&header.encode()), Ok(header));
        assert!(MessageHeader::decode(&header.encode()[..40]).is_err());
        assert!(MessageHeader::decode(&[&header.encode()[..], &[0]].concat()).is_err());
    }
}
