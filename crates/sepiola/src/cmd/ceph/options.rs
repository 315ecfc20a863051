//! The tool's own options behind the first word of a command. clap stops there, so that options of commands
//! (`--yes-i-really-mean-it`) reach the monitor; the stock tool takes its own ones anywhere.

use clap::ValueEnum;

use super::{CephArgs, invalid};
use crate::{cli::Format, failure::CmdResult};

type Take = fn(&mut CephArgs, &str) -> CmdResult;

/// Takes options out of the command's words.
pub fn take(args: &mut CephArgs) -> CmdResult {
    let mut words = std::mem::take(&mut args.command).into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            args.command.extend(words);
            break;
        }
        match word.as_str() {
            "-s" | "--status" => {
                args.status = true;
                continue;
            }
            "-h" | "--help" => {
                args.help_wanted = true;
                continue;
            }
            _ => {}
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let take: Take = match name {
            "-f" | "--format" => |args, value| {
                let format = Format::from_str(value, true);
                let unknown =
                    || invalid(format!("no output in format `{value}`: plain, json or json-pretty"));
                args.format = Some(format.map_err(|_| unknown())?);
                Ok(())
            },
            "-i" | "--in-file" => |args, value| set(&mut args.input, value),
            "-o" | "--out-file" => |args, value| set(&mut args.output, value),
            "-c" | "--conf" => |args, value| set(&mut args.connect.conf, value),
            "-k" | "--keyring" => |args, value| set(&mut args.connect.keyring, value),
            "-n" | "--name" => |args, value| set(&mut args.connect.name, value),
            "--id" | "--user" => |args, value| set(&mut args.connect.id, value),
            "--cluster" => |args, value| set(&mut args.connect.cluster, value),
            "-m" => |args, value| set(&mut args.connect.mon, value),
            "--connect-timeout" => |args, value| {
                let seconds =
                    value.parse().map_err(|_| invalid(format!("`{value}` is no number of seconds")))?;
                args.connect_timeout = Some(seconds);
                Ok(())
            },
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
