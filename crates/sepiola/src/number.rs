//! Numbers as Ceph's tools print them.

/// Six significant digits, without trailing zeros, with an exponent where that is shorter: C's `%g`, which
/// scripts that parse bench output expect.
pub fn six_digits(value: f64) -> String {
    const DIGITS: i32 = 6;
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let scientific = format!("{value:.*e}", (DIGITS - 1) as usize);
    let (mantissa, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the format's exponent is a number");
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        trim(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_printf_does() {
        let cases = [
            (1.00015, "1.00015"),
            (22.063_123, "22.0631"),
            (0.000_352_566, "0.000352566"),
            (0.000_035_2, "3.52e-05"),
            (f64::MAX, "1.79769e+308"),
            (1_234_567.0, "1.23457e+06"),
            (7018.0, "7018"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(six_digits(value), text);
        }
    }
}
