//! MON_GET_VERSION: the newest version of a map, without the map.

use sepiola_wire::{Decode, DecodeError, Encode, Features, Put, Reader};

use crate::{PRIORITY_HIGH, WireMessage, kind};

/// Client to monitor. The header's tid is 0; the handle identifies the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonGetVersion {
    /// Echoed by the reply.
    pub handle: u64,
    /// `osdmap`, `monmap`, ...; unknown ones are not answered.
    pub what: String,
}

impl WireMessage for MonGetVersion {
    const TYPE: u16 = kind::MON_GET_VERSION;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u64(self.handle);
        self.what.encode(out, features);
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        Ok(MonGetVersion { handle: r.u64()?, what: String::decode(r)? })
    }
}

/// Monitor to client. Version and oldest are both 0 if the map does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonGetVersionReply {
    /// The request's.
    pub handle: u64,
    /// Newest version.
    pub version: u64,
    /// Oldest version still kept.
    pub oldest: u64,
}

impl WireMessage for MonGetVersionReply {
    const TYPE: u16 = kind::MON_GET_VERSION_REPLY;
    const VERSION: u16 = 2;
    const COMPAT: u16 = 2;
    const PRIORITY: u16 = PRIORITY_HIGH;

    fn encode_front(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u64(self.handle);
        out.put_u64(self.version);
        out.put_u64(self.oldest);
    }

    fn decode(version: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let r = &mut Reader::new(front);
        let (handle, newest) = (r.u64()?, r.u64()?);
        let oldest = if version >= 2 { r.u64()? } else { 0 };
        Ok(MonGetVersionReply { handle, version: newest, oldest })
    }
}
