//! The commands of the admin socket, which `ceph tell` shares.

use sepiola_config::SharedConfig;
use sepiola_messenger::{DaemonCommands, render};
use sepiola_wire::{Errno, UTime};
use serde_json::{Map, Value, json};

use super::{options, perf};
use crate::logging;

/// Where counters come from, and what else only one kind of daemon knows.
#[derive(Debug)]
pub enum Daemon {
    /// A monitor.
    Mon(sepiola_mon::MonHandle),
    /// An OSD.
    Osd(sepiola_osd::OsdHandle),
}

/// What a daemon says about itself.
#[derive(Debug)]
pub struct Admin {
    pub(super) config: SharedConfig,
    pub(super) daemon: Daemon,
    pub(super) started: UTime,
    pub(super) baseline: perf::Baseline,
}

/// An answer, or an errno and a line about it.
pub type Answer = Result<Value, (Errno, String)>;

type Run = fn(&Admin, &Value) -> Answer;

struct Command {
    words: &'static str,
    /// Names of arguments; those behind a `?` may be missing, `*` takes all the words that are left.
    args: &'static [&'static str],
    help: &'static str,
    run: Run,
}

const fn command(
    words: &'static str,
    args: &'static [&'static str],
    help: &'static str,
    run: Run,
) -> Command {
    Command { words, args, help, run }
}

/// What every daemon knows, sorted.
const COMMANDS: &[Command] = &[
    command("config diff", &[], "options that are set, and where", options::diff),
    command("config diff get", &["var"], "where one option is set", options::diff),
    command("config get", &["var"], "the value of one option", options::get),
    command("config help", &["?var"], "what an option is for, its type and its default", options::help),
    command("config set", &["var", "*val"], "change an option till this daemon ends", options::set),
    command("config show", &[], "values of all options", options::show),
    command("config unset", &["var"], "take back what was changed with config set", options::unset),
    command("dump_blocked_ops", &[], "operations that have waited for too long", blocked_ops),
    command("dump_historic_ops", &[], "operations that are over; none are kept", |_, _| {
        Ok(json!({ "size": 0, "duration": 0, "ops": [] }))
    }),
    command("dump_ops_in_flight", &[], "operations that are not over", ops),
    command(
        "get_command_descriptions",
        &[],
        "these commands and their arguments, for programs",
        |admin, _| Ok(admin.descriptions()),
    ),
    command("git_version", &[], "the commit that this was built from; not known", |_, _| {
        Ok(json!({ "git_version": "" }))
    }),
    command("help", &[], "these commands", |admin, _| {
        Ok(admin.commands().map(|c| (c.words.to_owned(), json!(c.help))).collect())
    }),
    command(
        "injectargs",
        &["*injected_args"],
        "change options, written as on a command line, till this daemon ends",
        options::inject,
    ),
    // There is no buffer of lines in memory, so there is nothing to do for these two.
    command("log dump", &[], "does nothing: lines are not kept in memory", |_, _| Ok(json!({}))),
    command("log flush", &[], "does nothing: lines are written as they come", |_, _| Ok(json!({}))),
    command("log reopen", &[], "go on in a new log file after the old one was moved", |_, _| {
        match logging::reopen() {
            Ok(()) => Ok(json!({})),
            Err(e) => Err((Errno::EIO, e.to_string())),
        }
    }),
    command("ops", &[], "as dump_ops_in_flight", ops),
    command("perf dump", &["?logger", "?counter"], "counters: all, a group, or one", perf::dump),
    command("perf reset", &["var"], "count anew: a group, or all", perf::reset),
    command("perf schema", &[], "what each counter is, and its unit", perf::schema),
    command("version", &[], "what version this daemon is", |_, _| {
        Ok(json!({ "version": env!("CARGO_PKG_VERSION"), "release": "sepiola", "release_type": "dev" }))
    }),
];

const OF_MONITORS: &[Command] = &[
    command("mon_status", &[], "state of this monitor, and the monitor map as it has it", of_monitor),
    command("sessions", &[], "who is connected to this monitor", of_monitor),
];

const OF_OSDS: &[Command] =
    &[command("status", &[], "which OSD this is, its state and its maps", |admin, _| {
        let Daemon::Osd(osd) = &admin.daemon else { return Err(not_running()) };
        osd.status().ok_or_else(not_running)
    })];

/// Commands of monitors run to completion as they arrive: whoever can ask finds none half done.
fn ops(admin: &Admin, _: &Value) -> Answer {
    Ok(match &admin.daemon {
        Daemon::Osd(osd) => osd.dump_ops_in_flight(),
        Daemon::Mon(_) => json!({ "ops": [], "num_ops": 0 }),
    })
}

/// Those of [`ops`] that have waited for `osd_op_complaint_time`.
fn blocked_ops(admin: &Admin, _: &Value) -> Answer {
    let complaint_time = admin.config.read(|config| config.duration("osd_op_complaint_time"));
    let complaint_time = complaint_time.map_err(|e| (Errno::EINVAL, e.to_string()))?;
    let dumped = match &admin.daemon {
        Daemon::Osd(osd) => osd.dump_blocked_ops(complaint_time),
        Daemon::Mon(_) => None,
    };
    let none = || json!({ "ops": [], "complaint_time": complaint_time.as_secs_f64(), "num_blocked_ops": 0 });
    Ok(dumped.unwrap_or_else(none))
}

fn of_monitor(admin: &Admin, command: &Value) -> Answer {
    let Daemon::Mon(mon) = &admin.daemon else { return Err(not_running()) };
    mon.describe(command).ok_or_else(not_running)
}

fn not_running() -> (Errno, String) {
    (Errno::EAGAIN, "the daemon is not running".to_owned())
}

