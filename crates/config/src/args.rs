//! `CEPH_ARGS` and `--option value` on the command line.

use std::{ffi::OsString, fmt};

use crate::{
    conf_file::option_name,
    known::{Form, known_option},
    value::parse_bool,
};

/// Arguments after options of ceph.conf were taken out of them.
#[derive(Default, PartialEq, Eq)]
pub struct SplitArgs {
    /// Options by name, in order.
    pub options: Vec<(String, String)>,
    /// Everything else, in order.
    pub rest: Vec<OsString>,
}

impl fmt::Debug for SplitArgs {
    /// Names of options without values: one of them may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.options.iter().map(|(name, _)| name).collect();
        f.debug_struct("SplitArgs").field("options", &names).field("rest", &self.rest).finish()
    }
}

/// Takes `--name value`, `--name=value` and a bare boolean `--name` out of `args` where `name` is an option
/// that Sepiola or Ceph knows; leaves the rest for the program's own parser, bytes that are no text included: names of
/// objects are bytes.
pub fn split_ceph_args(args: impl IntoIterator<Item = impl Into<OsString>>) -> SplitArgs {
    let mut split = SplitArgs::default();
    let mut args = args.into_iter().map(Into::<OsString>::into).peekable();
    while let Some(arg) = args.next() {
        if arg == "--" {
            split.rest.push(arg);
            split.rest.extend(args);
            break;
        }
        let Some(flag) = arg.to_str().and_then(|arg| arg.strip_prefix("--")) else {
            split.rest.push(arg);
            continue;
        };
        let (name, inline) = match flag.split_once('=') {
            Some((name, value)) => (option_name(name), Some(value.to_owned())),
            None => (option_name(flag), None),
        };
        // These are flags of every tool, parsed with its own.
        let own = matches!(name.as_str(), "keyring" | "host");
        // `--no-log-to-file` is `--log-to-file false`.
        let negated = name.strip_prefix("no_").and_then(known_option).filter(|o| o.form == Form::Bool);
        if let (Some(info), None) = (negated, &inline) {
            split.options.push((info.name.to_owned(), "false".to_owned()));
            continue;
        }
        match known_option(&name) {
            Some(info) if !own => {
                let value = match inline {
                    Some(value) => value,
                    None if info.form == Form::Bool => {
                        match args.next_if(|v| v.to_str().is_some_and(|v| parse_bool(v).is_some())) {
                            Some(value) => text(value),
                            None => "true".to_owned(),
                        }
                    }
                    None => text(args.next().unwrap_or_default()),
                };
                split.options.push((name, value));
            }
            _ => split.rest.push(arg),
        }
    }
    split
}

/// Values of options are text.
fn text(value: OsString) -> String {
    value.into_string().unwrap_or_else(|bytes| bytes.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> SplitArgs {
        split_ceph_args(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn options_leave_and_the_rest_stays() {
        let s = split("-p pool --mon-host 1.2.3.4 put --ms_client_mode=secure a b --mon_allow_pool_delete");
        assert_eq!(s.rest, ["-p", "pool", "put", "a", "b"]);
        assert_eq!(
            s.options,
            [("mon_host", "1.2.3.4"), ("ms_client_mode", "secure"), ("mon_allow_pool_delete", "true")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
        );
        assert_eq!(split("--no-log-to-file").options, [("log_to_file".to_owned(), "false".to_owned())]);
        assert_eq!(split("--no-mon-config").rest, ["--no-mon-config"]);
        assert_eq!(split("-- --mon-host x").rest, ["--", "--mon-host", "x"]);
    }
}
