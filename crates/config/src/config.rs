//! The stack of layers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use sepiola_wire::EntityName;
use thiserror::Error;

use crate::{
    conf_file::{ConfFile, ConfFileError, option_name},
    keyring_path::keyring_candidates,
    known::known_option,
    metavariables::{Budget, TooMuch, expand, hostname},
    mon_host::{MonEndpoint, ParseMonHostError, parse_mon_host},
    options::option_info,
    secret::{HIDDEN, is_secret},
    units, value,
};

/// Where a value comes from; a later layer wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Layer {
    /// What the monitors' configuration database says.
    Monitor,
    /// ceph.conf.
    File,
    /// `CEPH_ARGS` and its like.
    Environment,
    /// The command line.
    CommandLine,
    /// Changes to a running process.
    Runtime,
}

const LAYERS: usize = Layer::Runtime as usize + 1;

impl Layer {
    /// All of them, the weakest first.
    pub const ALL: [Layer; LAYERS] =
        [Layer::Monitor, Layer::File, Layer::Environment, Layer::CommandLine, Layer::Runtime];

    /// The name that `config diff` shows.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Monitor => "mon",
            Layer::File => "file",
            Layer::Environment => "env",
            Layer::CommandLine => "cmdline",
            Layer::Runtime => "override",
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// ceph.conf is unreadable or malformed.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: ConfFileError,
    },
    /// A value of the wrong form.
    #[error("option {option}: `{value}` is not {expected}")]
    Value {
        /// The option.
        option: String,
        /// Its value.
        value: String,
        /// The form that it needs.
        expected: &'static str,
    },
    /// A value that its user cannot read.
    #[error("option {option}: {reason}")]
    Invalid {
        /// The option.
        option: String,
        /// What is wrong with its value.
        reason: String,
    },
    /// `mon_host` is malformed.
    #[error(transparent)]
    MonHost(#[from] ParseMonHostError),
    /// Nothing says where the monitors are.
    #[error("no monitors: give -c CEPH.CONF, -m ADDRESS, or set mon_host")]
    NoMonitors,
}

/// The configuration of one process, for one entity.
#[derive(Clone)]
pub struct Config {
    name: EntityName,
    cluster: String,
    layers: [BTreeMap<String, String>; LAYERS],
}

impl Config {
    /// Defaults only, for `name` in the cluster named `ceph`.
    pub fn new(name: EntityName) -> Self {
        Config { name, cluster: "ceph".to_owned(), layers: Default::default() }
    }

    /// The entity that this configuration is for.
    pub fn name(&self) -> &EntityName {
        &self.name
    }

