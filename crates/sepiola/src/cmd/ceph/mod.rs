//! `sepiola ceph`: commands of monitors, OSDs and admin sockets as `ceph` spells them. Whoever is asked describes
//! the commands it has; the command line is bound to a description here and sent as JSON, so that every command
//! of every monitor works.

mod bind;
mod daemon;
mod describe;
mod options;

use std::io::Write;

use clap::Args;
use sepiola_client::{CommandOutput, Error, OsdId, PgId, Rados};
use serde_json::{Map, Value, json};

use crate::{
    cli::{ConnectArgs, Format},
    connect::{ConfigOptions, runtime},
    failure::{CmdResult, Failure},
};

const DESCRIBE: &str = r#"{"prefix": "get_command_descriptions"}"#;

const COMMANDS: &str = "\
COMMAND is one of a monitor (`sepiola ceph help` lists them, `help osd pool` those that begin so), or
  tell osd.N|PG|mon.X COMMAND   asks one daemon
  daemon NAME|PATH COMMAND      asks a daemon on this machine through its admin socket
  ping mon.X                    how one monitor is";

/// Flags of `ceph`.
#[derive(Debug, Args)]
#[command(after_help = COMMANDS, disable_version_flag = true)]
pub struct CephArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Show the cluster's status.
    #[arg(short = 's', long)]
    pub status: bool,
    /// The form of output; the monitor's own if not given.
    #[arg(short = 'f', long, value_enum)]
    pub format: Option<Format>,
    /// Send this file with the command; - is standard input.
    #[arg(short = 'i', long = "in-file", value_name = "FILE")]
    pub input: Option<std::path::PathBuf>,
    /// Write the answer to this file; - is standard output.
    #[arg(short = 'o', long = "out-file", value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
    /// How long to try to reach a monitor.
    #[arg(long, value_name = "SECONDS")]
    pub connect_timeout: Option<u64>,
    /// Ask the daemon behind this admin socket.
    #[arg(long, value_name = "PATH")]
    pub admin_daemon: Option<std::path::PathBuf>,
    /// Show the version.
    #[arg(short = 'v', long)]
    pub version: bool,
    /// Help was asked for behind a command.
    #[arg(skip)]
    pub help_wanted: bool,
    /// A command, e.g. osd tree.
    #[arg(value_name = "COMMAND", allow_hyphen_values = true, trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// Who is asked.
enum Target {
    Monitors,
    Osd(OsdId),
    Pg(PgId),
}

/// Sends one command and prints the answer.
pub fn run(mut args: CephArgs, mut options: ConfigOptions) -> CmdResult {
    options::take(&mut args)?;
    if args.version {
        say!("{}", crate::cli::version());
        return Ok(());
    }
    let mut words = std::mem::take(&mut args.command);
    if let Some(socket) = &args.admin_daemon {
        return daemon::ask(socket, &words, &args);
    }
    if args.status {
        words = vec!["status".to_owned()];
    }
    match words.first().map(String::as_str) {
        None if args.help_wanted => words = vec!["help".to_owned()],
        None => return Err(invalid("no command: try `sepiola ceph status` or `sepiola ceph help`")),
        Some("daemon") => {
            let [_, target, _, ..] = &words[..] else {
                return Err(invalid("daemon NAME|PATH COMMAND: a part of it is missing"));
            };
            return daemon::ask(&daemon::find(target, &args, &options)?, &words[2..], &args);
        }
        Some(_) => {}
    }
    let input = match &args.input {
        None => Vec::new(),
        Some(file) if file.as_os_str() == "-" => {
            let mut input = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut input)?;
            input
        }
        Some(file) => {
            let failed = |e: std::io::Error| Failure::new(format!("cannot read {}: {e}", file.display()));
            std::fs::read(file).map_err(failed)?
        }
    };
    if let Some(seconds) = args.connect_timeout {
        options.set_command_line("client_mount_timeout", seconds.to_string());
    }
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        if let ["ping", monitor] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            let name = monitor.strip_prefix("mon.").ok_or_else(|| invalid("ping mon.NAME"))?;
            return print(&args, rados.ping_monitor(name).await?.as_bytes());
        }
        let target = take_target(&mut words)?;
        let help = args.help_wanted || words.first().is_some_and(|word| word == "help");
        let described = send(&rados, &target, DESCRIBE.to_owned(), Vec::new()).await?;
        let descriptions = describe::parse(&described.output)?;
        if help {
            let prefix: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "help").collect();
            return bind::help(&prefix.join(" "), &descriptions);
        }
        let command = with_format(bind::bind(&words, &descriptions)?, args.format);
        answer(&args, send(&rados, &target, command, input).await)
    })
}

/// Takes `tell TARGET` off the front; the monitors are asked where there is none.
fn take_target(words: &mut Vec<String>) -> Result<Target, Failure> {
    if words.first().is_none_or(|word| word != "tell") {
        return Ok(Target::Monitors);
    }
    if words.len() < 3 {
        return Err(invalid("tell osd.N|PG|mon.X COMMAND: a part of it is missing"));
    }
    let name = &words[1];
    let target = match name.split_once('.') {
        // There is one monitor, and any of them answers for all.
        Some(("mon", _)) => Some(Target::Monitors),
        Some(("osd", id)) => id.parse().ok().map(|id| Target::Osd(OsdId(id))),
        _ => name.parse().ok().map(Target::Pg),
    };
    let target = target.ok_or_else(|| invalid(format!("tell: `{name}` is none of osd.N, PG, mon.X")))?;
    words.drain(..2);
    Ok(target)
}

async fn send(
    rados: &Rados,
    target: &Target,
    command: String,
    input: Vec<u8>,
) -> Result<CommandOutput, Error> {
    match *target {
        Target::Monitors => rados.mon_command(command, input).await,
        Target::Osd(osd) => rados.osd_command(osd, command, input).await,
        Target::Pg(pg) => rados.pg_command(pg, command, input).await,
    }
}

/// The text of a command, with the format that was asked for.
fn with_format(mut command: Map<String, Value>, format: Option<Format>) -> String {
    let name = match format {
        None => None,
        Some(Format::Plain) => Some("plain"),
        Some(Format::Json) => Some("json"),
        Some(Format::JsonPretty) => Some("json-pretty"),
    };
    if let Some(name) = name {
        command.insert("format".to_owned(), name.into());
    }
    json!(command).to_string()
}

/// Prints what came back: output to where it belongs, the status to standard error.
fn answer(args: &CephArgs, reply: Result<CommandOutput, Error>) -> CmdResult {
    let (errno, status, output) = match reply {
        Ok(done) => (None, done.status, done.output),
        Err(Error::Command { errno, status, output }) => (Some(errno), status, output),
        Err(other) => return Err(other.into()),
    };
    print(args, &output)?;
    let status = status.trim_end();
    match errno {
        Some(errno) if status.is_empty() => Err(Failure::errno(errno, format!("Error {errno:?}: {errno}"))),
        Some(errno) => Err(Failure::errno(errno, format!("Error {errno:?}: {status}"))),
        None => {
            if !status.is_empty() {
                eprintln!("{status}");
            }
            Ok(())
        }
    }
}

fn print(args: &CephArgs, output: &[u8]) -> CmdResult {
    if let Some(file) = args.output.as_ref().filter(|file| file.as_os_str() != "-") {
        return Ok(std::fs::write(file, output)?);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(output)?;
    if args.format.is_some_and(Format::is_json) && !output.ends_with(b"\n") {
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::errno(sepiola_wire::Errno::EINVAL, message)
}
