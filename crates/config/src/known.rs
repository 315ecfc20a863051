//! Every option that Ceph 16.2.15 or 20.2.4 knows, as `ceph config ls` and `config help` of both tell it, and
//! Sepiola's own. Monitors take any of them, because tools and clients of Ceph set and use more than Sepiola
//! honours.

use std::sync::LazyLock;

use crate::options::{OPTIONS, OptionKind, option_info};

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    /// `N` or `N/M`: what is logged, and what is kept in memory.
    DebugLevel,
    Bool,
    Int,
    UInt,
    Float,
    Size,
    Secs,
    Millisecs,
    Addr,
    AddrVec,
    Uuid,
}

/// An option that can be stored by the monitors.
#[derive(Debug, Clone, Copy)]
pub struct KnownOption {
    /// The name with underscores.
    pub name: &'static str,
    /// `str`, `bool`, `uint`, `size`, `secs`, ...
    pub type_name: &'static str,
    /// `basic`, `advanced` or `dev`.
    pub level: &'static str,
    /// True if Ceph's processes follow a change while they run; whether Sepiola's do says [`KnownOption::followed`].
    pub runtime: bool,
    /// True for what a process has to know before it can ask a monitor, such as `mon_host`.
    pub local_only: bool,
    /// The least allowed value, or nothing.
    pub min: &'static str,
    /// The greatest allowed value, or nothing.
    pub max: &'static str,
    /// The allowed words between bars, or nothing.
    pub choices: &'static str,
    default: &'static str,
    daemon_default: &'static str,
    pub(crate) form: Form,
}

impl KnownOption {
    /// The built-in value: Sepiola's where it honours the option, else Ceph's.
    pub fn default_for(&self, is_daemon: bool) -> &'static str {
        match option_info(self.name) {
            Some(ours) => ours.default,
            None if is_daemon && !self.daemon_default.is_empty() => self.daemon_default,
            None => self.default,
        }
    }

    /// True if a running process follows a change: one of Sepiola's, or one of Ceph's where Sepiola does not
    /// honour the option.
    pub fn followed(&self) -> bool {
        option_info(self.name).map_or(self.runtime, |ours| ours.runtime)
    }

    fn read(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        let (name, type_name, level, flags) = (field(), field(), field(), field());
        let (min, max, choices, default, daemon_default) = (field(), field(), field(), field(), field());
        let form = form(name, type_name, default);
        KnownOption {
            name,
            type_name,
            level,
            runtime: flags.contains('R'),
            local_only: flags.contains('N'),
            min,
            max,
            choices,
            default,
            daemon_default,
            form,
        }
    }
}

fn form(name: &str, type_name: &str, default: &str) -> Form {
    match type_name {
        "bool" => Form::Bool,
        "int" => Form::Int,
        "uint" => Form::UInt,
        "float" => Form::Float,
        "size" => Form::Size,
        "secs" => Form::Secs,
        "millisecs" => Form::Millisecs,
        "addr" => Form::Addr,
        "addrvec" => Form::AddrVec,
        "uuid" => Form::Uuid,
        _ if name.starts_with("debug_") && default.contains('/') => Form::DebugLevel,
        _ => Form::Text,
    }
}

/// All of them, sorted by name.
pub fn known_options() -> &'static [KnownOption] {
    static KNOWN: LazyLock<Vec<KnownOption>> = LazyLock::new(|| {
        let mut all: Vec<_> = include_str!("../data/ceph-options.tsv")
            .lines()
            .filter(|l| !l.starts_with('#'))
            .map(KnownOption::read)
            .collect();
        for own in OPTIONS {
            if let Err(place) = all.binary_search_by(|o| o.name.cmp(own.name)) {
                let (type_name, form) = match own.kind {
                    OptionKind::Bool => ("bool", Form::Bool),
                    OptionKind::UInt => ("uint", Form::UInt),
                    OptionKind::Seconds => ("secs", Form::Secs),
                    OptionKind::Text | OptionKind::Secret => ("str", form(own.name, "str", own.default)),
                };
                let own = KnownOption {
                    name: own.name,
                    type_name,
                    level: "advanced",
                    runtime: own.runtime,
                    local_only: false,
                    min: "",
                    max: "",
                    choices: "",
                    default: own.default,
                    daemon_default: "",
                    form,
                };
                all.insert(place, own);
            }
        }
        all
    });
    &KNOWN
}

/// The option with this name, in its underscore form.
pub fn known_option(name: &str) -> Option<&'static KnownOption> {
    let all = known_options();
    all.binary_search_by(|o| o.name.cmp(name)).ok().map(|at| &all[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_the_options_of_both_releases_and_our_own() {
        assert!(known_options().is_sorted_by(|a, b| a.name < b.name));
        // The last two are of 20.2 only, and of Sepiola only.
        for name in ["osd_max_backfills", "rbd_cache", "mon_auth_emergency_allowed_ciphers", "spin_us"] {
            assert!(known_option(name).is_some(), "{name}");
        }
        assert!(known_option("osd-max-backfills").is_none());
    }

    #[test]
    fn defaults_are_ours_where_the_option_is_honoured() {
        assert_eq!(known_option("osd_pool_default_size").unwrap().default_for(true), "1");
        assert_eq!(known_option("osd_max_backfills").unwrap().default_for(true), "1");
        let stderr = known_option("log_to_syslog").unwrap();
        assert_eq!(stderr.default_for(false), "false");
    }

    #[test]
    fn what_a_running_process_follows_is_told_by_who_honours_the_option() {
        let traits = |name: &str| known_option(name).map(|o| (o.runtime, o.followed())).unwrap();
        assert_eq!(traits("osd_op_complaint_time"), (true, false), "Ceph's follow it");
        assert_eq!(traits("osd_max_backfills"), (true, true), "only Ceph has it");
        assert_eq!(traits("debug_osd"), (true, true));
    }
}
