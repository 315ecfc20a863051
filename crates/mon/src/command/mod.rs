//! Commands: a table of what there is, and one file a family.
//!
//! Text and JSON are rendered here, because the stock tools print what the monitor sends. A command either
//! reads the published state, and is answered on the connection's own task, or it proposes changes and is
//! answered when they are durable.

#[cfg(test)]
mod admin_tests;
mod auth;
mod blocklist;
mod config;
mod config_file;
mod config_key;
#[cfg(test)]
mod config_tests;
mod crush;
mod df;
mod features;
mod format;
mod health;
mod log;
mod mgr;
mod mon;
mod nearest;
mod osd;
mod osd_admin;
mod osd_df;
mod osd_dump;
mod osd_metadata;
mod osd_safety;
mod osd_state;
mod osd_tree;
mod pg;
mod pg_dump;
mod pg_json;
mod pg_list;
mod pg_map;
mod pool;
mod pool_dump;
mod pool_quota;
mod pool_set;
mod signature;
mod status;
mod tell;
#[cfg(test)]
mod tests;

use std::{fmt, ops::Deref};

use bytes::Bytes;
use rand_core::CryptoRng;
use sepiola_proto::MonChange;
use sepiola_wire::{Epoch, Errno, UTime};
use serde_json::{Map, Value, json};

use crate::{
    MonOptions,
    caller::{Caller, allowed},
    service::{sessions::Sessions, stats::ClusterStats},
    state::{Metadata, MonState},
};
use format::Format;
use signature::{Arg, Args};
pub(crate) use tell::{may_tell, tell};

/// A command as it arrived. It may hold keys, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct Request {
    pub words: Vec<String>,
    pub input: Bytes,
}

/// What a command is answered with.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Reply {
    /// 0 or a negative errno.
    pub result: i32,
    /// Goes to the tool's standard error.
    pub status: String,
    /// Goes to the tool's standard output.
    pub output: Bytes,
}

impl fmt::Debug for Reply {
    /// Without the output, which may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("result", &self.result)
            .field("status", &self.status)
            .field("output_len", &self.output.len())
            .finish()
    }
}

impl Reply {
    /// Success with a status text.
    pub fn done(status: impl Into<String>) -> Self {
        Reply { status: status.into(), ..Reply::default() }
    }

    /// Success with output.
    pub fn output(output: impl Into<Bytes>) -> Self {
        Reply { output: output.into(), ..Reply::default() }
    }

    /// Failure.
    pub fn error(errno: Errno, status: impl Into<String>) -> Self {
        Reply { result: errno.to_wire(), status: status.into(), ..Reply::default() }
    }

    /// The same with a status text.
    pub fn with_status(mut self, status: impl Into<String>) -> Self {
        self.status = status.into();
        self
    }
}

/// What a command sees besides itself.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// The state; for a command that changes it, with the changes before it in the same batch.
    pub state: &'a MonState,
    pub stats: &'a ClusterStats,
    pub sessions: &'a Sessions,
    pub options: &'a MonOptions,
    /// What this monitor says about itself and its host.
    pub metadata: &'a Metadata,
    /// When this monitor started.
    pub started: UTime,
    pub now: UTime,
}

impl Surroundings<'_> {
    /// This monitor's place in the monitor map.
    pub fn rank(&self) -> usize {
        self.state.monmap().rank_of(&self.options.name).unwrap_or(0)
    }
}

/// What a handler sees: the command's surroundings, and how it was asked.
pub(crate) struct Context<'a> {
    at: Surroundings<'a>,
    pub caller: &'a Caller,
    pub format: Format,
    pub input: &'a [u8],
}

impl<'a> Deref for Context<'a> {
    type Target = Surroundings<'a>;
    fn deref(&self) -> &Surroundings<'a> {
        &self.at
    }
}

