//! The frames that open a new session.

use sepiola_wire::{Cookie, Decode, DecodeError, Encode, EntityAddr, EntityAddrVec, Features, Put, Reader};

use super::{Control, Tag};

/// The flag of a session that does not survive its connection.
pub const IDENT_LOSSY: u64 = 1;

/// CLIENT_IDENT: the client asks for a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdent {
    /// The client's addresses.
    pub addrs: EntityAddrVec,
    /// The address that it dialled.
    pub target: EntityAddr,
    /// Its number: a daemon's rank or id, a client's global_id, -1 if it has none yet.
    pub gid: i64,
    /// Its process-wide count of connection attempts.
    pub global_seq: u64,
    /// What it understands.
    pub supported: Features,
    /// What it needs the server to understand.
    pub required: Features,
    /// Bit 0: [`IDENT_LOSSY`].
    pub flags: u64,
    /// Random for a lossless session, 0 for a lossy one.
    pub cookie: Cookie,
}

impl Control<'_> for ClientIdent {
    const TAG: Tag = Tag::ClientIdent;

    fn encode(&self, out: &mut Vec<u8>) {
        self.addrs.encode(out, Features::SUPPORTED);
        self.target.encode(out, Features::SUPPORTED);
        out.put_i64(self.gid);
        out.put_u64(self.global_seq);
        out.put_u64(self.supported.bits());
        out.put_u64(self.required.bits());
        out.put_u64(self.flags);
        out.put_u64(self.cookie.0);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        Ok(ClientIdent {
            addrs: EntityAddrVec::decode(&mut r)?,
            target: EntityAddr::decode(&mut r)?,
            gid: r.i64()?,
            global_seq: r.u64()?,
            supported: Features::from_bits(r.u64()?),
            required: Features::from_bits(r.u64()?),
            flags: r.u64()?,
            cookie: Cookie(r.u64()?),
        })
    }
}

/// SERVER_IDENT: the server grants a new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerIdent {
    /// The server's addresses.
    pub addrs: EntityAddrVec,
    /// Its rank or id.
    pub gid: i64,
    /// Its process-wide count of connection attempts.
    pub global_seq: u64,
    /// What it understands.
    pub supported: Features,
    /// What it needs the client to understand.
    pub required: Features,
    /// Bit 0: [`IDENT_LOSSY`]. The server's word counts.
    pub flags: u64,
    /// Random for a lossless session, 0 for a lossy one.
    pub cookie: Cookie,
}

impl Control<'_> for ServerIdent {
    const TAG: Tag = Tag::ServerIdent;

    fn encode(&self, out: &mut Vec<u8>) {
        self.addrs.encode(out, Features::SUPPORTED);
        out.put_i64(self.gid);
        out.put_u64(self.global_seq);
        out.put_u64(self.supported.bits());
        out.put_u64(self.required.bits());
        out.put_u64(self.flags);
        out.put_u64(self.cookie.0);
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        Ok(ServerIdent {
            addrs: EntityAddrVec::decode(&mut r)?,
            gid: r.i64()?,
            global_seq: r.u64()?,
            supported: Features::from_bits(r.u64()?),
            required: Features::from_bits(r.u64()?),
            flags: r.u64()?,
            cookie: Cookie(r.u64()?),
        })
    }
}

/// IDENT_MISSING_FEATURES: the server needs features that the client lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentMissingFeatures(pub Features);

impl Control<'_> for IdentMissingFeatures {
    const TAG: Tag = Tag::IdentMissingFeatures;

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.0.bits());
    }

    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        Reader::new(payload).u64().map(Features::from_bits).map(IdentMissingFeatures)
    }
}
