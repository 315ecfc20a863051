//! Class `numops`: arithmetic on omap values that hold numbers as text.

use bytes::Bytes;
use sepiola_wire::{Decode, DecodeError, Errno, Reader};

use super::{Access, Method, MethodCall, ObjectClass};
use crate::op::{Failure, OpResult};

/// Digits of a stored number.
const PRECISION: usize = 10;

pub(super) struct NumOps;

impl ObjectClass for NumOps {
    fn name(&self) -> &'static str {
        "numops"
    }

    fn methods(&self) -> &'static [Method] {
        &[
            Method { name: "add", access: Access::READ_WRITE, run: |call| change(call, |a, b| a + b) },
            Method { name: "mul", access: Access::READ_WRITE, run: |call| change(call, |a, b| a * b) },
        ]
    }
}

/// A missing value counts as 0.
fn change(call: &mut MethodCall<'_, '_, '_>, combine: fn(f64, f64) -> f64) -> OpResult {
    let read = |r: &mut Reader<'_>| Ok::<_, DecodeError>((Bytes::decode(r)?, Bytes::decode(r)?));
    let (key, operand) = read(&mut Reader::new(call.input)).map_err(|_| Errno::EINVAL)?;
    let operand = number(&operand, Errno::EINVAL)?;
    let stored = match call.omap_value(&key)? {
        Some(text) if !text.is_empty() => number(&text, Errno::EBADMSG)?,
        _ => 0.0,
    };
    let value = combine(stored, operand);
    if !value.is_finite() {
        return Err(Errno::EOVERFLOW.into());
    }
    call.set_omap_value(&key, general(value))?;
    Ok(0)
}

fn number(text: &[u8], otherwise: Errno) -> Result<f64, Failure> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<f64>().ok());
    number.filter(|number| number.is_finite()).ok_or_else(|| otherwise.into())
}

/// The shorter of fixed and scientific notation, as C's `%g` and C++ streams print, which is what clients
/// of the class compare with.
fn general(value: f64) -> String {
    let scientific = format!("{value:.*e}", PRECISION - 1);
    // Rust's own form: digits, `e`, and a decimal exponent.
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..PRECISION as i32).contains(&exponent) {
        // Within the range just checked, so this is 0 to 13.
        trim(&format!("{value:.*}", (PRECISION as i32 - 1 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(digits), exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_streams_print_them() {
        for (value, text) in [
            (0.0, "0"),
            (10.0, "10"),
            (-2.5, "-2.5"),
            (1e10, "1e+10"),
            (9999999999.0, "9999999999"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (1.0 / 3.0, "0.3333333333"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(general(value), text);
        }
    }
}