impl Context<'_> {
    /// JSON in the asked form, compact with a newline at its end where `newline` says so.
    fn json(&self, value: &Value, newline: bool) -> Reply {
        let mut out = self.format.json(value);
        if newline && self.format != Format::JsonPretty {
            out.push(b'\n');
        }
        Reply::output(out)
    }

    /// A document that has no plain form: pretty JSON unless compact JSON was asked for.
    fn document(&self, value: &Value) -> Reply {
        if self.plain() { Reply::output(format::pretty(value)) } else { self.json(value, true) }
    }

    /// True unless JSON was asked for.
    fn plain(&self) -> bool {
        self.format == Format::Plain
    }
}

/// What a command proposes: changes, and the reply for when they are durable.
pub(crate) struct Proposal {
    pub reply: Reply,
    pub changes: Vec<MonChange>,
}

impl Proposal {
    fn new(reply: Reply, changes: Vec<MonChange>) -> Self {
        Proposal { reply, changes }
    }
}

impl From<Reply> for Proposal {
    /// Nothing to change.
    fn from(reply: Reply) -> Self {
        Proposal { reply, changes: Vec::new() }
    }
}

type Read = fn(&Context<'_>, &Args) -> Reply;
type Write = fn(&Context<'_>, &Args, &mut dyn CryptoRng) -> Proposal;

#[derive(Clone, Copy)]
enum Run {
    Read(Read),
    Write(Write),
}

/// One command.
struct Command {
    /// The literal words before the arguments; the `prefix`.
    words: &'static str,
    args: &'static [Arg],
    help: &'static str,
    /// The service whose rights are needed.
    module: &'static str,
    /// The rights: letters of `rwx`.
    perm: &'static str,
    run: Run,
}

/// Spellings that older tools use.
const ALIASES: &[(&str, &str)] = &[
    ("osd pool rm", "osd pool delete"),
    ("osd crush rule list", "osd crush rule ls"),
    ("osd blacklist", "osd blocklist"),
    ("osd blacklist ls", "osd blocklist ls"),
    ("osd blacklist clear", "osd blocklist clear"),
    ("auth list", "auth ls"),
    ("auth rm", "auth del"),
    ("auth print-key", "auth get-key"),
    ("auth print_key", "auth get-key"),
    ("config-key put", "config-key set"),
    ("config-key del", "config-key rm"),
    ("config-key list", "config-key ls"),
];

const FAMILIES: &[&[Command]] = &[
    status::COMMANDS,
    health::COMMANDS,
    df::COMMANDS,
    log::COMMANDS,
    mon::COMMANDS,
    osd::COMMANDS,
    osd_dump::COMMANDS,
    osd_metadata::COMMANDS,
    osd_admin::COMMANDS,
    osd_df::COMMANDS,
    osd_safety::COMMANDS,
    pg_list::COMMANDS,
    pg_dump::COMMANDS,
    pg_map::COMMANDS,
    crush::COMMANDS,
    features::COMMANDS,
    mgr::COMMANDS,
    osd_tree::COMMANDS,
    osd_state::COMMANDS,
    blocklist::COMMANDS,
    pool::COMMANDS,
    pool_dump::COMMANDS,
    pool_quota::COMMANDS,
    pool_set::COMMANDS,
    pg::COMMANDS,
    auth::COMMANDS,
    config::COMMANDS,
    config_key::COMMANDS,
];

fn commands() -> impl Iterator<Item = &'static Command> {
    FAMILIES.iter().copied().flatten()
}

fn find(words: &str) -> Option<&'static Command> {
    let by_words = |words: &str| commands().find(|c| c.words == words);
    by_words(words).or_else(|| by_words(ALIASES.iter().find(|(alias, _)| *alias == words)?.1))
}

/// A command that was understood and is allowed.
pub(crate) struct Checked {
    run: Run,
    args: Args,
    format: Format,
    input: Bytes,
}

impl Checked {
    /// True if the command only reads.
    pub fn is_read(&self) -> bool {
        matches!(self.run, Run::Read(_))
    }

    /// Runs the command.
    pub fn run(&self, at: Surroundings<'_>, caller: &Caller, rng: &mut dyn CryptoRng) -> Proposal {
        let context = Context { at, caller, format: self.format, input: &self.input };
        match self.run {
            Run::Read(run) => run(&context, &self.args).into(),
            Run::Write(run) => run(&context, &self.args, rng),
        }
    }
}

