//! The rounds.

use sepiola_benches::{
    Machine, Op, Pinning,
    process::{cpu, ended_children_cpu},
};
use sepiola_cluster::MsMode;
use sepiola_tests::Result;

use crate::{
    bench::{self, Client},
    ceilings,
    ceph_place::CephPlace,
    connects, installed,
    plan::{Plan, Work},
    results::{Cell, ConnectRun, Measured, Sample},
    side::{Running, Side, Sides},
};

/// Which cluster, and what for.
struct Turn<'a> {
    round: usize,
    mode: MsMode,
    work: &'a Work,
    osd: Side,
    /// Of Sepiola's client and OSD.
    spin_us: u64,
}

struct Measuring<'a> {
    sides: &'a Sides,
    plan: &'a Plan,
    measured: Measured,
}

/// Runs all rounds. Progress goes to standard error.
pub fn everything(plan: Plan, place: &CephPlace) -> Result<Measured> {
    eprintln!("setting up the programs of both sides");
    let machine = Machine::now();
    let sides = Sides::new(place, plan.pinning)?;
    // Daemons run where their parent does; clients are bound one by one.
    if let Some(pinning) = plan.pinning {
        Pinning::pin_this_process(pinning.daemons)?;
    }
    let measured = Measured {
        machine,
        sepiola_version: sides.version(Side::Sepiola)?,
        ceph_version: sides.version(Side::Ceph)?,
        installed: installed::look(&sides, place.release()),
        settings: plan.clone(),
        starts: Vec::new(),
        samples: Vec::new(),
        connects: Vec::new(),
        ceilings: Vec::new(),
    };
    let mut measuring = Measuring { sides: &sides, plan: &plan, measured };
    for round in 0..plan.rounds {
        for &mode in &plan.modes {
            for (number, work) in plan.work.iter().enumerate() {
                eprintln!("round {} of {}, {mode}, {}", round + 1, plan.rounds, work.load);
                measuring.load(round, mode, work, plan.connects && number == 0)?;
            }
        }
    }
    Ok(measuring.measured)
}

/// Whoever comes second might find a warmer or a more tired machine.
fn order(round: usize) -> [Side; 2] {
    if round.is_multiple_of(2) { [Side::Ceph, Side::Sepiola] } else { [Side::Sepiola, Side::Ceph] }
}

impl Measuring<'_> {
    /// Everything about one load in one round, each cluster a fresh one.
    fn load(&mut self, round: usize, mode: MsMode, work: &Work, connecting: bool) -> Result<()> {
        let spin_us = work.spin_us.first().copied().unwrap_or(0);
        for osd in order(round) {
            let turn = Turn { round, mode, work, osd, spin_us };
            let mut cluster = self.start(&turn)?;
            if connecting {
                self.connect(&turn, &cluster)?;
            }
            for client in order(round) {
                self.bench(&turn, &mut cluster, client)?;
            }
        }
        for &spin_us in work.spin_us.iter().skip(1) {
            let turn = Turn { round, mode, work, osd: Side::Sepiola, spin_us };
            let (mut cluster, _) = self.sides.start(turn.osd, mode, spin_us, round)?;
            self.bench(&turn, &mut cluster, Side::Sepiola)?;
        }
        if work.ceiling {
            let measured = ceilings::measure(self.sides, self.plan, mode, work)?;
            self.measured.ceilings.extend(measured.into_iter().map(|ceiling| (round, ceiling)));
        }
        Ok(())
    }

    fn start(&mut self, turn: &Turn<'_>) -> Result<Running> {
        let (cluster, start) = self.sides.start(turn.osd, turn.mode, turn.spin_us, turn.round)?;
        eprintln!("  {} started, first put after {:.2} s", turn.osd, start.start_to_first_put_s);
        self.measured.starts.push(start);
        Ok(cluster)
    }

    fn connect(&mut self, turn: &Turn<'_>, cluster: &Running) -> Result<()> {
        for client in order(turn.round) {
            let connects = connects::run(self.sides, client, &cluster.conf(), self.plan.seconds)
                .map_err(|e| e.context(format!("{client}'s client connecting to {}", turn.osd)))?;
            eprintln!("  {client}'s client connects to {}: {:.0} /s", turn.osd, connects.rate());
            let (round, mode, cluster) = (turn.round, turn.mode.to_string(), turn.osd);
            self.measured.connects.push(ConnectRun { round, mode, client, cluster, connects });
        }
        Ok(())
    }

    /// A write, then reads of what it wrote.
    fn bench(&mut self, turn: &Turn<'_>, cluster: &mut Running, client: Side) -> Result<()> {
        let (osd, load) = (turn.osd, turn.work.load);
        // Nothing of Ceph spins.
        let spin_us = if (client, osd) == (Side::Ceph, Side::Ceph) { 0 } else { turn.spin_us };
        let (conf, osd_pid, mon_pid) = (cluster.conf(), cluster.osd_pid()?, cluster.mon_pid()?);
        let used = || Ok((ended_children_cpu()?, cpu(osd_pid)?, cpu(mon_pid)?));
        for op in Op::ALL {
            let before = used()?;
            let run = Client { side: client, spin_us, conf: &conf };
            let outcome = bench::run(self.sides, run, op, load, self.plan.seconds)
                .map_err(|e| e.context(format!("{client}'s client on {osd}'s OSD, {load} {op}")))?;
            let after = used()?;
            let spinning = if spin_us > 0 { format!(", spinning {spin_us} us") } else { String::new() };
            eprintln!("  {client}'s client on {osd}'s OSD{spinning}: {op} {:.0} IOPS", outcome.iops());
            self.measured.samples.push(Sample {
                round: turn.round,
                mode: turn.mode.to_string(),
                load,
                op,
                cell: Cell { client, osd, spin_us },
                outcome,
                client_cpu_s: (after.0 - before.0).as_secs_f64(),
                osd_cpu_s: (after.1 - before.1).as_secs_f64(),
                mon_cpu_s: (after.2 - before.2).as_secs_f64(),
            });
        }
        Ok(())
    }
}
