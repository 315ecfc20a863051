//! Several rounds as one figure.

use serde::Serialize;

/// The median of some values and how far they lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// `None` of no values. The median of an even number is the mean of the two in the middle.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Spread { median, min, max })
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Spread { median: self.median * factor, min: self.min * factor, max: self.max * factor }
    }

    /// `MEDIAN (MIN–MAX)`, or the median alone if there is nothing between them to see.
    pub fn text(&self, decimals: usize) -> String {
        let show = |value: f64| format!("{value:.decimals$}");
        if show(self.min) == show(self.max) {
            return show(self.median);
        }
        format!("{} ({}–{})", show(self.median), show(self.min), show(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_middle_and_the_ends() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, min: 1.0, max: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 9.0]).map(|s| s.median), Some(3.0));
        assert_eq!(Spread { median: 2.0, min: 1.0, max: 3.04 }.text(1), "2.0 (1.0–3.0)");
        assert_eq!(Spread { median: 2.0, min: 2.0, max: 2.04 }.text(1), "2.0");
    }
}
