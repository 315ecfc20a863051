//! The README's commands and programs, run as they are written there: in a folder and a home of their own,
//! with the program of this build at `target/release/sepiola` and a folder of its own at `/tmp/c`.
//!
//! `/path/to/sepiola` in a Cargo.toml is replaced, as a reader has to. When this test is built in the dev profile,
//! `--release` is left out of cargo's commands.

mod blocks;

use std::{
    env, fs,
    os::unix::fs::{MetadataExt, symlink},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use blocks::{Block, blocks, commands, without_comment};
use sepiola_tests::{Deadline, Invocation, Output, Release, Result, WorkDir, sepiola_binary};

/// Where the README keeps its cluster.
const CLUSTER: &str = "/tmp/c";
/// For one command; projects are built by the first.
const TIME: Duration = Duration::from_secs(20 * 60);
/// Commands of the README that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[("tests/run", "it runs this test")];
/// Commands that belong into the reader's project; others of cargo into the workspace.
const IN_PROJECT: &[&str] = &["cargo run --release", "cargo test --release"];
/// What some of them print, beside succeeding.
const PRINTED: &[(&str, &str)] = &[
    ("target/release/sepiola rados -c /tmp/c/ceph.conf -p test ls", "greeting"),
    ("cargo run --release", "7 bytes"),
];

/// A reader's machine.
struct Reader {
    dir: WorkDir,
    workspace: PathBuf,
    made_mount_point: bool,
}

impl Reader {
    fn new() -> Self {
        let dir = WorkDir::new("readme").unwrap();
        let workspace = fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
        for folder in ["home", "cluster", "checkout/target/release", "project/src", "project/tests"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        symlink(sepiola_binary().unwrap(), dir.path().join("checkout/target/release/sepiola")).unwrap();
        // What the workspace was built with is there without a network.
        fs::copy(workspace.join("Cargo.lock"), dir.path().join("project/Cargo.lock")).unwrap();
        let made_mount_point = fs::create_dir(CLUSTER).is_ok();
        Reader { dir, workspace, made_mount_point }
    }

    /// Where a command is given.
    fn folder(&self, command: &str) -> PathBuf {
        if IN_PROJECT.contains(&command) {
            self.dir.path().join("project")
        } else if command.starts_with("cargo ") {
            self.workspace.clone()
        } else {
            self.dir.path().join("checkout")
        }
    }

    /// Writes a file of the reader's project.
    fn write(&self, block: &Block) {
        let file = block.file().expect("a block of a project starts with the name of its file");
        let text = block.text.replace("/path/to/sepiola", &self.workspace.to_string_lossy());
        fs::write(self.dir.path().join("project").join(file), text).unwrap();
    }

    /// Runs a line of the shell. `/tmp/c` is the reader's, whatever others keep there.
    fn run(&self, line: &str) -> Result<Output> {
        let own = r#"mount --bind "$0/cluster" "$1" && cd "$2" && exec bash -euc "$3""#;
        let mut shell = Invocation::new("unshare").args(["--mount", "--propagation", "private"]);
        if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
            shell = shell.args(["--user", "--map-root-user"]);
        }
        let folder = self.folder(without_comment(line));
        let line = if cfg!(debug_assertions) { line.replace(" --release", "") } else { line.to_owned() };
        shell = shell.args(["bash", "-euc", own]).arg(self.dir.path()).arg(CLUSTER).arg(&folder).arg(&line);
        let home = PathBuf::from(env::var_os("HOME").unwrap_or_default());
        let kept = |name: &str, path: PathBuf| env::var_os(name).map_or(path, PathBuf::from);
        shell = shell
            .env("HOME", self.dir.path().join("home"))
            .env("CARGO_HOME", kept("CARGO_HOME", home.join(".cargo")))
            .env("RUSTUP_HOME", kept("RUSTUP_HOME", home.join(".rustup")));
        // The reader's project has its own target folder. Here it shares the workspace's, and in the dev profile
        // its settings, so that only the crates of this repository are built again.
        shell = shell
            .env("CARGO_TARGET_DIR", kept("CARGO_TARGET_DIR", self.workspace.join("target")))
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
        shell.run(self.dir.path(), Deadline::after(TIME))?.success()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The README ends its cluster itself, unless a command before has failed.
        if thread::panicking() {
            let _ = self.run("target/release/sepiola cluster down --dir /tmp/c");
        }
        if self.made_mount_point {
            let _ = fs::remove_dir(CLUSTER);
        }
    }
}

#[test]
fn every_command_and_program_works_as_written() {
    // Two lines of the README are for Ceph's own tools.
    Release::Installed.programs().unwrap();
    let reader = Reader::new();
    let readme = fs::read_to_string(reader.workspace.join("README.md")).unwrap();
    let mut not_run: Vec<&str> = NOT_RUN.iter().map(|(command, _)| *command).collect();
    let mut silent: Vec<&str> = PRINTED.iter().map(|(command, _)| *command).collect();
    for block in blocks(&readme) {
        if block.language != "sh" {
            reader.write(&block);
            continue;
        }
        for line in commands(&block.text) {
            let command = without_comment(line);
            if NOT_RUN.iter().any(|(name, _)| *name == command) {
                not_run.retain(|name| *name != command);
                continue;
            }
            let begun = Instant::now();
            let output = reader.run(line).unwrap_or_else(|e| panic!("{e}"));
            println!("$ {command}   # {:.1} s", begun.elapsed().as_secs_f64());
            if let Some((_, text)) = PRINTED.iter().find(|(name, _)| *name == command) {
                output.prints(text).unwrap_or_else(|e| panic!("{e}"));
                silent.retain(|name| *name != command);
            }
        }
    }
    assert_eq!(not_run, [""; 0], "no longer in the README");
    assert_eq!(silent, [""; 0], "no longer in the README");
    assert_eq!(fs::read_dir(reader.dir.path().join("cluster")).unwrap().count(), 0, "it was purged");
}
