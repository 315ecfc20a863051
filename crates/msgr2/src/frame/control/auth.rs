//! The frames of authentication. What their payloads mean is the authenticators' business.

use sepiola_wire::{Decode, DecodeError, Encode, Features, GlobalId, Put, Reader};

use super::{Control, Tag};

/// AUTH_REQUEST. Methods and modes are plain numbers, since a peer may offer ones unknown here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthRequest<'a> {
    /// The authentication method.
    pub method: u32,
    /// The connection modes that the client would take, the preferred one first.
    pub modes: Vec<u32>,
    /// For the method's authenticator.
    pub payload: &'a [u8],
}

impl<'a> Control<'a> for AuthRequest<'a> {
    const TAG: Tag = Tag::AuthRequest;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.method);
        self.modes.encode(out, Features::SUPPORTED);
        out.put_blob(self.payload);
    }

    fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        Ok(AuthRequest { method: r.u32()?, modes: Vec::decode(&mut r)?, payload: r.blob()? })
    }
}

/// AUTH_BAD_METHOD: the request is refused, for its method, its modes or its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthBadMethod {
    /// The method that the client had asked for.
    pub method: u32,
    /// A negative errno.
    pub result: i32,
    /// The methods that the server allows.
    pub methods: Vec<u32>,
    /// The modes that the server allows.
    pub modes: Vec<u32>,
}

impl Control<'_> for AuthBadMethod {
    const TAG: Tag = Tag::AuthBadMethod;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.method);
        out.put_i32(self.result);
        self.methods.encode(out, Features::SUPPORTED);
        self.modes.encode(out, Features::SUPPORTED);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        Ok(AuthBadMethod {
            method: r.u32()?,
            result: r.i32()?,
            methods: Vec::decode(&mut r)?,
            modes: Vec::decode(&mut r)?,
        })
    }
}

macro_rules! payload_frame {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<'a> {
            /// For the method's authenticator.
            pub payload: &'a [u8],
        }

        impl<'a> Control<'a> for $name<'a> {
            const TAG: Tag = Tag::$name;

            fn encode(&self, out: &mut Vec<u8>) {
                out.put_blob(self.payload);
            }

            fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
                Ok($name { payload: Reader::new(payload).blob()? })
            }
        }
    };
}

payload_frame! {
    /// AUTH_REPLY_MORE: the server wants another round.
    AuthReplyMore
}
payload_frame! {
    /// AUTH_REQUEST_MORE: the client's answer.
    AuthRequestMore
}

/// AUTH_DONE: the client is who it says. The last frame in the clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthDone<'a> {
    /// The client's number.
    pub global_id: GlobalId,
    /// The connection mode that the server chose.
    pub mode: u32,
    /// For the method's authenticator.
    pub payload: &'a [u8],
}

impl<'a> Control<'a> for AuthDone<'a> {
    const TAG: Tag = Tag::AuthDone;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.global_id.0);
        out.put_u32(self.mode);
        out.put_blob(self.payload);
    }

    fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        Ok(AuthDone { global_id: GlobalId(r.u64()?), mode: r.u32()?, payload: r.blob()? })
    }
}

/// AUTH_SIGNATURE: what the sender received up to AUTH_DONE, signed with the session key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthSignature(pub [u8; 32]);

impl Control<'_> for AuthSignature {
    const TAG: Tag = Tag::AuthSignature;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put(&self.0);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        Reader::new(payload).array().map(AuthSignature)
    }
}
