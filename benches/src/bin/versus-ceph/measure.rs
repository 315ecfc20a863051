//! The rounds.

use sepiola_benches::{Machine, Op, Parts, Pinning};
use sepiola_cluster::MsMode;
use sepiola_tests::Result;

use crate::{
    ceilings,
    ceph_place::CephPlace,
    connects, installed,
    plan::{Plan, Work},
    results::{Cell, ConnectRun, Measured, Sample},
    run::{run, used},
    secure_cost,
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

/// Runs all rounds, until one fails. Progress goes to standard error.
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
        secure_costs: Vec::new(),
        ceilings: Vec::new(),
        ended_early: None,
    };
    let mut measuring = Measuring { sides: &sides, plan: &plan, measured };
    for round in 0..plan.rounds {
        // Half an hour of figures is not thrown away for one program that failed.
        if let Err(e) = measuring.round(round) {
            measuring.measured.ended_early = Some(e.to_string());
            break;
        }
    }
    Ok(measuring.measured)
}

/// Whoever comes second might find a warmer or a more tired machine.
fn order(round: usize) -> [Side; 2] {
    if round.is_multiple_of(2) { [Side::Ceph, Side::Sepiola] } else { [Side::Sepiola, Side::Ceph] }
}

impl Measuring<'_> {
    fn round(&mut self, round: usize) -> Result<()> {
        let plan = self.plan;
        for &mode in &plan.modes {
            for (number, work) in plan.work.iter().enumerate() {
                eprintln!("round {} of {}, {mode}, {}", round + 1, plan.rounds, work.load);
                self.load(round, mode, work, plan.connects && number == 0)?;
            }
        }
        if plan.secure_cost {
            eprintln!("round {} of {}, what secure mode costs", round + 1, plan.rounds);
            self.measured.secure_costs.extend(secure_cost::measure(self.sides, plan, round)?);
        }
        Ok(())
    }

    /// Everything about one load in one round, each cluster a fresh one.
    fn load(&mut self, round: usize, mode: MsMode, work: &Work, connecting: bool) -> Result<()> {
        let spin_us = work.spin_us.first().copied().unwrap_or(0);
        for osd in order(round) {
            let turn = Turn { round, mode, work, osd, spin_us };
            let mut cluster = self.start(&turn)?;
            if connecting {
                self.connect(&turn, &mut cluster)?;
            }
            let [first, second] = order(round);
            self.bench(&turn, &mut cluster, first)?;
            if work.is_large() {
                // The old one goes first, with its memory.
                drop(cluster);
                cluster = self.start(&turn)?;
            }
            self.bench(&turn, &mut cluster, second)?;
        }
        for &spin_us in work.spin_us.iter().skip(1) {
            let turn = Turn { round, mode, work, osd: Side::Sepiola, spin_us };
            let (mut cluster, _) = self.sides.start(turn.osd, mode, spin_us, round)?;
            self.bench(&turn, &mut cluster, Side::Sepiola)?;
        }
        if work.ceiling {
            let measured = ceilings::measure(self.sides, self.plan, mode, work, &Op::ALL, &Parts::USUAL)?;
            for c in &measured {
                eprintln!("  loopback ({}, {} a write): {} {:.0} exchanges/s", c.wait, c.part, c.op, c.iops);
            }
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

    fn connect(&mut self, turn: &Turn<'_>, cluster: &mut Running) -> Result<()> {
        let conf = cluster.conf();
        for client in order(turn.round) {
            let connecting = || connects::run(self.sides, client, &conf, self.plan.seconds);
            let (connects, used) = used(cluster, connecting)
                .map_err(|e| e.context(format!("{client}'s client connecting to {}", turn.osd)))?;
            eprintln!("  {client}'s client connects to {}: {:.0} /s", turn.osd, connects.rate());
            let (round, mode, cluster) = (turn.round, turn.mode.to_string(), turn.osd);
            self.measured.connects.push(ConnectRun { round, mode, client, cluster, connects, used });
        }
        Ok(())
    }

    /// A write, then reads of what it wrote.
    fn bench(&mut self, turn: &Turn<'_>, cluster: &mut Running, client: Side) -> Result<()> {
        let (osd, load, seconds) = (turn.osd, turn.work.load, self.plan.seconds);
        // Nothing of Ceph spins.
        let spin_us = if (client, osd) == (Side::Ceph, Side::Ceph) { 0 } else { turn.spin_us };
        for op in Op::ALL {
            let (outcome, used) = run(self.sides, cluster, (client, spin_us), (op, load), seconds)
                .map_err(|e| e.context(format!("{osd}'s OSD")))?;
            let spinning = if spin_us > 0 { format!(", spinning {spin_us} us") } else { String::new() };
            eprintln!("  {client}'s client on {osd}'s OSD{spinning}: {op} {:.0} IOPS", outcome.iops());
            let (round, mode, cell) = (turn.round, turn.mode.to_string(), Cell { client, osd, spin_us });
            self.measured.samples.push(Sample { round, mode, load, op, cell, outcome, used });
        }
        Ok(())
    }
}
