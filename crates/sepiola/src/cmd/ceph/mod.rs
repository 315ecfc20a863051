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
pub fn run(args: CephArgs, options: ConfigOptions) -> CmdResult {
    // clap stops at the first word of the command, so that --yes-i-really-mean-it reaches it; the form of
    // output may stand behind it as well.
    let (words, late_format) = take_format(&args.command)?;
    let words = if args.status { vec!["status".to_owned()] } else { words };
    if words.is_empty() {
        return Err(Failure::errno(
            sepiola_wire::Errno::EINVAL,
            "no command: try `sepiola ceph status` or `-s`",
        ));
    }
    let input = args.input.as_ref().map(std::fs::read).transpose()?.unwrap_or_default();
    let format = late_format.or(args.format);
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

fn take_format(words: &[String]) -> Result<(Vec<String>, Option<Format>), Failure> {
    let parse = |text: &str| {
        <Format as clap::ValueEnum>::from_str(text, true)
            .map_err(|_| Failure::errno(sepiola_wire::Errno::EINVAL, format!("unknown format `{text}`")))
    };
    let mut rest = Vec::new();
    let mut format = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "-f" || word == "--format" {
            format = Some(parse(words.next().map_or("", String::as_str))?);
        } else if let Some(value) = word.strip_prefix("--format=") {
            format = Some(parse(value)?);
        } else {
            rest.push(word.clone());
        }
    }
    Ok((rest, format))
}
