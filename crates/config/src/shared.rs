//! A configuration that changes while its process runs.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};

use crate::{Config, options::option_info, value::parse_duration};

/// A [`Config`] that a process's parts share: monitors and the admin socket change it, and whoever observes
/// it is told. Clones are the same configuration.
#[derive(Clone)]
pub struct SharedConfig(Arc<Inner>);

type Observer = Box<dyn Fn(&Config) + Send + Sync>;

struct Inner {
    config: RwLock<Config>,
    // Held while observers run, so that they see changes in order.
    observers: Mutex<Vec<Observer>>,
}

impl SharedConfig {
    /// Shares a configuration.
    pub fn new(config: Config) -> Self {
        SharedConfig(Arc::new(Inner { config: RwLock::new(config), observers: Mutex::default() }))
    }

    /// The configuration as it is now.
    pub fn snapshot(&self) -> Config {
        self.read(Config::clone)
    }

    /// Looks something up.
    pub fn read<T>(&self, look: impl FnOnce(&Config) -> T) -> T {
        look(&self.0.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes something, and tells the observers.
    pub fn update(&self, change: impl FnOnce(&mut Config)) {
        self.update_if(|config| {
            change(config);
            true
        });
    }

    /// Takes over what the monitors say now.
    pub fn set_from_monitors(&self, options: &BTreeMap<String, String>) {
        self.update_if(|config| config.set_from_monitors(options));
    }

    /// As `update`; the observers are told if `change` gives true.
    fn update_if(&self, change: impl FnOnce(&mut Config) -> bool) {
        let observers = self.observers();
        if change(&mut self.0.config.write().unwrap_or_else(PoisonError::into_inner)) {
            let now = self.snapshot();
            observers.iter().for_each(|observer| observer(&now));
        }
    }

    /// Calls `observer` now and after every change. It must neither block nor change the configuration.
    pub fn observe(&self, observer: impl Fn(&Config) + Send + Sync + 'static) {
        let mut observers = self.observers();
        self.read(&observer);
        observers.push(Box::new(observer));
    }

    fn observers(&self) -> MutexGuard<'_, Vec<Observer>> {
        self.0.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A time span now. A value that is none, as a forced one may be, counts as not set.
    pub fn duration(&self, option: &str) -> Duration {
        let built_in = || parse_duration(option_info(option)?.default);
        self.read(|config| config.duration(option).ok().or_else(built_in)).unwrap_or_default()
    }

    /// A count or size now. A value that is none counts as not set.
    pub fn u64(&self, option: &str) -> u64 {
        let built_in = || option_info(option)?.default.parse().ok();
        self.read(|config| config.u64(option).ok().or_else(built_in)).unwrap_or_default()
    }

    /// A switch now. A value that is none counts as false.
    pub fn bool(&self, option: &str) -> bool {
        self.read(|config| config.bool(option).unwrap_or(false))
    }
}

impl fmt::Debug for SharedConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read(|config| config.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use sepiola_wire::EntityName;

    use super::*;
    use crate::Layer;

    #[test]
    fn observers_are_told_at_once_and_of_each_change() {
        let shared = SharedConfig::new(Config::new(EntityName::client("x")));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        shared.observe(move |config| log.lock().unwrap().push(config.text("rados_osd_op_timeout").unwrap()));
        shared.set_from_monitors(&BTreeMap::from([("rados_osd_op_timeout".to_owned(), "7".to_owned())]));
        shared.set_from_monitors(&BTreeMap::from([("rados_osd_op_timeout".to_owned(), "7".to_owned())]));
        shared.clone().update(|config| config.set(Layer::Runtime, "rados_osd_op_timeout", "nonsense"));
        assert_eq!(*seen.lock().unwrap(), ["30", "7", "nonsense"]);
        assert_eq!(shared.duration("rados_osd_op_timeout"), Duration::from_secs(30));
    }
}
