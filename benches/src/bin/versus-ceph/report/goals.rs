//! What was to be reached.

use std::fmt::{self, Write};

use crate::results::Goal;

/// Each goal that this run has a figure for.
pub fn table(page: &mut String, goals: &[Goal]) -> fmt::Result {
    if goals.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n| goal | wanted | this run | |\n|---|---|---|---|")?;
    for g in goals {
        let met = if g.met { "met" } else { "**not met**" };
        let unit = if g.unit.is_empty() { String::new() } else { format!(" {}", g.unit) };
        writeln!(page, "| {} | {}{unit} | {}{unit} | {met} |", g.what, g.goal, g.value.text(2))?;
    }
    let met = goals.iter().filter(|g| g.met).count();
    writeln!(page, "\n{met} of {} goals met.", goals.len())
}