impl Admin {
    /// For a daemon with this configuration.
    pub fn new(config: SharedConfig, daemon: Daemon) -> Self {
        Admin { config, daemon, started: UTime::now(), baseline: perf::Baseline::default() }
    }

    /// The daemon's name, `osd.0`.
    pub fn name(&self) -> String {
        self.config.read(|config| config.name().to_string())
    }

    /// The daemon.
    pub fn daemon(&self) -> &Daemon {
        &self.daemon
    }

    fn commands(&self) -> impl Iterator<Item = &'static Command> {
        let own = match self.daemon {
            Daemon::Mon(_) => OF_MONITORS,
            Daemon::Osd(_) => OF_OSDS,
        };
        COMMANDS.iter().chain(own)
    }

    /// Answers a request that came through the socket: JSON with a `prefix`, or bare words.
    pub fn answer(&self, request: &str) -> Vec<u8> {
        let command = serde_json::from_str(request).unwrap_or_else(|_| self.bare_words(request));
        match self.run(&command) {
            Some(Ok(answer)) => print(&answer, &command),
            Some(Err((errno, text))) => format!("ERROR: {}\n{text}\n", errno_text(errno)).into_bytes(),
            None => {
                let errno = errno_text(Errno::EINVAL);
                format!("ERROR: {errno}\nno such command: {request}; try help\n").into_bytes()
            }
        }
    }

    /// `config get debug_osd`, as people type it at the socket.
    fn bare_words(&self, request: &str) -> Value {
        let words: Vec<&str> = request.split_whitespace().collect();
        let starts = |c: &&Command| {
            let own: Vec<&str> = c.words.split(' ').collect();
            words.starts_with(&own)
        };
        let Some(found) = self.commands().filter(starts).max_by_key(|c| c.words.len()) else {
            return json!({ "prefix": request });
        };
        let mut command = json!({ "prefix": found.words });
        let mut given = words[found.words.split(' ').count()..].iter();
        for arg in found.args {
            let value = match arg.strip_prefix('*') {
                Some(name) => (name, given.by_ref().copied().collect::<Vec<_>>().join(" ")),
                None => match given.next() {
                    Some(word) => (arg.trim_start_matches('?'), (*word).to_owned()),
                    None => break,
                },
            };
            command[value.0] = value.1.into();
        }
        command
    }
}

impl DaemonCommands for Admin {
    fn knows(&self, prefix: &str) -> bool {
        self.commands().any(|c| c.words == prefix)
    }

    fn run(&self, command: &Value) -> Option<Answer> {
        let prefix = command["prefix"].as_str()?;
        let found = self.commands().find(|c| c.words == prefix)?;
        Some((found.run)(self, command))
    }

    fn descriptions(&self) -> Value {
        let describe = |command: &Command| {
            let mut signature: Vec<Value> = command.words.split(' ').map(Into::into).collect();
            for arg in command.args {
                let name = arg.trim_start_matches(['?', '*']);
                let mut described = json!({ "name": name, "type": "CephString" });
                if arg.starts_with('?') {
                    described["req"] = "false".into();
                }
                if arg.starts_with('*') {
                    described["n"] = "N".into();
                }
                signature.push(described);
            }
            json!({ "sig": signature, "help": command.help, "module": "daemon", "perm": "rw", "flags": 0 })
        };
        self.commands()
            .enumerate()
            .map(|(i, c)| (format!("cmd{i:03}"), describe(c)))
            .collect::<Map<_, _>>()
            .into()
    }
}

/// In the form that was asked for; for people, if none was.
fn print(answer: &Value, command: &Value) -> Vec<u8> {
    let mut text = render(answer, command);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.into_bytes()
}

/// `(2) No such file or directory`.
pub fn errno_text(errno: Errno) -> String {
    let text = std::io::Error::from_raw_os_error(errno.code()).to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    format!("({}) {text}", errno.code())
}

#[cfg(test)]
pub(super) mod tests {
    use sepiola_config::Config;
    use sepiola_wire::{EntityName, OsdId};

    use super::*;

    pub fn osd() -> Admin {
        let config = SharedConfig::new(Config::new(EntityName::osd(OsdId(0))));
        Admin::new(config, Daemon::Osd(Default::default()))
    }

    #[test]
    fn every_command_is_described_with_its_arguments() {
        let described = osd().descriptions();
        let signature = |words: &str| {
            let start: Vec<Value> = words.split(' ').map(Into::into).collect();
            let all = described.as_object().unwrap().values();
            let sig = all.map(|c| c["sig"].as_array().unwrap());
            sig.filter(|sig| sig.starts_with(&start)).min_by_key(|sig| sig.len()).unwrap().clone()
        };
        assert_eq!(signature("config set")[3], json!({"name": "val", "type": "CephString", "n": "N"}));
        assert_eq!(signature("perf dump")[2]["req"], "false");
        assert_eq!(described.as_object().unwrap().len(), COMMANDS.len() + OF_OSDS.len());
    }

    #[test]
    fn what_people_type_is_understood_and_nonsense_is_not() {
        let admin = osd();
        let text = |request: &str| String::from_utf8(admin.answer(request)).unwrap();
        assert_eq!(text("config get spin_us"), "{\n    \"spin_us\": \"0\"\n}\n");
        assert_eq!(
            text(r#"{"prefix": "config get", "var": "spin_us", "format": "json"}"#),
            "{\"spin_us\":\"0\"}\n"
        );
        assert!(text("make coffee").starts_with("ERROR: (22) Invalid argument\n"));
        assert!(text("status").starts_with("ERROR: (11) "), "before the OSD has started");
    }
}
