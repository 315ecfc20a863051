//! The results as a page.

mod goals;
mod loopback;
mod operations;
mod standing;

use std::fmt::{self, Write};

use sepiola_benches::Pinning;

use crate::results::Results;

/// The page.
pub fn markdown(results: &Results) -> String {
    let mut page = String::new();
    write(&mut page, results).expect("writing to a string");
    page
}

fn write(page: &mut String, results: &Results) -> fmt::Result {
    conditions(page, results)?;
    operations::table(page, &results.rows)?;
    loopback::shares(page, &results.shares)?;
    loopback::encryption(page, &results.encryption)?;
    standing::connections(page, &results.connecting)?;
    standing::table(page, &results.measured)?;
    goals::table(page, &results.goals)
}

fn conditions(page: &mut String, results: &Results) -> fmt::Result {
    let (measured, plan) = (&results.measured, &results.measured.settings);
    writeln!(page, "{}\n", measured.machine)?;
    if let Some(warning) = measured.machine.warning() {
        writeln!(page, "{warning}\n")?;
    }
    if measured.ended_early.is_some() {
        writeln!(page, "**The last round is incomplete: something failed.**\n")?;
    }
    writeln!(page, "- {} beside {}", measured.sepiola_version, measured.ceph_version)?;
    writeln!(
        page,
        "- one monitor and one OSD each, in processes of their own, objects in memory, a pool of {} pgs, cephx, \
         connections over loopback; {}",
        plan.pg_num,
        Pinning::describe(plan.pinning),
    )?;
    writeln!(
        page,
        "- `rados bench` of both clients with the same arguments, {} s each, allocation hints sent, reads \
         compared; {} rounds in alternating order, fresh clusters in each: median (min–max)\n",
        plan.seconds, plan.rounds,
    )
}
