//! `CEPH_ARGS` and `--option value` on the command line.

use std::{ffi::OsString, fmt, path::PathBuf};

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

/// What `CEPH_ARGS` says of where the cluster is and who asks, in the forms that Ceph's tools take. Of what is given twice
/// the later counts; flags of other tools are passed over.
#[derive(Default, PartialEq, Eq)]
pub struct CephArgs {
    /// `-c`, `--conf`.
    pub conf: Option<PathBuf>,
    /// `-n`, `--name`; `--id`, `--user` for `client.ID`.
    pub name: Option<String>,
    /// Options by name, in order; `-k` and `-m` are `keyring` and `mon_host`.
    pub options: Vec<(String, String)>,
}

impl CephArgs {
    /// Reads the variable; nothing if it is not set.
    pub fn from_env() -> Self {
        Self::parse(&std::env::var("CEPH_ARGS").unwrap_or_default())
    }

    /// Reads a line of arguments.
    pub fn parse(line: &str) -> Self {
        let SplitArgs { options, rest } = split_ceph_args(line.split_whitespace());
        let mut args = CephArgs { options, ..CephArgs::default() };
        // What came from text is text.
        let mut words = rest.into_iter().filter_map(|word| word.into_string().ok());
        while let Some(word) = words.next() {
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (word, None),
            };
            let mut value = || inline.clone().or_else(|| words.next());
            let mut option = |name: &str, value: Option<String>| {
                args.options.extend(value.map(|value| (name.to_owned(), value)));
            };
            match flag.as_str() {
                "-c" | "--conf" => args.conf = value().map(Into::into),
                "-n" | "--name" => args.name = value(),
                "--id" | "--user" => args.name = value().map(|id| format!("client.{id}")),
                "-k" | "--keyring" => option("keyring", value()),
                "-m" => option("mon_host", value()),
                _ => {}
            }
        }
        args
    }
}

impl fmt::Debug for CephArgs {
    /// As [`SplitArgs`]: without values of options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.options.iter().map(|(name, _)| name).collect();
        let mut shown = f.debug_struct("CephArgs");
        shown.field("conf", &self.conf).field("name", &self.name).field("options", &names).finish()
    }
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

    #[test]
    fn flags_of_ceph_args_come_in_every_form() {
        let line = "-c /a/ceph.conf --id=x --keyring /k -m 1.2.3.4 --format json --nonsense=1 --debug_ms=1";
        let all = CephArgs::parse(line);
        assert_eq!((all.conf, all.name), (Some("/a/ceph.conf".into()), Some("client.x".to_owned())));
        let options = [("debug_ms", "1"), ("keyring", "/k"), ("mon_host", "1.2.3.4")];
        assert_eq!(all.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for (line, name) in [("-n osd.3", "osd.3"), ("--user=y", "client.y"), ("--id a --name=mon.", "mon.")]
        {
            assert_eq!(CephArgs::parse(line).name.as_deref(), Some(name), "{line}");
        }
        assert_eq!(CephArgs::parse("--conf=/b").conf, Some("/b".into()));
        assert_eq!(CephArgs::parse("-k /x").options, [("keyring".to_owned(), "/x".to_owned())]);
        assert!(!format!("{:?}", CephArgs::parse("--key=secret")).contains("secret"));
    }
}
