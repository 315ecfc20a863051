//! Whether a value fits an option, and the spelling that it is stored in.

use sepiola_wire::{AddrType, EntityAddr, Uuid};
use thiserror::Error;

use crate::{
    known::{Form, KnownOption},
    units,
};

/// A value that an option does not take. The text is for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct WrongValue {
    reason: String,
    /// True for a number that is too small or too large for its form.
    pub out_of_range: bool,
}

fn wrong(reason: impl Into<String>) -> WrongValue {
    WrongValue { reason: reason.into(), out_of_range: false }
}

impl KnownOption {
    /// The value as monitors store and print it: `1G` becomes `1073741824`, `yes` is refused, `5` becomes
    /// `5/5` for a log level.
    ///
    /// # Errors
    /// [`WrongValue`].
    pub fn normalise(&self, text: &str) -> Result<String, WrongValue> {
        let value = match self.form {
            Form::Text => text.to_owned(),
            Form::DebugLevel => debug_level(text)?,
            Form::Bool => bool_value(text)?.to_string(),
            Form::Int | Form::UInt => self.whole(text, 1000, self.form == Form::UInt)?.to_string(),
            Form::Size => self.whole(text, 1024, true)?.to_string(),
            Form::Float => self.float(text)?,
            Form::Secs => self.within(seconds(text)?.into())?.to_string(),
            Form::Millisecs => {
                let number = text.trim().parse::<u64>().map_err(|_| wrong("expected digit"))?;
                self.within(number.into())?.to_string()
            }
            Form::Addr | Form::AddrVec => {
                let mut addr: EntityAddr =
                    text.parse().map_err(|_| wrong("expected an address, IP[:PORT][/NONCE]"))?;
                if addr.kind == AddrType::Any {
                    addr.kind = AddrType::Msgr2;
                }
                addr.to_string()
            }
            Form::Uuid => text.parse::<Uuid>().map_err(|_| wrong("expected a UUID"))?.to_string(),
        };
        let mut choices = self.choices.split('|').filter(|c| !c.is_empty()).peekable();
        if choices.peek().is_some() && !choices.any(|c| c == value) {
            let permitted = self.choices.replace('|', ", ");
            return Err(wrong(format!("'{text}' is not one of the permitted values: {permitted}")));
        }
        Ok(value)
    }

    fn whole(&self, text: &str, base: u64, positive: bool) -> Result<i128, WrongValue> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let parsed = if base == 1024 { units::parse_size(digits) } else { units::parse_count(digits) };
        // Blanks between number and unit, which ceph.conf may have, are none here.
        let number = parsed.filter(|_| !text.contains(char::is_whitespace));
        let number = i128::from(number.ok_or_else(|| wrong(format!("expected a number, got '{text}'")))?);
        let number = if digits.len() < text.len() { -number } else { number };
        if positive && number < 0 {
            return Err(wrong("value should not be negative"));
        }
        self.within(number)
    }

    fn within(&self, number: i128) -> Result<i128, WrongValue> {
        let bound = |text: &str| text.parse::<f64>().ok();
        self.check_bounds(number as f64, bound(self.min), bound(self.max), &number.to_string())?;
        Ok(number)
    }

    fn float(&self, text: &str) -> Result<String, WrongValue> {
        let number: f64 = text
            .parse()
            .ok()
            .filter(|n: &f64| n.is_finite())
            .ok_or_else(|| wrong(format!("expected a number, got '{text}'")))?;
        self.check_bounds(number, self.min.parse().ok(), self.max.parse().ok(), text)?;
        Ok(format!("{number:.6}"))
    }

    fn check_bounds(
        &self,
        number: f64,
        min: Option<f64>,
        max: Option<f64>,
        shown: &str,
    ) -> Result<(), WrongValue> {
        if min.is_some_and(|min| number < min) {
            return Err(wrong(format!("Value '{shown}' is below minimum {}", self.min)));
        }
        if max.is_some_and(|max| number > max) {
            return Err(wrong(format!("Value '{shown}' exceeds maximum {}", self.max)));
        }
        Ok(())
    }
}

