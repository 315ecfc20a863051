//! How commands print: numbers, JSON and tables in the form that Ceph's tools and their users know.

use sepiola_messenger::indented;
use sepiola_wire::{OsdId, UTime};
use serde_json::Value;

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
    (indented(value) + "\n").into_bytes()
}

/// A share of a whole as a percentage, `0` when it is below a hundredth.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    percentage(if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

/// A percentage, `0` when it is below a hundredth.
pub(crate) fn percentage(share: f64) -> String {
    if share < 0.01 { "0".into() } else { format!("{share:.2}") }
}

/// The number of a primary, -1 for none.
pub(crate) fn primary(osd: Option<OsdId>) -> i32 {
    osd.map_or(-1, |osd| osd.0)
}

/// OSDs by their numbers.
pub(crate) fn numbers(osds: &[OsdId]) -> Vec<i32> {
    osds.iter().map(|osd| osd.0).collect()
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

/// A stamp in UTC with a `Z`, as monitor map dumps have it: `2026-11-30T16:53:55.065554Z`.
pub(crate) fn stamp_z(t: UTime) -> String {
    format!("{}.{:06}Z", t.date_time(), t.nsec / 1000)
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
    fn percentages_and_stamps_read_as_ceph_prints_them() {
        assert_eq!((percent(16_048, 8 << 30), percent(1, 8)), ("0".into(), "12.50".into()));
        assert_eq!(stamp_z(UTime { sec: 951_782_400, nsec: 7_000 }), "2000-02-29T00:00:00.000007Z");
    }

    #[test]
    fn a_table_pads_every_cell() {
        let mut t = Table::new(&[("ID", Align::Left, Align::Right), ("NAME", Align::Left, Align::Left)]);
        t.row(["-1".into(), "a".into()]);
        t.row(["10".into(), "longer".into()]);
        assert_eq!(t.render(), "ID  NAME  \n-1  a     \n10  longer\n");
    }
}
