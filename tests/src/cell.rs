//! A matrix of cells, each a named check on a cluster. Every planned cell must run: one that can't is a
//! failure like any other.

use std::{
    env,
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::{Cluster, Deadline, Failure, Result};

/// How long a cell may take that does not say otherwise.
const CELL_TIME: Duration = Duration::from_secs(60);

type Check<C> = Box<dyn Fn(&C, Deadline) -> Result<()>>;
/// Runs the wanted ones of a group's cells.
type RunGroup = Box<dyn FnOnce(&[bool], &mut Tally)>;

/// A named check on a cluster of type `C`.
pub struct Cell<C> {
    name: String,
    time: Duration,
    check: Check<C>,
}

impl<C> Cell<C> {
    /// A cell; `check` must end by its deadline.
    pub fn new(name: impl Into<String>, check: impl Fn(&C, Deadline) -> Result<()> + 'static) -> Self {
        Cell { name: name.into(), time: CELL_TIME, check: Box::new(check) }
    }

    /// Sets how long it may take.
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }
}

/// Cells that share a cluster and run one after another.
pub struct Group {
    name: String,
    cells: Vec<String>,
    run: RunGroup,
}

impl Group {
    /// Cells on the cluster that `start` starts, which happens only if one of them is wanted.
    pub fn new<C: Cluster + 'static>(
        name: impl Into<String>,
        start: impl FnOnce() -> Result<C> + 'static,
        cells: Vec<Cell<C>>,
    ) -> Self {
        let name = name.into();
        let names: Vec<String> = cells.iter().map(|cell| format!("{name}/{}", cell.name)).collect();
        let full_names = names.clone();
        let run = move |wanted: &[bool], tally: &mut Tally| {
            let begun = Instant::now();
            let cluster = start();
            println!("# cluster in {:.1} s", begun.elapsed().as_secs_f64());
            let failed_before = tally.failed.len();
            for ((cell, full_name), _) in
                cells.iter().zip(&full_names).zip(wanted).filter(|(_, wanted)| **wanted)
            {
                let begun = Instant::now();
                let result = match &cluster {
                    Ok(cluster) => (cell.check)(cluster, Deadline::after(cell.time)),
                    Err(e) if tally.failed.len() == failed_before => {
                        Err(e.clone().context("there is no cluster"))
                    }
                    Err(_) => Err(Failure::new("there is no cluster, as above")),
                };
                tally.enter(full_name, begun.elapsed(), cluster.is_ok(), result);
            }
            if let Ok(cluster) = &cluster
                && tally.failed.len() > failed_before
            {
                println!("# files kept in {}", cluster.keep_files().display());
            }
        };
        Group { name, cells: names, run: Box::new(run) }
    }
}

/// What has come of the cells so far.
#[derive(Default)]
struct Tally {
    executed: usize,
    passed: usize,
    failed: Vec<(String, Failure)>,
}

impl Tally {
    fn enter(&mut self, name: &str, took: Duration, executed: bool, result: Result<()>) {
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {word} ({:.2} s)", took.as_secs_f64());
        self.executed += usize::from(executed);
        match result {
            Ok(()) => self.passed += 1,
            Err(e) => self.failed.push((name.to_owned(), e)),
        }
    }
}

/// Runs the cells whose name contains one of the command line's words (all of them, without any), group by
/// group. Understands what the usual test runners pass. The exit code says whether all passed.
pub fn run_matrix(binary: &str, groups: Vec<Group>) -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        // Runners that start a process per test see one test, because the cells share clusters.
        if !args.iter().any(|arg| arg == "--ignored") {
            println!("{binary}: test");
        }
        return ExitCode::SUCCESS;
    }
    // The runner's own options have no say in what runs here; their values are numbers.
    let words: Vec<&str> = args
        .iter()
        .map(String::as_str)
        .filter(|arg| !arg.starts_with('-') && arg.parse::<u32>().is_err() && *arg != binary)
        .collect();
    let begun = Instant::now();
    let planned: usize = groups.iter().map(|group| group.cells.len()).sum();
    let (mut tally, mut wanted_cells) = (Tally::default(), 0);
    for group in groups {
        let is_wanted = |name: &String| words.is_empty() || words.iter().any(|word| name.contains(word));
        let wanted: Vec<bool> = group.cells.iter().map(is_wanted).collect();
        let count = wanted.iter().filter(|wanted| **wanted).count();
        if count > 0 {
            println!("\n# {}: {count} cells", group.name);
            (group.run)(&wanted, &mut tally);
        }
        wanted_cells += count;
    }
    for (name, failure) in &tally.failed {
        println!("\n---- {name} ----\n{failure}");
    }
    println!("\n# {} of {wanted_cells} cells executed, {planned} planned", tally.executed);
    let good = tally.failed.is_empty() && tally.executed == wanted_cells && wanted_cells > 0;
    println!(
        "\ntest result: {}. {} passed; {} failed; 0 ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if good { "ok" } else { "FAILED" },
        tally.passed,
        tally.failed.len(),
        planned - wanted_cells,
        begun.elapsed().as_secs_f64(),
    );
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
