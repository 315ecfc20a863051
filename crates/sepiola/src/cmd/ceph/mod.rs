//! `sepiola ceph`: monitor commands as `ceph` spells them. The monitor describes its commands; the command
//! line is bound to a description here and sent as JSON, so that every command of every monitor works.

mod bind;
mod describe;

use std::io::Write;

use clap::Args;
use serde_json::Value;

use crate::{
    cli::{ConnectArgs, Format},
    connect::{ConfigOptions, runtime},
    failure::{CmdResult, Failure},
};

/// Flags of `ceph`.
#[derive(Debug, Args)]
pub struct CephArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Show the cluster's status.
    #[arg(short = 's', long)]
    pub status: bool,
    /// The form of output; the monitor's own if not given.
    #[arg(short = 'f', long, value_enum)]
    pub format: Option<Format>,
    /// Send this file with the command.
    #[arg(short = 'i', long = "in-file", value_name = "FILE")]
    pub input: Option<std::path::PathBuf>,
    /// Write the answer to this file.
    #[arg(short = 'o', long = "out-file", value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
    /// A command, e.g. osd tree.
    #[arg(value_name = "COMMAND", allow_hyphen_values = true, trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// Sends one command and prints the answer.
pub fn run(mut args: CephArgs, options: ConfigOptions) -> CmdResult {
    take_options(&mut args)?;
    let words = if args.status { vec!["status".to_owned()] } else { args.command.clone() };
    if words.is_empty() {
        return Err(invalid("no command: try `sepiola ceph status` or `-s`".to_owned()));
    }
    let input = args.input.as_ref().map(std::fs::read).transpose()?.unwrap_or_default();
    let format = args.format;
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        let descriptions = rados.mon_command(r#"{"prefix": "get_command_descriptions"}"#, "").await?;
        let descriptions = describe::parse(&descriptions.output)?;
        let mut command = bind::bind(&words, &descriptions)?;
        if let Some(format) = format {
            let name = match format {
                Format::Plain => "plain",
                Format::Json => "json",
                Format::JsonPretty => "json-pretty",
            };
            command.insert("format".to_owned(), name.into());
        }
        let command = Value::from(command).to_string();
        let (errno, status, output) = match rados.mon_command(command, input).await {
            Ok(done) => (None, done.status, done.output),
            Err(sepiola_client::Error::Command { errno, status, output }) => (Some(errno), status, output),
            Err(other) => return Err(other.into()),
        };
        print(&args, format, &output)?;
        match errno {
            Some(errno) if status.is_empty() => {
                Err(Failure::errno(errno, format!("Error {errno:?}: {errno}")))
            }
            Some(errno) => Err(Failure::errno(errno, format!("Error {errno:?}: {}", status.trim_end()))),
            None if status.is_empty() => Ok(()),
            None => {
                eprintln!("{}", status.trim_end());
                Ok(())
            }
        }
    })
}

fn print(args: &CephArgs, format: Option<Format>, output: &[u8]) -> CmdResult {
    if let Some(file) = &args.output {
        return Ok(std::fs::write(file, output)?);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(output)?;
    if format.is_some_and(Format::is_json) && !output.ends_with(b"\n") {
        out.write_all(b"\n")?;
    }
    Ok(())
}

type Take = fn(&mut CephArgs, &str) -> CmdResult;

/// Options behind the first word of the command. clap stops there, so that options of commands
/// (`--yes-i-really-mean-it`) reach the monitor; the stock tool takes its own ones anywhere.
fn take_options(args: &mut CephArgs) -> CmdResult {
    let mut words = std::mem::take(&mut args.command).into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            args.command.extend(words);
            break;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let take: Take = match name {
            "-f" | "--format" => |args, value| {
                let format = <Format as clap::ValueEnum>::from_str(value, true);
                args.format = Some(format.map_err(|_| invalid(format!("unknown format `{value}`")))?);
                Ok(())
            },
            "-i" | "--in-file" => |args, value| set(&mut args.input, value),
            "-o" | "--out-file" => |args, value| set(&mut args.output, value),
            "-c" | "--conf" => |args, value| set(&mut args.connect.conf, value),
            "-k" | "--keyring" => |args, value| set(&mut args.connect.keyring, value),
            "-n" | "--name" => |args, value| set(&mut args.connect.name, value),
            "--id" | "--user" => |args, value| set(&mut args.connect.id, value),
            "-m" => |args, value| set(&mut args.connect.mon, value),
            _ => {
                args.command.push(word);
                continue;
            }
        };
        let value =
            value.or_else(|| words.next()).ok_or_else(|| invalid(format!("{word}: needs a value")))?;
        take(args, &value)?;
    }
    Ok(())
}

fn set<T: for<'a> From<&'a str>>(slot: &mut Option<T>, value: &str) -> CmdResult {
    *slot = Some(value.into());
    Ok(())
}

fn invalid(message: String) -> Failure {
    Failure::errno(sepiola_wire::Errno::EINVAL, message)
}