    /// The cluster's name, which `$cluster` stands for.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Adds a file. Sections apply from general to specific: `global`, the type, `type.id`; later wins.
    ///
    /// # Errors
    /// [`ConfigError::File`].
    pub fn load_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let file = ConfFile::load(path)
            .map_err(|source| ConfigError::File { path: path.display().to_string(), source })?;
        if let Some(cluster) = path.file_stem().and_then(|s| s.to_str()) {
            self.cluster = cluster.to_owned();
        }
        self.apply_file(&file);
        Ok(())
    }

    /// Adds a parsed file.
    pub fn apply_file(&mut self, file: &ConfFile) {
        for section in ["global", self.name.kind.as_str(), &self.name.to_string()] {
            if let Some(options) = file.section(section) {
                self.layers[Layer::File as usize].extend(options.clone());
            }
        }
    }

    /// The file that is read when none is named: `CEPH_CONF`, then `/etc/ceph/ceph.conf`,
    /// `~/.ceph/ceph.conf` and `ceph.conf` here, whichever exists first.
    pub fn default_file() -> Option<PathBuf> {
        if let Some(path) = std::env::var_os("CEPH_CONF") {
            return Some(path.into());
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        [
            Some("/etc/ceph/ceph.conf".into()),
            home.map(|h| h.join(".ceph/ceph.conf")),
            Some("ceph.conf".into()),
        ]
        .into_iter()
        .flatten()
        .find(|p: &PathBuf| p.exists())
    }

    /// Sets one option in a layer.
    pub fn set(&mut self, layer: Layer, option: &str, value: impl Into<String>) {
        self.layers[layer as usize].insert(option_name(option), value.into());
    }

    /// Replaces what the monitors set. What a process has to know before it asks them stays its own business,
    /// whatever they say. True if that changed anything.
    pub fn set_from_monitors(&mut self, options: &BTreeMap<String, String>) -> bool {
        let settable = options.iter().filter(|(name, _)| !known_option(name).is_some_and(|o| o.local_only));
        let said = settable.map(|(name, value)| (name.clone(), value.clone())).collect();
        let before = std::mem::replace(&mut self.layers[Layer::Monitor as usize], said);
        before != self.layers[Layer::Monitor as usize]
    }

    /// Takes an option out of a layer.
    pub fn unset(&mut self, layer: Layer, option: &str) {
        self.layers[layer as usize].remove(&option_name(option));
    }

    /// What each layer says of an option, the weakest first, as it was written there.
    pub fn said_of(&self, option: &str) -> impl Iterator<Item = (Layer, &str)> {
        let option = option_name(option);
        Layer::ALL
            .into_iter()
            .filter_map(move |layer| Some((layer, self.layers[layer as usize].get(&option)?.as_str())))
    }

    /// The names of all options that some layer sets, sorted.
    pub fn names_set(&self) -> BTreeSet<&str> {
        self.layers.iter().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    fn raw(&self, option: &str) -> Option<&str> {
        self.layers
            .iter()
            .rev()
            .find_map(|layer| layer.get(option).map(String::as_str))
            .or_else(|| option_info(option).map(|o| o.default))
    }

    /// The value of an option with its metavariables replaced; `None` if it is neither set nor known. A value
    /// that would become too long stays as it was written.
    pub fn get(&self, option: &str) -> Option<String> {
        let option = option_name(option);
        let expanded = self.get_nested(&option, &[], &Budget::default());
        expanded.unwrap_or_else(|TooMuch| self.raw(&option).map(str::to_owned))
    }

    /// The value of an option as it may be shown to people: asterisks for a secret that is set.
    pub fn shown(&self, option: &str) -> Option<String> {
        let value = self.get(option)?;
        Some(if is_secret(&option_name(option)) && !value.is_empty() { HIDDEN.to_owned() } else { value })
    }

    /// The value of an option that the options `within` name, each the one behind it.
    fn get_nested(&self, option: &str, within: &[&str], budget: &Budget) -> Result<Option<String>, TooMuch> {
        const MAX_DEPTH: usize = 8;
        if option == "host" && self.raw("host").is_none_or(str::is_empty) {
            return Ok(Some(hostname()));
        }
        let Some(value) = self.raw(option) else { return Ok(None) };
        let within = [within, &[option]].concat();
        // A name stays as it is where it would lead round in a circle, or show a secret as part of something else.
        let lookup = |named: &str| match within.len() <= MAX_DEPTH && !within.contains(&named) {
            true if !is_secret(named) => self.get_nested(named, &within, budget),
            _ => Ok(None),
        };
        expand(value, &self.name, &self.cluster, budget, &lookup).map(Some)
    }

    /// A text option that is not empty.
    pub fn text(&self, option: &str) -> Option<String> {
        self.get(option).filter(|v| !v.is_empty())
    }

    fn typed<T>(
        &self,
        option: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<T, ConfigError> {
        let value = self.get(option).unwrap_or_default();
        parse(&value).ok_or_else(|| ConfigError::Value { option: option.to_owned(), value, expected })
    }

    /// A switch.
    ///
    /// # Errors
    /// [`ConfigError::Value`], as of every typed option.
    pub fn bool(&self, option: &str) -> Result<bool, ConfigError> {
        self.typed(option, value::parse_bool, "true or false")
    }

    /// A count or a size in bytes.
    pub fn u64(&self, option: &str) -> Result<u64, ConfigError> {
        self.typed(option, units::parse_size, "a number")
    }

    /// An option whose form is its user's: `parse` reads the text, which is empty if the option is not set and
    /// has no default.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with the option's name and what `parse` says.
    pub fn parsed<T, E: fmt::Display>(
        &self,
        option: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        parse(&self.get(option).unwrap_or_default())
            .map_err(|e| ConfigError::Invalid { option: option.to_owned(), reason: e.to_string() })
    }

    /// A time span.
    pub fn duration(&self, option: &str) -> Result<Duration, ConfigError> {
        self.typed(option, value::parse_duration, "a number of seconds")
    }

    /// A time limit, where 0 means none.
    pub fn timeout(&self, option: &str) -> Result<Option<Duration>, ConfigError> {
        Ok(Some(self.duration(option)?).filter(|d| !d.is_zero()))
    }

    /// The monitors.
    ///
    /// # Errors
    /// [`ConfigError::NoMonitors`] if none are configured, [`ConfigError::MonHost`] if the text is no address.
    pub fn mon_host(&self) -> Result<Vec<MonEndpoint>, ConfigError> {
        let text = self.text("mon_host").ok_or(ConfigError::NoMonitors)?;
        Ok(parse_mon_host(&text)?)
    }

    /// The first keyring of the search path that exists, `CEPH_KEYRING` before all.
    pub fn keyring_file(&self) -> Option<PathBuf> {
        let flag = |layer: Layer| self.layers[layer as usize].contains_key("keyring");
        let set_here = flag(Layer::Environment) || flag(Layer::CommandLine);
        if let (false, Some(path)) = (set_here, std::env::var_os("CEPH_KEYRING")) {
            return Some(path.into());
        }
        self.keyring_candidates().into_iter().find(|p| p.exists())
    }

    /// Every place where a keyring is looked for, for messages.
    pub fn keyring_candidates(&self) -> Vec<PathBuf> {
        keyring_candidates(&self.get("keyring").unwrap_or_default())
    }

    /// Options that are set but that Sepiola does not know, for one note at start.
    pub fn unknown(&self) -> BTreeSet<&str> {
        self.names_set().into_iter().filter(|name| option_info(name).is_none()).collect()
    }
}

impl fmt::Debug for Config {
    /// Names of what is set, without values: one of them may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("name", &self.name)
            .field("set", &self.names_set())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let mut config = Config::new(EntityName::osd(sepiola_wire::OsdId(3)));
        config.apply_file(
            &ConfFile::parse(
                "[osd.3]\nosd data = /three\n[global]\nosd data = /global\nlog file = $run_dir/$name.log\n\
                 run dir = /run/$cluster\nshiny = new\n[osd]\nosd data = /osd\n[client]\nlog file = /no\n",
            )
            .unwrap(),
        );
        config
    }

    #[test]
    fn specific_sections_and_later_layers_win() {
        let mut config = config();
        assert_eq!(config.text("osd data").as_deref(), Some("/three"));
        config.set(Layer::Monitor, "osd_data", "/mon");
        assert_eq!(config.text("osd_data").as_deref(), Some("/three"));
        config.set(Layer::CommandLine, "osd-data", "/args");
        assert_eq!(config.text("osd_data").as_deref(), Some("/args"));
    }

    #[test]
    fn monitors_replace_what_they_said_and_do_not_decide_what_is_needed_to_reach_them() {
        let mut config = config();
        let say = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        config.set_from_monitors(&say("rados_osd_op_timeout", "7"));
        assert_eq!(config.text("rados_osd_op_timeout").as_deref(), Some("7"));
        config.set_from_monitors(&say("mon_host", "1.2.3.4"));
        assert_eq!(config.text("rados_osd_op_timeout").as_deref(), Some("30"), "the default again");
        assert_eq!(config.text("mon_host"), None);
    }

    #[test]
    fn each_layer_is_told_apart_and_can_be_undone() {
        let mut config = config();
        config.set(Layer::Runtime, "osd_data", "/now");
        let said: Vec<_> = config.said_of("osd data").collect();
        assert_eq!(said, [(Layer::File, "/three"), (Layer::Runtime, "/now")]);
        config.unset(Layer::Runtime, "osd_data");
        assert_eq!(config.text("osd_data").as_deref(), Some("/three"));
    }

    #[test]
    fn values_name_other_options() {
        let mut config = config();
        assert_eq!(config.text("log_file").as_deref(), Some("/run/ceph/osd.3.log"));
        config.set(Layer::Runtime, "a", "$b");
        config.set(Layer::Runtime, "b", "$a");
        assert_eq!(config.get("a").as_deref(), Some("$a"), "a cycle ends");
    }

    #[test]
    fn a_value_that_names_itself_or_others_often_does_not_multiply() {
        let mut config = config();
        let bomb = "$mon_osd_report_timeout".repeat(6);
        config.set(Layer::Monitor, "mon_osd_report_timeout", &bomb);
        assert_eq!(config.get("mon_osd_report_timeout"), Some(bomb));
        // Without a circle: each names the next one ten times.
        for n in 0..7 {
            config.set(Layer::Monitor, &format!("x{n}"), format!("$x{}", n + 1).repeat(10));
        }
        config.set(Layer::Monitor, "x7", "x".repeat(1000));
        assert_eq!(config.get("x0"), Some("$x1".repeat(10)));
        config.set(Layer::Monitor, "x1", "x".repeat(6000));
        assert_eq!(config.get("x0").map(|value| value.len()), Some(60_000));
    }

    #[test]
    fn a_secret_is_not_part_of_other_values() {
        let mut config = config();
        config.set(Layer::File, "key", "a secret");
        config.set(Layer::Monitor, "rgw_ldap_secret", "another secret");
        config.set(Layer::Monitor, "run_dir_2", "$key ${key} $rgw_ldap_secret $run_dir");
        assert_eq!(
            config.shown("run_dir_2").as_deref(),
            Some("$key ${key} $rgw_ldap_secret /run/ceph"),
            "or anybody who may set options sees it"
        );
    }

    #[test]
    fn unknown_options_are_kept_and_named() {
        let mut config = config();
        config.set(Layer::CommandLine, "key", "known");
        assert_eq!(config.unknown(), BTreeSet::from(["shiny"]));
    }

    #[test]
    fn a_secret_is_used_but_not_shown() {
        let mut config = config();
        config.set(Layer::CommandLine, "key", "a secret");
        assert_eq!(config.text("key").as_deref(), Some("a secret"));
        assert_eq!(config.shown("key").as_deref(), Some("******"));
        assert_eq!(config.shown("osd data"), config.get("osd_data"));
        assert!(!format!("{config:?}").contains("a secret"));
    }

    #[test]
    fn a_wrong_value_names_the_option() {
        let mut config = config();
        config.set(Layer::File, "spin_us", "fast");
        let message = config.u64("spin_us").unwrap_err().to_string();
        assert!(message.contains("spin_us") && message.contains("fast"), "{message}");
        assert!(matches!(config.mon_host(), Err(ConfigError::NoMonitors)));
    }
}
