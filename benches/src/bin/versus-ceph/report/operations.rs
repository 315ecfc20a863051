//! Both clients on both OSDs.

use std::fmt::{self, Write};

use crate::{
    results::{Cell, Row},
    side::Side,
};

/// One line for each kind of run.
pub fn table(page: &mut String, rows: &[Row]) -> fmt::Result {
    writeln!(
        page,
        "| load | op | mode | client | OSD | IOPS | times Ceph | avg ms | client CPU s/1000 | OSD CPU s/1000 |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {:.3} | {} | {} |",
            row.load,
            row.op,
            row.mode,
            shown(row.cell.client, row.cell),
            shown(row.cell.osd, row.cell),
            row.iops.text(0),
            row.times_ceph.text(2),
            row.average_latency_s.median * 1e3,
            row.client_cpu_s_per_1000.text(4),
            row.osd_cpu_s_per_1000.text(4),
        )?;
    }
    Ok(())
}

/// A side, and how long it spins.
fn shown(side: Side, cell: Cell) -> String {
    match (side, cell.spin_us) {
        (Side::Sepiola, 1..) => format!("{side}, spins {} us", cell.spin_us),
        _ => side.to_string(),
    }
}
