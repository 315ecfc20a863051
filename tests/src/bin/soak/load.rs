//! A client's process, as the program sees it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use sepiola_tests::{Deadline, Failure, Result};

use crate::protocol::{OpCount, Order, Told};

/// How long a client may take to hear an order, which waits for no operation.
const ACK_TIME: Duration = Duration::from_secs(20);
/// Clients report every second; one that is silent for so long hangs as a whole.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a client may take to end: an operation's deadline, and a little more.
const STOP_TIME: Duration = Duration::from_secs(75);
/// A client that fails all the time need not say so a million times.
const MAX_PROBLEMS: usize = 100;

/// A running client.
pub struct LoadClient {
    /// Whose library it uses.
    pub name: &'static str,
    child: Child,
    orders: Option<ChildStdin>,
    heard: Arc<Heard>,
    own_problems: Vec<String>,
}

struct Heard {
    told: Mutex<Everything>,
    acked: Condvar,
}

struct Everything {
    acks: Vec<String>,
    ops: BTreeMap<String, OpCount>,
    problems: Vec<String>,
    last: Instant,
}

impl LoadClient {
    /// Starts it; it is at work soon after.
    pub fn start(name: &'static str, plan: &Path, dir: &Path) -> Result<Self> {
        let log = dir.join(format!("{name}.log"));
        let errors = File::create(&log).map_err(Failure::file(&log))?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if name == "python" {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin/soak/librados_client.py");
            command.args(["/usr/bin/python3", script]);
        } else {
            command.arg(std::env::current_exe().map_err(|e| Failure::new(e.to_string()))?).arg("client");
        }
        command.arg(plan).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(|e| Failure::new(format!("client {name}: {e}")))?;
        let everything =
            Everything { acks: Vec::new(), ops: BTreeMap::new(), problems: Vec::new(), last: Instant::now() };
        let heard = Arc::new(Heard { told: Mutex::new(everything), acked: Condvar::new() });
        let output = child.stdout.take().expect("it is piped");
        thread::spawn({
            let heard = heard.clone();
            move || heard.listen(BufReader::new(output))
        });
        Ok(LoadClient { name, orders: child.stdin.take(), child, heard, own_problems: Vec::new() })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives an order and waits until it is in force.
    pub fn order(&mut self, order: Order) {
        let said = self.orders.as_mut().is_some_and(|orders| writeln!(orders, "{order}").is_ok());
        if !said || !self.heard.wait_for_ack(&order.to_string()) {
            self.own_problems.push(format!("did not hear `{order}`"));
        }
    }

    /// Notes if it has ended or hangs as a whole.
    pub fn check(&mut self) {
        let problem = match self.child.try_wait() {
            Ok(None) if self.heard.silence() > SILENCE => "reports nothing".to_owned(),
            Ok(None) => return,
            Ok(Some(status)) => format!("ended: {status}"),
            Err(e) => e.to_string(),
        };
        if self.own_problems.last() != Some(&problem) {
            self.own_problems.push(problem);
        }
    }

    /// Lets it finish what is in flight.
    pub fn stop(&mut self) {
        self.order(Order::Stop);
        let deadline = Deadline::after(STOP_TIME);
        let ended = deadline.retry(|| match self.child.try_wait() {
            Ok(Some(status)) => Ok(status),
            _ => Err(Failure::new("did not end")),
        });
        match ended {
            Ok(status) if status.success() => {}
            Ok(status) => self.own_problems.push(format!("ended: {status}")),
            Err(e) => self.own_problems.push(e.to_string()),
        }
    }

    /// What it has done.
    pub fn ops(&self) -> BTreeMap<String, OpCount> {
        self.heard.told.lock().expect("no panic").ops.clone()
    }

    /// What was wrong.
    pub fn problems(&self) -> Vec<String> {
        let told = self.heard.told.lock().expect("no panic");
        self.own_problems.iter().chain(&told.problems).cloned().collect()
    }
}

impl Drop for LoadClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Heard {
    fn listen(&self, lines: impl BufRead) {
        for line in lines.lines().map_while(std::io::Result::ok) {
            let mut told = self.told.lock().expect("no panic");
            told.last = Instant::now();
            match serde_json::from_str(&line) {
                Ok(Told::Ack { order }) => {
                    told.acks.push(order);
                    self.acked.notify_all();
                }
                Ok(Told::Counts { ops }) => told.ops = ops,
                Ok(Told::Problem { text }) if told.problems.len() < MAX_PROBLEMS => {
                    eprintln!("# problem: {text}");
                    told.problems.push(text);
                }
                Ok(Told::Problem { .. }) => {}
                Err(e) => told.problems.push(format!("said something odd ({e}): {line}")),
            }
        }
    }

    fn wait_for_ack(&self, order: &str) -> bool {
        let told = self.told.lock().expect("no panic");
        let waiting = |told: &mut Everything| !told.acks.iter().any(|ack| ack == order);
        let (mut told, _) = self.acked.wait_timeout_while(told, ACK_TIME, waiting).expect("no panic");
        let heard = !waiting(&mut told);
        told.acks.retain(|ack| ack != order);
        heard
    }

    fn silence(&self) -> Duration {
        self.told.lock().expect("no panic").last.elapsed()
    }
}
