//! Beside what bare processes need.

use std::fmt::{self, Write};

use crate::results::{Encryption, Share};

/// How near to the ceilings; nothing if none was measured.
pub fn shares(page: &mut String, shares: &[Share]) -> fmt::Result {
    if shares.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "\n| load | op | mode | waiting | loopback exchanges/s | messages a write | CPU s/1000, both ends | Sepiola's share |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|")?;
    for s in shares {
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} % |",
            s.load,
            s.op,
            s.mode,
            s.wait,
            s.ceiling_iops.text(0),
            s.ceiling_part,
            s.ceiling_cpu_s_per_1000.text(4),
            s.share.scaled(1e2).text(0),
        )?;
    }
    Ok(())
}

/// What secure mode costs; nothing if that was not measured.
pub fn encryption(page: &mut String, all: &[Encryption]) -> fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "\n| 4 KiB QD16, CPU us/op of both ends, secure minus crc | Sepiola | loopback | ratio |"
    )?;
    writeln!(page, "|---|---|---|---|")?;
    for e in all {
        let ratio = e.ratio.map_or_else(|| "?".to_owned(), |ratio| ratio.text(2));
        let (added, bare) = (e.added_us.text(2), e.bare_us.text(2));
        writeln!(page, "| {} | {added} | {bare} | {ratio} |", e.op)?;
    }
    Ok(())
}
