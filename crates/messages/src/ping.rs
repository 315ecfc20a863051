//! PING: the answer tells a monitor's health to someone who only has its address.

use sepiola_wire::{Decode, DecodeError, Encode, Features, Reader};

use crate::{WireMessage, kind};

/// Client to monitor without text; monitor to client with a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ping {
    /// `{"health": {..}, "mon_status": {..}}` in replies.
    pub text: Option<String>,
}

impl WireMessage for Ping {
    const TYPE: u16 = kind::PING;
    const VERSION: u16 = 1;
    const COMPAT: u16 = 1;

    fn encode_front(&self, out: &mut Vec<u8>, features: Features) {
        if let Some(text) = &self.text {
            text.encode(out, features);
        }
    }

    fn decode(_: u16, front: &[u8], _: &[u8]) -> Result<Self, DecodeError> {
        let text = if front.is_empty() { None } else { Some(String::decode(&mut Reader::new(front))?) };
        Ok(Ping { text })
    }
}
