//! Wall-clock stamps of the wire.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Decode, DecodeError, Encode, Features, Put, Reader};

/// Seconds and nanoseconds since the Unix epoch; both unsigned, seconds wrap in 2106.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UTime {
    /// Seconds.
    pub sec: u32,
    /// Nanoseconds below one second; peers may send anything.
    pub nsec: u32,
}

impl UTime {
    /// The epoch, which also means "unset".
    pub const ZERO: UTime = UTime { sec: 0, nsec: 0 };

    /// A stamp of whole seconds.
    pub const fn from_secs(sec: u32) -> Self {
        UTime { sec, nsec: 0 }
    }

    /// The host's clock. Code below the network edge takes a `UTime` argument instead.
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// True for the unset stamp.
    pub const fn is_zero(self) -> bool {
        self.sec == 0 && self.nsec == 0
    }

    /// Time since the epoch.
    pub const fn since_epoch(self) -> Duration {
        Duration::new(self.sec as u64, self.nsec)
    }

    /// A later stamp; saturates at the end of the range.
    pub fn saturating_add(self, d: Duration) -> Self {
        Self::from_since_epoch(self.since_epoch().saturating_add(d))
    }

    /// An earlier stamp; saturates at zero.
    pub fn saturating_sub(self, d: Duration) -> Self {
        Self::from_since_epoch(self.since_epoch().saturating_sub(d))
    }

    /// The time from `earlier` to `self`, zero if it is not earlier.
    pub fn saturating_since(self, earlier: UTime) -> Duration {
        self.since_epoch().saturating_sub(earlier.since_epoch())
    }

    /// A stamp from a duration since the epoch; saturates at the end of the range.
    pub fn from_since_epoch(d: Duration) -> Self {
        UTime { sec: u32::try_from(d.as_secs()).unwrap_or(u32::MAX), nsec: d.subsec_nanos() }
    }
}

impl From<SystemTime> for UTime {
    fn from(t: SystemTime) -> Self {
        Self::from_since_epoch(t.duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

impl Encode for UTime {
    fn encode(&self, out: &mut Vec<u8>, _: Features) {
        out.put_u32(self.sec);
        out.put_u32(self.nsec);
    }
}

impl Decode for UTime {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(UTime { sec: r.u32()?, nsec: r.u32()? })
    }
}
