//! What starting, connecting and standing still costs.

use std::fmt::{self, Write};

use sepiola_benches::Spread;

use crate::{
    results::{ConnectRow, Measured, Start},
    side::Side,
};

const MB: f64 = 1e6;

/// How often a second each client connects; nothing if that was not measured.
pub fn connections(page: &mut String, rows: &[ConnectRow]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "\n| connect, authenticate, stat, end | mode | cluster | per second | times Ceph's cluster | client CPU ms \
         each | daemons' CPU ms each |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            page,
            "| {}'s client | {} | {} | {} | {} | {} | {} |",
            row.client,
            row.mode,
            row.cluster,
            row.rate.text(0),
            row.times_ceph.text(2),
            row.client_cpu_ms.text(2),
            row.daemons_cpu_ms.text(2),
        )?;
    }
    Ok(())
}

/// Starts, memory and disk.
pub fn table(page: &mut String, measured: &Measured) -> fmt::Result {
    writeln!(page, "\n| | Sepiola | Ceph | Ceph over Sepiola |\n|---|---|---|---|")?;
    let mut line = |what: &str, decimals: usize, value: fn(&Start) -> f64| {
        let of = |side| Spread::of(measured.starts.iter().filter(|start| start.side == side).map(value));
        let (Some(sepiola), Some(ceph)) = (of(Side::Sepiola), of(Side::Ceph)) else { return Ok(()) };
        let ratio = ceph.median / sepiola.median;
        writeln!(page, "| {what} | {} | {} | {ratio:.1} |", sepiola.text(decimals), ceph.text(decimals))
    };
    line("from nothing to the first put, s", 2, |start| start.start_to_first_put_s)?;
    line("idle monitor, resident MB", 1, |start| start.mon_rss as f64 / MB)?;
    line("idle OSD, resident MB", 1, |start| start.osd_rss as f64 / MB)?;
    let mb = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / MB);
    let shown = |mb: Option<f64>| mb.map_or_else(|| "?".to_owned(), |mb| format!("{mb:.1}"));
    let (full, stripped) = (mb(measured.installed.sepiola), mb(measured.installed.sepiola_stripped));
    let ceph = mb(measured.installed.ceph);
    let ratio = ceph.zip(stripped).map_or_else(|| "?".to_owned(), |(c, s)| format!("{:.1}", c / s));
    // Packages come without debug information too.
    writeln!(
        page,
        "| installed MB (Sepiola as cargo builds it: {}) | {} | {} | {ratio} |",
        shown(full),
        shown(stripped),
        shown(ceph),
    )
}
