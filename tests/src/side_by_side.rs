//! The same command line with both sides' tools on the same cluster. Whatever differs is printed as a diff, and
//! must be in a list of accepted differences, each with its reason.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
};

use crate::{Deadline, Invocation, MiniCluster, Output, Tool};

/// What of a command may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Standard output.
    Output,
    /// The words on standard error.
    Words,
    /// The exit status, and with it what is printed.
    Status,
}

/// A difference that is meant.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    /// Words that the command line contains, next to each other.
    pub words: &'static [&'static str],
    /// What differs.
    pub part: Part,
    /// Why that is right.
    pub why: &'static str,
}

/// Compares command lines of one program.
pub struct SideBySide<'a> {
    cluster: &'a MiniCluster,
    program: &'a str,
    accepted: &'a [Accepted],
    used: Vec<bool>,
    wrong: Vec<String>,
}

/// Stands for something that each tool has its own of: `ours` or `stock`.
const OWN: &str = "OWN";

impl<'a> SideBySide<'a> {
    /// A comparison of `program`'s command lines.
    pub fn new(cluster: &'a MiniCluster, program: &'a str, accepted: &'a [Accepted]) -> Self {
        SideBySide { cluster, program, accepted, used: vec![false; accepted.len()], wrong: Vec::new() }
    }

    /// Runs one command line with both; the word `OWN` in it is another one for each.
    pub fn check<A: AsRef<OsStr>>(&mut self, args: &[A]) {
        let has_own = args.iter().any(|arg| arg.as_ref().to_string_lossy().contains(OWN));
        let run = |tool, own: &str| {
            let args: Vec<OsString> = args.iter().map(|arg| replaced(arg.as_ref(), own)).collect();
            let output = match (self.program, tool) {
                // Needs no cluster, and is called otherwise.
                ("ceph-authtool", Tool::Stock) => self.cluster.program("ceph-authtool", &args),
                ("ceph-authtool", Tool::Sepiola) => {
                    self.cluster.sepiola(&[vec!["authtool".into()], args].concat())
                }
                _ => self.cluster.run(tool, self.program, &args),
            };
            Outcome::of(output, tool, has_own.then_some(own))
        };
        let (stock, ours) = (run(Tool::Stock, "stock"), run(Tool::Sepiola, "ours"));
        let line: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
        let shown = format!("{} {}", self.program, line.join(" "));
        let mut differ = |part, stock: &str, ours: &str| {
            if stock == ours {
                return false;
            }
            println!("=== {shown}: {part:?}\n{}", diff(self.cluster, stock, ours));
            let accepted =
                |a: &Accepted| a.part == part && line.windows(a.words.len().max(1)).any(|w| w == a.words);
            match self.accepted.iter().position(accepted) {
                Some(at) => {
                    println!("    accepted: {}", self.accepted[at].why);
                    self.used[at] = true;
                }
                None => self.wrong.push(format!("{shown}: {part:?}\n{}", diff(self.cluster, stock, ours))),
            }
            true
        };
        let status = |outcome: &Outcome| format!("status {:?}\n{}", outcome.status, outcome.words);
        if stock.status != ours.status {
            differ(Part::Status, &status(&stock), &status(&ours));
            return;
        }
        // Each shows its own usage to those who got it wrong.
        if stock.shows_usage && !ours.words.is_empty() {
            return;
        }
        differ(Part::Output, &stock.output, &ours.output);
        differ(Part::Words, &stock.words, &ours.words);
    }

    /// Panics if something differed that is not accepted, or if an accepted difference did not show.
    pub fn finish(self) {
        let unused: Vec<_> = self.accepted.iter().zip(&self.used).filter(|(_, used)| !**used).collect();
        assert!(self.wrong.is_empty(), "differences:\n{}", self.wrong.join("\n"));
        assert!(unused.is_empty(), "accepted differences that are none: {unused:?}");
    }
}

fn replaced(arg: &OsStr, own: &str) -> OsString {
    match arg.to_str() {
        Some(text) => text.replace(OWN, own).into(),
        None => arg.to_owned(),
    }
}

/// What counts of what a tool printed.
struct Outcome {
    status: Option<i32>,
    output: String,
    words: String,
    shows_usage: bool,
}

impl Outcome {
    fn of(output: Output, tool: Tool, own: Option<&str>) -> Self {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            own.map_or_else(|| text.clone(), |own| text.replace(own, OWN))
        };
        let errors = text(&output.stderr);
        let counts = |line: &&str| match tool {
            // The stock tool repeats the errno in a line or two of their own.
            Tool::Stock => ![
                "error 2",
                "error 1",
                "error during ",
                "error from ",
                "Error reading section",
                "Error inserting",
            ]
            .iter()
            .any(|s| line.starts_with(s)),
            Tool::Sepiola => !line.starts_with("hint: "),
        };
        Outcome {
            status: output.status.code(),
            // Whether the last line ends is the stock tools' whim.
            output: text(&output.stdout).trim_end().to_owned(),
            words: errors
                .lines()
                .map(str::trim)
                .filter(counts)
                .collect::<Vec<_>>()
                .join("\n")
                .trim_end()
                .to_owned(),
            shows_usage: errors.contains("usage: rados")
                || text(&output.stdout).starts_with("usage: ceph-authtool"),
        }
    }
}

fn diff(cluster: &MiniCluster, stock: &str, ours: &str) -> String {
    let file = |name: &str, text: &str| {
        let path = cluster.scratch(name);
        fs::write(&path, format!("{text}\n")).expect("a file");
        path
    };
    let (stock, ours) = (file("stock.txt", stock), file("ours.txt", ours));
    let run =
        Invocation::new("diff").args(["-u", "--label", "stock", "--label", "ours"]).arg(stock).arg(ours);
    let ended = run.run(&cluster.scratch(""), Deadline::after(std::time::Duration::from_secs(10)));
    ended.map_or_else(|e| e.to_string(), |output| output.text())
}

/// Bytes as an argument.
pub fn bytes(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}
