//! Medians of each kind of run.

use sepiola_benches::{Load, Op, Spread};
use serde::Serialize;

use super::samples::{Cell, Kind, Sample, ratio, runs};
use crate::side::Side;

/// One kind of run over all rounds.
#[derive(Debug, Serialize)]
pub struct Row {
    pub mode: String,
    pub load: Load,
    pub op: Op,
    #[serde(flatten)]
    pub cell: Cell,
    pub iops: Spread,
    /// Of each round, against Ceph's client on Ceph's OSD in the same round.
    pub times_ceph: Spread,
    pub average_latency_s: Spread,
    pub client_cpu_s_per_1000: Spread,
    pub osd_cpu_s_per_1000: Spread,
}

/// Medians of all rounds, Ceph on Ceph first within each mode, load and operation.
pub fn rows(samples: &[Sample]) -> Vec<Row> {
    let first = || samples.iter().filter(|s| s.round == 0);
    let mut rows = Vec::new();
    for baseline in first().filter(|s| s.cell == Cell::CEPH) {
        let cell = |s: &Sample| Kind { cell: s.cell, ..baseline.kind() };
        let mut cells: Vec<Cell> = first().filter(|s| s.kind() == cell(s)).map(|s| s.cell).collect();
        cells.sort_by_key(|c| (c.osd == Side::Sepiola, c.client == Side::Sepiola, c.spin_us));
        rows.extend(cells.into_iter().filter_map(|cell| row(samples, baseline.kind(), cell)));
    }
    rows
}

fn row(samples: &[Sample], baseline: Kind<'_>, cell: Cell) -> Option<Row> {
    let kind = Kind { cell, ..baseline };
    let spread = |figure: fn(&Sample) -> f64| Spread::of(runs(samples, kind).map(figure));
    Some(Row {
        mode: kind.mode.to_owned(),
        load: kind.load,
        op: kind.op,
        cell,
        iops: spread(Sample::iops)?,
        times_ceph: ratio(samples, Sample::iops, kind, baseline)?,
        average_latency_s: spread(|s| s.outcome.average_latency_s)?,
        client_cpu_s_per_1000: spread(Sample::client_cpu)?,
        osd_cpu_s_per_1000: spread(Sample::osd_cpu)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{super::samples::tests::sample, *};

    #[test]
    fn ratios_are_taken_within_each_round() {
        let (ceph, sepiola) = (Cell::CEPH, Cell::SEPIOLA);
        // The machine is twice as fast in the second round, which says nothing about the two sides.
        let samples = [
            sample(0, ceph, 1000),
            sample(0, sepiola, 8000),
            sample(1, sepiola, 16000),
            sample(1, ceph, 2000),
        ];
        let rows = rows(&samples);
        assert_eq!(rows.len(), 2, "only what was measured");
        assert_eq!((rows[0].cell, rows[0].times_ceph.median), (ceph, 1.0));
        let ours = &rows[1];
        assert_eq!(ours.cell, sepiola);
        assert_eq!(ours.times_ceph, Spread { median: 8.0, min: 8.0, max: 8.0 });
        assert_eq!(ours.iops, Spread { median: 6000.0, min: 4000.0, max: 8000.0 });
        assert_eq!(ours.client_cpu_s_per_1000.max, 0.125);
    }

    #[test]
    fn spinning_has_a_row_of_its_own_behind_sleeping() {
        let spinning = Cell { spin_us: 50, ..Cell::SEPIOLA };
        let samples = [sample(0, spinning, 900), sample(0, Cell::SEPIOLA, 300), sample(0, Cell::CEPH, 100)];
        let shown: Vec<(Cell, f64)> = rows(&samples).iter().map(|r| (r.cell, r.times_ceph.median)).collect();
        assert_eq!(shown, [(Cell::CEPH, 1.0), (Cell::SEPIOLA, 3.0), (spinning, 9.0)]);
    }
}