/// Parses a command and checks its arguments and the caller's rights.
///
/// # Errors
/// The reply that says what is wrong.
pub(crate) fn check(request: Request, caller: &Caller) -> Result<Checked, Reply> {
    let given = parse(&request.words)?;
    let malformed = |text: &str| Err(Reply::error(Errno::EINVAL, text));
    let prefix = match given.get("prefix").and_then(Value::as_str) {
        None => return malformed("command prefix not found"),
        Some("") => return malformed("command prefix must not be empty"),
        Some(prefix) if !prefix.contains(char::is_alphanumeric) => {
            return malformed("command requires a prefix to be valid");
        }
        Some(prefix) => prefix.to_owned(),
    };
    if prefix == "get_command_descriptions" {
        // Tools ask for it before everything else, whatever the caller may do.
        let run = Run::Read(|_, _| Reply::output(descriptions().to_string().into_bytes()));
        let args = Args::check(Map::new(), &[]).map_err(|e| Reply::error(Errno::EINVAL, e))?;
        return Ok(Checked { run, args, format: Format::Plain, input: request.input });
    }
    let Some(command) = find(&prefix) else {
        return Err(Reply::error(Errno::EINVAL, nearest::unknown(&prefix)));
    };
    let format = Format::parse(given.get("format").and_then(Value::as_str))
        .ok_or_else(|| Reply::error(Errno::EINVAL, "the formats are plain, json and json-pretty"))?;
    let args = Args::check(given, command.args).map_err(|e| Reply::error(Errno::EINVAL, e));
    // Rights come first, so that a caller without them learns nothing about arguments.
    let for_caps = args.as_ref().map(Args::for_caps).unwrap_or_default();
    if !allowed(caller, command.module, Some((&prefix, &for_caps)), command.perm) {
        return Err(Reply::error(Errno::EACCES, "access denied"));
    }
    Ok(Checked { run: command.run, args: args?, format, input: request.input })
}

/// What a command that only reads answers, as JSON. `None` for others.
pub(crate) fn describe(at: Surroundings<'_>, given: &Value) -> Option<Value> {
    let command = find(given["prefix"].as_str()?)?;
    let args = Args::check(given.as_object()?.clone(), command.args).ok()?;
    let checked = Checked { run: command.run, args, format: Format::Json, input: Bytes::new() };
    if !checked.is_read() {
        return None;
    }
    // Whoever asks this way runs the monitor.
    let caller = Caller::administrator();
    serde_json::from_slice(&checked.run(at, &caller, &mut rand::rng()).reply.output).ok()
}

/// Several strings are one text cut into pieces.
fn parse(words: &[String]) -> Result<Map<String, Value>, Reply> {
    let text = words.concat();
    match serde_json::from_str(&text) {
        Ok(Value::Object(given)) => Ok(given),
        _ => {
            // A reply is no place for whatever somebody sent by mistake.
            let shown: String = text.chars().take(200).collect();
            Err(Reply::error(Errno::EINVAL, format!("unparseable JSON {shown}")))
        }
    }
}

/// What `get_command_descriptions` answers. Nothing has flag 8, which would send tools to a manager.
fn descriptions() -> Value {
    let all = commands().map(|c| (c.words, c)).chain(
        // Tools validate against this list, so aliases must be in it.
        ALIASES.iter().filter_map(|(alias, words)| Some((*alias, commands().find(|c| c.words == *words)?))),
    );
    let described = all.enumerate().map(|(i, (words, c))| {
        let entry = json!({
            "sig": signature::describe(words, c.args),
            "help": c.help,
            "module": c.module,
            "perm": c.perm,
            "flags": 0,
        });
        (format!("cmd{i:03}"), entry)
    });
    Value::Object(described.collect())
}

/// What a monitor says to someone who only has its address: its health and its quorum.
pub(crate) fn ping_text(at: Surroundings<'_>) -> String {
    json!({"health": health::assess(&at).json(false), "mon_status": mon::status_json(&at)}).to_string()
}

/// The epoch that a command's acknowledgement names.
pub(crate) fn epoch_of(state: &MonState) -> Epoch {
    state.osdmap().epoch()
}
