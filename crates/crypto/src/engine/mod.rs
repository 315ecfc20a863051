//! Whose implementation of an algorithm is used.
//!
//! An engine is a cargo feature and a name. AES-CBC and RFC 8009 with cached raw schedules exist in the
//! RustCrypto crates alone and are always theirs; the frames' AES-GCM, which is what costs at message rate,
//! is any engine's.

#[cfg(feature = "engine-aws-lc")]
mod aws_lc;
#[cfg(feature = "engine-ring")]
mod ring;
#[cfg(feature = "engine-rustcrypto")]
mod rustcrypto;

use std::fmt;
use std::str::FromStr;

use zeroize::Zeroizing;

use crate::{ContextPolicy, CryptoOptions, KeyError, OpenError, SealError};

/// What an engine may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Key type 1.
    AesCbc,
    /// Key type 2.
    Aes256k,
    /// Signatures and the challenge of key type 2.
    HmacSha256,
    /// The frames of secure connections.
    Aes128Gcm,
}

/// Whose implementation is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The RustCrypto crates: pure Rust, no C compiler needed.
    RustCrypto,
    /// ring.
    Ring,
    /// AWS-LC.
    AwsLc,
}

impl Engine {
    /// The engines of this build, the fastest at sealing 4 KiB frames first. The order was measured (see
    /// `benches/contexts.rs`), it is not probed at run time.
    pub const fn available() -> &'static [Engine] {
        &[
            #[cfg(feature = "engine-aws-lc")]
            Engine::AwsLc,
            #[cfg(feature = "engine-ring")]
            Engine::Ring,
            #[cfg(feature = "engine-rustcrypto")]
            Engine::RustCrypto,
        ]
    }

    /// The fastest engine of this build.
    pub const fn auto() -> Engine {
        Self::available()[0]
    }

    /// True when the engine is part of this build.
    pub fn is_available(self) -> bool {
        Self::available().contains(&self)
    }

    /// True when this build can use the engine for `algorithm`.
    pub fn supports(self, algorithm: Algorithm) -> bool {
        match (self, algorithm) {
            (Engine::RustCrypto, Algorithm::AesCbc | Algorithm::Aes256k | Algorithm::HmacSha256) => true,
            (
                Engine::Ring | Engine::AwsLc,
                Algorithm::AesCbc | Algorithm::Aes256k | Algorithm::HmacSha256,
            ) => false,
            (engine, Algorithm::Aes128Gcm) => engine.is_available(),
        }
    }

    /// The name in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Engine::RustCrypto => "rustcrypto",
            Engine::Ring => "ring",
            Engine::AwsLc => "aws-lc",
        }
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::auto()
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Engine {
    type Err = KeyError;

    /// Reads a name or "auto"; refuses an engine that is not part of this build.
    fn from_str(name: &str) -> Result<Self, KeyError> {
        let engine = match name {
            "auto" => Engine::auto(),
            "rustcrypto" => Engine::RustCrypto,
            "ring" => Engine::Ring,
            "aws-lc" => Engine::AwsLc,
            _ => return Err(KeyError::UnknownEngine),
        };
        if engine.is_available() { Ok(engine) } else { Err(KeyError::EngineUnavailable(engine)) }
    }
}

/// An engine's AES-128-GCM context: the expanded key and whatever the engine precomputes for GHASH. No
/// additional data; the tag is separate; everything happens where the bytes lie.
trait Aes128Gcm: Sized + Send + Sync + 'static {
    fn new(key: &[u8; 16]) -> Option<Self>;
    fn seal(&self, nonce: [u8; 12], buf: &mut [u8]) -> Option<[u8; 16]>;
    fn open(&self, nonce: [u8; 12], buf: &mut [u8], tag: &[u8; 16]) -> Option<()>;
}

/// One direction of a connection, whatever the engine and the context policy.
pub(crate) trait Aes128GcmDirection: Send + Sync {
    fn seal(&mut self, nonce: [u8; 12], buf: &mut [u8]) -> Result<[u8; 16], SealError>;
    fn open(&mut self, nonce: [u8; 12], buf: &mut [u8], tag: &[u8; 16]) -> Result<(), OpenError>;
    fn contexts_built(&self) -> u64;
}

struct Cached<C>(C);

impl<C: Aes128Gcm> Aes128GcmDirection for Cached<C> {
    #[inline]
    fn seal(&mut self, nonce: [u8; 12], buf: &mut [u8]) -> Result<[u8; 16], SealError> {
        self.0.seal(nonce, buf).ok_or(SealError::TooLong)
    }

    #[inline]
    fn open(&mut self, nonce: [u8; 12], buf: &mut [u8], tag: &[u8; 16]) -> Result<(), OpenError> {
        self.0.open(nonce, buf, tag).ok_or(OpenError)
    }

    fn contexts_built(&self) -> u64 {
        1
    }
}

struct PerMessage<C> {
    key: Zeroizing<[u8; 16]>,
    built: u64,
    context: std::marker::PhantomData<fn() -> C>,
}

impl<C: Aes128Gcm> PerMessage<C> {
    fn build(&mut self) -> C {
        self.built += 1;
        C::new(&self.key).expect("the engine took this key when the connection was keyed")
    }
}

impl<C: Aes128Gcm> Aes128GcmDirection for PerMessage<C> {
    fn seal(&mut self, nonce: [u8; 12], buf: &mut [u8]) -> Result<[u8; 16], SealError> {
        self.build().seal(nonce, buf).ok_or(SealError::TooLong)
    }

    fn open(&mut self, nonce: [u8; 12], buf: &mut [u8], tag: &[u8; 16]) -> Result<(), OpenError> {
        self.build().open(nonce, buf, tag).ok_or(OpenError)
    }

    fn contexts_built(&self) -> u64 {
        self.built
    }
}

fn direction<C: Aes128Gcm>(
    options: CryptoOptions,
    key: &[u8; 16],
) -> Result<Box<dyn Aes128GcmDirection>, KeyError> {
    let context = C::new(key).ok_or(KeyError::EngineRefused(options.engine))?;
    Ok(match options.context {
        ContextPolicy::Cached => Box::new(Cached(context)),
        ContextPolicy::PerMessage => Box::new(PerMessage::<C> {
            key: Zeroizing::new(*key),
            built: 0,
            context: std::marker::PhantomData,
        }),
    })
}

/// Keys one direction of a connection.
pub(crate) fn aes128_gcm(
    options: CryptoOptions,
    key: &[u8; 16],
) -> Result<Box<dyn Aes128GcmDirection>, KeyError> {
    match options.engine {
        #[cfg(feature = "engine-rustcrypto")]
        Engine::RustCrypto => direction::<rustcrypto::Gcm>(options, key),
        #[cfg(feature = "engine-ring")]
        Engine::Ring => direction::<ring::Gcm>(options, key),
        #[cfg(feature = "engine-aws-lc")]
        Engine::AwsLc => direction::<aws_lc::Gcm>(options, key),
        #[allow(unreachable_patterns)] // reached when a feature is off
        engine => Err(KeyError::EngineUnavailable(engine)),
    }
}
