//! The results as a page.

use std::fmt::{self, Write};

use sepiola_benches::{Pinning, Spread};

use crate::{
    results::{Results, Start},
    side::Side,
};

const MB: f64 = 1e6;

/// The page.
pub fn report(results: &Results) -> String {
    let mut page = String::new();
    write(&mut page, results).expect("writing to a string");
    page
}

fn write(page: &mut String, results: &Results) -> fmt::Result {
    conditions(page, results)?;
    operations(page, results)?;
    ceilings(page, results)?;
    standing(page, results)
}

fn conditions(page: &mut String, results: &Results) -> fmt::Result {
    let settings = &results.settings;
    writeln!(page, "{}\n", results.machine)?;
    if let Some(warning) = results.machine.warning() {
        writeln!(page, "{warning}\n")?;
    }
    writeln!(page, "- {} beside {}", results.sepiola_version, results.ceph_version)?;
    writeln!(
        page,
        "- one monitor and one OSD each, in processes of their own, objects in memory, a pool of {} pgs, cephx, \
         connections over loopback; {}; Sepiola spins {} us",
        settings.pg_num,
        Pinning::describe(settings.pinning),
        settings.spin_us,
    )?;
    writeln!(
        page,
        "- `rados bench` of both clients with the same arguments, {} s each, allocation hints sent, reads \
         compared; {} rounds in alternating order, fresh clusters in each: median (min–max)\n",
        settings.seconds, settings.rounds,
    )
}

fn operations(page: &mut String, results: &Results) -> fmt::Result {
    writeln!(
        page,
        "| load | op | mode | client | OSD | IOPS | times Ceph | avg ms | client CPU s/1000 | OSD CPU s/1000 |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|---|---|")?;
    for row in &results.rows {
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {:.3} | {} | {} |",
            row.load,
            row.op,
            row.mode,
            row.client,
            row.osd,
            row.iops.text(0),
            row.times_ceph.text(2),
            row.average_latency_s.median * 1e3,
            row.client_cpu_s_per_1000.text(4),
            row.osd_cpu_s_per_1000.text(4),
        )?;
    }
    Ok(())
}

fn ceilings(page: &mut String, results: &Results) -> fmt::Result {
    if results.shares.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "\n| load | op | mode | loopback exchanges/s | CPU s/1000, both ends | Sepiola's share |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|")?;
    for s in &results.shares {
        let percent = Spread { median: s.share.median * 1e2, min: s.share.min * 1e2, max: s.share.max * 1e2 };
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} % |",
            s.load,
            s.op,
            s.mode,
            s.ceiling_iops.text(0),
            s.ceiling_cpu_s_per_1000.text(4),
            percent.text(0),
        )?;
    }
    Ok(())
}

fn standing(page: &mut String, results: &Results) -> fmt::Result {
    writeln!(page, "\n| | Sepiola | Ceph | Ceph over Sepiola |\n|---|---|---|---|")?;
    let mut line = |what: &str, decimals: usize, value: fn(&Start) -> f64| {
        let of = |side| Spread::of(results.starts.iter().filter(|start| start.side == side).map(value));
        let (Some(sepiola), Some(ceph)) = (of(Side::Sepiola), of(Side::Ceph)) else { return Ok(()) };
        let ratio = ceph.median / sepiola.median;
        writeln!(page, "| {what} | {} | {} | {ratio:.1} |", sepiola.text(decimals), ceph.text(decimals))
    };
    line("from nothing to the first put, s", 2, |start| start.start_to_first_put_s)?;
    line("idle monitor, resident MB", 1, |start| start.mon_rss as f64 / MB)?;
    line("idle OSD, resident MB", 1, |start| start.osd_rss as f64 / MB)?;
    let mb = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / MB);
    let shown = |mb: Option<f64>| mb.map_or_else(|| "?".to_owned(), |mb| format!("{mb:.1}"));
    let (full, stripped) = (mb(results.installed.sepiola), mb(results.installed.sepiola_stripped));
    let ceph = mb(results.installed.ceph);
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
