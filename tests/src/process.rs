//! Programs that end: by themselves, at a deadline, or with the test.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{Failure, Result};

/// When something must have ended.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// A deadline from now on.
    pub fn after(time: Duration) -> Self {
        Deadline(Instant::now() + time)
    }

    /// True when it is over.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.0
    }

    /// Repeats `attempt` until it gives a value.
    ///
    /// # Errors
    /// The last attempt's failure, when the deadline is over.
    pub fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match attempt() {
                Err(_) if !self.is_over() => thread::sleep(Duration::from_millis(100)),
                done => return done,
            }
        }
    }
}

/// A program with its arguments.
#[derive(Debug, Clone)]
pub struct Invocation {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
}

/// What a program printed before it ended.
#[derive(Debug)]
pub struct Output {
    invocation: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Invocation {
    /// A program without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Invocation { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// More arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A variable of its environment.
    pub fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// The same program run by another one, such as `taskset`, which gets `args` before it.
    pub fn under(mut self, program: impl Into<PathBuf>, args: &[&str]) -> Self {
        let inner = std::mem::replace(&mut self.program, program.into());
        let args = args.iter().map(OsString::from);
        self.args.splice(0..0, args.chain([inner.into_os_string()]));
        self
    }

    fn text(&self) -> String {
        let mut text = self.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for arg in &self.args {
            let _ = write!(text, " {}", arg.to_string_lossy());
        }
        text
    }

    fn command(&self, stdout: File, stderr: File) -> Command {
        let mut command = Command::new("setpriv");
        // Nothing that a test starts may survive it, however the test ends.
        command.args(["--pdeathsig", "KILL"]).arg(&self.program).args(&self.args);
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        // What a developer has set up for another cluster must not leak in.
        command.env_remove("CEPH_CONF").env_remove("CEPH_ARGS").env_remove("CEPH_KEYRING");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the program, with its output in files of `scratch` until it ends. Several may run at once.
    ///
    /// # Errors
    /// If it doesn't start, or doesn't end before the deadline; it is killed then.
    pub fn run(&self, scratch: &Path, deadline: Deadline) -> Result<Output> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = |stream| scratch.join(format!("output-{}-{number}.{stream}", process::id()));
        let (out, err) = (path("out"), path("err"));
        let stdout = File::create(&out).map_err(Failure::file(&out))?;
        let stderr = File::create(&err).map_err(Failure::file(&err))?;
        let mut child = spawn(self, stdout, stderr)?;
        let ended = loop {
            match child.try_wait().map_err(|e| Failure::new(e.to_string()))? {
                Some(status) => break Some(status),
                None if deadline.is_over() => break None,
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let timed_out = ended.is_none();
        let status = match ended {
            Some(status) => status,
            None => end(&mut child)?,
        };
        let read = |path: &Path| fs::read(path).map_err(Failure::file(path));
        let output = Output { invocation: self.text(), status, stdout: read(&out)?, stderr: read(&err)? };
        for path in [&out, &err] {
            // The folder goes as a whole in the end.
            let _ = fs::remove_file(path);
        }
        if timed_out { Err(output.failure("did not end before the deadline")) } else { Ok(output) }
    }

    /// Starts the program as a daemon, with its output in `log`.
    ///
    /// # Errors
    /// If it doesn't start.
    pub fn daemon(&self, log: &Path) -> Result<Daemon> {
        let file = File::create(log).map_err(Failure::file(log))?;
        let other = file.try_clone().map_err(Failure::file(log))?;
        Ok(Daemon { name: self.text(), log: log.to_owned(), child: spawn(self, file, other)? })
    }
}

fn spawn(invocation: &Invocation, stdout: File, stderr: File) -> Result<Child> {
    let child = invocation.command(stdout, stderr).spawn();
    child.map_err(|e| Failure::new(format!("{}: {e}", invocation.text())))
}

fn end(child: &mut Child) -> Result<ExitStatus> {
    child.kill().and_then(|()| child.wait()).map_err(|e| Failure::new(e.to_string()))
}

impl Output {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The output of a program that must have succeeded.
    ///
    /// # Errors
    /// If it did not; with all that it printed.
    pub fn success(self) -> Result<Self> {
        if self.status.success() { Ok(self) } else { Err(self.failure("failed")) }
    }

    /// The output of a program that must have failed, on its own account.
    ///
    /// # Errors
    /// If it succeeded, or was ended by a signal.
    pub fn refused(self) -> Result<Self> {
        match self.status.code() {
            Some(1..) => Ok(self),
            _ => Err(self.failure("should have failed")),
        }
    }

    /// Standard error as text.
    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The output of a program that must have printed `text`.
    ///
    /// # Errors
    /// If it did not.
    pub fn prints(self, text: &str) -> Result<Self> {
        if self.text().contains(text) {
            Ok(self)
        } else {
            Err(self.failure(&format!("should have printed `{text}`")))
        }
    }

    /// A failure with all that was printed.
    pub fn failure(&self, what: &str) -> Failure {
        let part = |name: &str, bytes: &[u8]| match bytes {
            [] => String::new(),
            _ => format!("\n--- {name}\n{}", String::from_utf8_lossy(bytes).trim_end()),
        };
        let printed = part("standard output", &self.stdout) + &part("standard error", &self.stderr);
        Failure::new(format!("`{}` {what} ({}){printed}", self.invocation, self.status))
    }
}

/// A program that runs until it is dropped.
#[derive(Debug)]
pub struct Daemon {
    name: String,
    log: PathBuf,
    child: Child,
}

impl Daemon {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Checks that it still runs.
    ///
    /// # Errors
    /// If it has ended; with the end of its log.
    pub fn check(&mut self) -> Result<()> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let tail = lines[lines.len().saturating_sub(20)..].join("\n");
                Err(Failure::new(format!("`{}` ended ({status})\n{tail}", self.name)))
            }
            Err(e) => Err(Failure::new(e.to_string())),
        }
    }

    /// Kills it with signal 9, as a crash would.
    ///
    /// # Errors
    /// If it can't be waited for.
    pub fn kill(&mut self) -> Result<()> {
        end(&mut self.child).map(drop)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.kill();
    }
}

/// Sends a signal by its name, such as `TERM`. Panics if the process is not there.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.expect("the program kill").success(), "SIG{name} to {pid}");
}
