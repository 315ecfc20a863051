//! The rounds.

use sepiola_benches::{
    Load, Machine, Op, Pinning,
    process::{cpu, ended_children_cpu},
};
use sepiola_cluster::MsMode;
use sepiola_tests::{Release, Result};

use crate::{
    bench, ceilings, installed,
    results::{self, Results, Sample, Settings},
    side::{Side, Sides},
};

/// Runs all rounds. Progress goes to standard error.
pub fn everything(settings: Settings, modes: &[MsMode], release: Release, ceiling: bool) -> Result<Results> {
    eprintln!("setting up the programs of both sides");
    let machine = Machine::now();
    let sides = Sides::new(release, settings.pinning, settings.spin_us)?;
    // Daemons run where their parent does; clients are bound one by one.
    if let Some(pinning) = settings.pinning {
        Pinning::pin_this_process(pinning.daemons)?;
    }
    let mut results = Results {
        machine,
        sepiola_version: sides.version(Side::Sepiola)?,
        ceph_version: sides.version(Side::Ceph)?,
        installed: installed::look(&sides, release),
        settings,
        rows: Vec::new(),
        shares: Vec::new(),
        starts: Vec::new(),
        samples: Vec::new(),
        ceilings: Vec::new(),
    };
    for round in 0..results.settings.rounds {
        for &mode in modes {
            for load in results.settings.loads.clone() {
                eprintln!("round {} of {}, {mode}, {load}", round + 1, results.settings.rounds);
                // Whoever comes second might find a warmer or a more tired machine.
                for osd in order(round) {
                    one_cluster(&sides, osd, mode, load, round, &mut results)?;
                }
                if ceiling {
                    let measured = ceilings::measure(&sides, &results.settings, mode, load)?;
                    results.ceilings.extend(measured.into_iter().map(|ceiling| (round, ceiling)));
                }
            }
        }
    }
    results.rows = results::rows(&results.samples);
    results.shares = results::shares(&results.samples, &results.ceilings);
    Ok(results)
}

fn order(round: usize) -> [Side; 2] {
    if round.is_multiple_of(2) { [Side::Ceph, Side::Sepiola] } else { [Side::Sepiola, Side::Ceph] }
}

/// Both clients on a fresh cluster.
fn one_cluster(
    sides: &Sides,
    osd: Side,
    mode: MsMode,
    load: Load,
    round: usize,
    results: &mut Results,
) -> Result<()> {
    let (mut cluster, start) = sides.start(osd, mode, round)?;
    eprintln!("  {osd} started, first put after {:.2} s", start.start_to_first_put_s);
    results.starts.push(start);
    let (conf, osd_pid, mon_pid) = (cluster.conf(), cluster.osd_pid()?, cluster.mon_pid()?);
    let used = || Ok((ended_children_cpu()?, cpu(osd_pid)?, cpu(mon_pid)?));
    for client in order(round) {
        for op in Op::ALL {
            let before = used()?;
            let outcome = bench::run(sides, client, &conf, op, load, results.settings.seconds)
                .map_err(|e| e.context(format!("{client}'s client on {osd}'s OSD, {load} {op}")))?;
            let after = used()?;
            eprintln!("  {client}'s client on {osd}'s OSD: {op} {:.0} IOPS", outcome.iops());
            results.samples.push(Sample {
                round,
                mode: mode.to_string(),
                load,
                op,
                client,
                osd,
                outcome,
                client_cpu_s: (after.0 - before.0).as_secs_f64(),
                osd_cpu_s: (after.1 - before.1).as_secs_f64(),
                mon_cpu_s: (after.2 - before.2).as_secs_f64(),
            });
        }
    }
    Ok(())
}
