//! Messages that only Sepiola's own daemons exchange: protobuf bodies in message types from 0xE000 up. A
//! receiver refuses them unless the authenticated peer is a mon or osd with fitting caps.

use prost::Message;
use sepiola_proto::{
    OsdAlive, OsdBeacon, OsdBoot, OsdDown, OsdDownAck, OsdFailureReport, OsdStats, OsdStatsAck,
};
use sepiola_wire::{DecodeError, Features};

use crate::{WireMessage, kind};

/// True for the message types that only Sepiola's daemons may send.
pub const fn is_private(kind: u16) -> bool {
    kind >= 0xE000
}

macro_rules! private {
    ($($message:ident = $kind:ident;)*) => {$(
        impl WireMessage for $message {
            const TYPE: u16 = kind::$kind;
            const VERSION: u16 = 1;
            const COMPAT: u16 = 1;

            fn encode_front(&self, out: &mut Vec<u8>, _: Features) {
                out.reserve(self.encoded_len());
                self.encode_raw(out);
            }

            fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
                Message::decode(front)
                    .map_err(|_| DecodeError::Invalid(concat!("not a protobuf ", stringify!($message))))
            }
        }
    )*};
}

private! {
    OsdBoot = SEPIOLA_OSD_BOOT;
    OsdBeacon = SEPIOLA_OSD_BEACON;
    OsdStats = SEPIOLA_OSD_STATS;
    OsdStatsAck = SEPIOLA_OSD_STATS_ACK;
    OsdFailureReport = SEPIOLA_OSD_FAILURE;
    OsdDown = SEPIOLA_OSD_DOWN;
    OsdDownAck = SEPIOLA_OSD_DOWN_ACK;
    OsdAlive = SEPIOLA_OSD_ALIVE;
}
