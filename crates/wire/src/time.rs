//! Wall-clock stamps of the wire.

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

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

    /// Date and time of day in UTC without the fraction, `2026-11-30T16:53:55`.
    pub fn date_time(self) -> String {
        let (days, rest) = (self.sec / SECONDS_PER_DAY, self.sec % SECONDS_PER_DAY);
        let (year, month, day) = date(days);
        format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
    }
}

const SECONDS_PER_DAY: u32 = 86_400;

/// The Gregorian date of a day counted from 1970-01-01, by eras of 400 years that start in March, so that
/// the leap day is a year's last.
fn date(days: u32) -> (u32, u32, u32) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u32::from(month <= 2), month, day)
}

impl fmt::Display for UTime {
    /// As Ceph prints stamps: in UTC, `2026-11-30T16:53:55.065554+0000`. Those of the first ten years are
    /// durations or unset, and shown as seconds: `0.000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const TEN_YEARS: u32 = 10 * 365 * SECONDS_PER_DAY;
        let micros = self.nsec / 1000;
        if self.sec < TEN_YEARS {
            write!(f, "{}.{micros:06}", self.sec)
        } else {
            write!(f, "{}.{micros:06}+0000", self.date_time())
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_dates_in_utc_and_small_ones_seconds() {
        let stamp = UTime { sec: 1_796_057_635, nsec: 65_554_999 };
        assert_eq!(stamp.to_string(), "2026-11-30T16:53:55.065554+0000");
        assert_eq!(UTime::ZERO.to_string(), "0.000000");
        for (sec, text) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (u32::MAX, "2106-02-07T06:28:15"),
        ] {
            assert_eq!(UTime::from_secs(sec).date_time(), text);
        }
    }
}