fn debug_level(text: &str) -> Result<String, WrongValue> {
    let form = || wrong("value must take the form N or N/M, where N and M are integers");
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| form());
    let (logged, kept) = match text.split_once('/') {
        Some((logged, "")) => (number(logged)?, number(logged)?),
        Some((logged, kept)) => (number(logged)?, number(kept)?),
        None => (number(text)?, number(text)?),
    };
    if !(0..=99).contains(&logged) || !(0..=99).contains(&kept) {
        return Err(WrongValue { out_of_range: true, ..wrong("value must be in range [0, 99]") });
    }
    Ok(format!("{logged}/{kept}"))
}

/// Stricter than ceph.conf, where yes and on are true as well.
fn bool_value(text: &str) -> Result<bool, WrongValue> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => match other.parse::<i64>() {
            Ok(number) => Ok(number != 0),
            Err(_) => Err(wrong(format!("Expected option value to be integer, got '{text}'"))),
        },
    }
}

/// Whole seconds, with an optional unit.
fn seconds(text: &str) -> Result<u64, WrongValue> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong("expected digit"))?;
    let unit = text[digits..].trim();
    let factor = match unit {
        "" | "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hr" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "wk" | "week" | "weeks" => 604_800,
        _ => return Err(wrong(format!("unexpected trailing '{unit}'"))),
    };
    number.checked_mul(factor).ok_or_else(|| wrong("value is too large"))
}

#[cfg(test)]
mod tests {
    use crate::known_option;

    /// Measured on monitors of 16.2.15.
    #[test]
    fn values_are_stored_and_refused_as_by_ceph() {
        for (option, given, stored) in [
            ("osd_max_backfills", "1K", "1000"),
            ("osd_recovery_sleep", "0.5", "0.500000"),
            ("osd_recovery_sleep", "1e3", "1000.000000"),
            ("rados_osd_op_timeout", "1m", "60"),
            ("rados_osd_op_timeout", "1 h", "3600"),
            ("osd_memory_target", "4Gi", "4294967296"),
            ("osd_memory_target", "4GB", "4294967296"),
            ("debug_ms", "5/1", "5/1"),
            ("debug_ms", "5/", "5/5"),
            ("debug_ms", "7", "7/7"),
            ("mon_allow_pool_delete", "1", "true"),
            ("mon_allow_pool_delete", "True", "true"),
            ("ms_tcp_nodelay", "2", "true"),
            ("public_addr", "1.2.3.4", "v2:1.2.3.4:0/0"),
            ("osd_op_queue", "wpq", "wpq"),
            ("osd_pool_default_size", "0", "0"),
        ] {
            assert_eq!(
                known_option(option).unwrap().normalise(given).as_deref(),
                Ok(stored),
                "{option} {given}"
            );
        }
        for (option, given, said) in [
            ("osd_max_backfills", "-1", "value should not be negative"),
            ("osd_max_backfills", "3.5", "expected a number"),
            ("osd_max_backfills", "1 ", "expected a number"),
            ("rados_osd_op_timeout", "0.5", "unexpected trailing '.5'"),
            ("rados_osd_op_timeout", "-1", "expected digit"),
            ("osd_memory_target", "1", "Value '1' is below minimum 939524096"),
            ("osd_pool_default_size", "20", "Value '20' exceeds maximum 10"),
            ("debug_ms", "x", "value must take the form N or N/M, where N and M are integers"),
            ("debug_ms", "100", "value must be in range [0, 99]"),
            ("mon_allow_pool_delete", "yes", "Expected option value to be integer, got 'yes'"),
            (
                "osd_op_queue",
                "foo",
                "'foo' is not one of the permitted values: wpq, mclock_scheduler, debug_random",
            ),
        ] {
            let error = known_option(option).unwrap().normalise(given).unwrap_err();
            assert!(error.to_string().starts_with(said), "{option} {given}: {error}");
        }
        assert!(known_option("debug_ms").unwrap().normalise("-1").unwrap_err().out_of_range);
    }
}
