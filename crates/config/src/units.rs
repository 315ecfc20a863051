//! Numbers with units, as Ceph's options and tools read and print them.

/// Reads a count or a size in bytes: an integer with an optional K, M, G or T (and `i`, `B`), powers of 1024.
/// `None` if it is something else, or more than 64 bits hold.
pub fn parse_size(text: &str) -> Option<u64> {
    parse_scaled(text, 1024)
}

/// Reads a count: an integer with an optional K, M, G or T, powers of 1000. `None` as [`parse_size`].
pub fn parse_count(text: &str) -> Option<u64> {
    parse_scaled(text, 1000)
}

fn parse_scaled(text: &str, base: u64) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let power = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "ki" | "kb" | "kib" => 1,
        "m" | "mi" | "mb" | "mib" => 2,
        "g" | "gi" | "gb" | "gib" => 3,
        "t" | "ti" | "tb" | "tib" => 4,
        _ => return None,
    };
    number.checked_mul(base.checked_pow(power)?)
}

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Bytes with a binary unit, at most seven characters: `34 B`, `16 KiB`, `8.0 GiB`.
pub fn bytes(n: u64) -> String {
    scaled(n, 1024, &BINARY, " ")
}

/// A count with a decimal unit: `2`, `1.23k`.
pub fn count(n: u64) -> String {
    scaled(n, 1000, &DECIMAL, "")
}

fn scaled(n: u64, base: u64, units: &[&str; 7], gap: &str) -> String {
    let mut unit = 0;
    let mut divisor = 1u64;
    while n / divisor >= base && unit < 6 {
        divisor *= base;
        unit += 1;
    }
    let name = units[unit];
    let gap = if name.is_empty() { "" } else { gap };
    if n.is_multiple_of(divisor) {
        return format!("{}{gap}{name}", n / divisor);
    }
    // As many decimals as leave it within seven characters.
    let value = n as f64 / divisor as f64;
    (0..=2)
        .rev()
        .map(|decimals| format!("{value:.decimals$}{gap}{name}"))
        .find(|text| text.len() <= 7)
        .unwrap_or_else(|| format!("{value:.0}{gap}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_any_spelling_of_their_unit() {
        for (text, size) in
            [("4096", Some(4096)), ("64K", Some(65536)), ("4MiB", Some(4 << 20)), (" 1 gb ", Some(1 << 30))]
        {
            assert_eq!(parse_size(text), size, "{text}");
        }
        for text in ["", "K", "-1", "1.5M", "4X", "99999999999T"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
        assert_eq!(parse_count("10K"), Some(10_000));
    }

    #[test]
    fn bytes_read_as_ceph_prints_them() {
        for (n, text) in [
            (0, "0 B"),
            (34, "34 B"),
            (1024, "1 KiB"),
            (16_048, "16 KiB"),
            (8_160_421_376, "7.6 GiB"),
            (8_589_918_544, "8.0 GiB"),
            (8 << 30, "8 GiB"),
            (1_572_864, "1.5 MiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!((count(2), count(1234), count(12_000)), ("2".into(), "1.23k".into(), "12k".into()));
    }
}
