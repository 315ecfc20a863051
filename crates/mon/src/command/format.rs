//! How commands print: numbers, JSON and tables in the form that Ceph's tools and their users know.

use sepiola_wire::UTime;
use serde::Serialize;
use serde_json::{Value, ser::PrettyFormatter};

/// The form that the caller asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Json,
    JsonPretty,
}

impl Format {
    /// Reads the `format` argument; absent means plain text.
    pub fn parse(text: Option<&str>) -> Option<Self> {
        match text {
            None | Some("plain" | "") => Some(Format::Plain),
            Some("json") => Some(Format::Json),
            Some("json-pretty") => Some(Format::JsonPretty),
            Some(_) => None,
        }
    }

    /// `value` in this form, compact for plain. Pretty output ends with a newline, compact output does not.
    pub fn json(self, value: &Value) -> Vec<u8> {
        match self {
            Format::JsonPretty => pretty(value),
            Format::Plain | Format::Json => value.to_string().into_bytes(),
        }
    }
}

/// Indented JSON with a newline at its end.
pub(crate) fn pretty(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let mut ser = serde_json::Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    "));
    // Writing a Value into memory cannot fail: its keys are strings and a Vec takes every byte.
    let _ = value.serialize(&mut ser);
    out.push(b'\n');
    out
}

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Bytes with a binary unit, at most seven characters: `34 B`, `16 KiB`, `8.0 GiB`.
pub(crate) fn bytes(n: u64) -> String {
    scaled(n, 1024, &BINARY, " ")
}

/// A count with a decimal unit: `2`, `1.23k`.
pub(crate) fn count(n: u64) -> String {
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

/// A share of a whole as a percentage, `0` when it is below a hundredth.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    if share < 0.01 { "0".into() } else { format!("{share:.2}") }
}

/// A 16.16 weight as a number.
pub(crate) fn weight(fixed: u32) -> f64 {
    f64::from(fixed) / 65536.0
}

/// A duration in the largest two units that fit: `7s`, `4m`, `3h`.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        172_800..1_209_600 => format!("{}d", seconds / 86_400),
        _ => format!("{}w", seconds / 604_800),
    }
}

/// A stamp in UTC, `2026-11-30T16:53:55.065554+0000`; the unset stamp is `0.000000`.
pub(crate) fn stamp(t: UTime) -> String {
    if t.sec < 60 * 60 * 24 * 365 * 10 {
        // Stamps of the first ten years are durations or unset, and shown as seconds.
        return format!("{}.{:06}", t.sec, t.nsec / 1000);
    }
    format!("{}.{:06}+0000", civil(t.sec), t.nsec / 1000)
}

/// The same with a `Z`, as monitor map dumps have it.
pub(crate) fn stamp_z(t: UTime) -> String {
    format!("{}.{:06}Z", civil(t.sec), t.nsec / 1000)
}

/// `YYYY-MM-DDTHH:MM:SS` in the proleptic Gregorian calendar.
fn civil(sec: u32) -> String {
    let (days, rest) = (sec / 86_400, sec % 86_400);
    // Count years from March, so that the leap day is a year's last.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u32::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with two blanks between its columns, every cell padded to the column's width.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns: title, its alignment, the cells' alignment.
    pub fn new(columns: &[(&str, Align, Align)]) -> Self {
        Table { columns: columns.iter().map(|(t, h, c)| ((*t).to_owned(), *h, *c)).collect(), rows: vec![] }
    }

    /// Adds a row with one cell a column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<_> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// The text, each line with a newline at its end.
    pub fn render(&self) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|r| r[i].chars().count());
            cells.chain([self.columns[i].0.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let mut out = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = (&str, Align)>| {
            for (i, (cell, align)) in cells.enumerate() {
                if i > 0 {
                    out.push_str("  ");
                }
                let pad = widths[i].saturating_sub(cell.chars().count());
                match align {
                    Align::Left => {
                        out.push_str(cell);
                        out.extend(std::iter::repeat_n(' ', pad));
                    }
                    Align::Right => {
                        out.extend(std::iter::repeat_n(' ', pad));
                        out.push_str(cell);
                    }
                }
            }
            out.push('\n');
        };
        line(&mut self.columns.iter().map(|(title, align, _)| (title.as_str(), *align)));
        for row in &self.rows {
            line(&mut row.iter().zip(&self.columns).map(|(cell, (_, _, align))| (cell.as_str(), *align)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((percent(16_048, 8 << 30), percent(1, 8)), ("0".into(), "12.50".into()));
    }

    #[test]
    fn stamps_are_civil_utc() {
        assert_eq!(stamp(UTime { sec: 1_796_057_635, nsec: 65_554_999 }), "2026-11-30T16:53:55.065554+0000");
        assert_eq!(stamp_z(UTime { sec: 951_782_400, nsec: 0 }), "2000-02-29T00:00:00.000000Z");
        assert_eq!(stamp(UTime::ZERO), "0.000000");
    }

    #[test]
    fn a_table_pads_every_cell() {
        let mut t = Table::new(&[("ID", Align::Left, Align::Right), ("NAME", Align::Left, Align::Left)]);
        t.row(["-1".into(), "a".into()]);
        t.row(["10".into(), "longer".into()]);
        assert_eq!(t.render(), "ID  NAME  \n-1  a     \n10  longer\n");
    }
}
