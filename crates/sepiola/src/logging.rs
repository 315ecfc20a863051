//! Logs: where they go, and how much of them. `debug_*` options choose the level of Ceph's subsystems.

use std::sync::{Mutex, OnceLock};

use sepiola_config::Config;
use tracing_subscriber::{EnvFilter, Registry, fmt, layer::SubscriberExt, reload, util::SubscriberInitExt};

use crate::failure::Failure;

/// Which crates a subsystem's level is for.
const SUBSYSTEMS: [(&str, &[&str]); 7] = [
    ("debug_auth", &["sepiola_cephx"]),
    ("debug_mon", &["sepiola_mon"]),
    ("debug_monc", &["sepiola_monclient"]),
    ("debug_ms", &["sepiola_messenger", "sepiola_msgr2"]),
    ("debug_objecter", &["sepiola_client"]),
    ("debug_objectstore", &["sepiola_objectstore"]),
    ("debug_osd", &["sepiola_osd"]),
];

static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// Starts logging to `log_file`, or to standard error. `RUST_LOG` counts more than `debug_*`.
pub fn start(config: &Config) -> Result<(), Failure> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| filter(config));
    let (filter, handle) = reload::Layer::new(filter);
    let registry = tracing_subscriber::registry().with(filter);
    let lines = fmt::layer().with_target(false).with_ansi(false);
    match config.text("log_file") {
        Some(path) => {
            let file = std::fs::File::options()
                .create(true)
                .append(true)
                .open(&path)
                .map_err(|e| Failure::new(format!("log_file {path}: {e}")))?;
            registry.with(lines.with_writer(Mutex::new(file))).init();
        }
        None => registry.with(lines.with_writer(std::io::stderr)).init(),
    }
    let _ = FILTER.set(handle);
    let unknown = config.unknown();
    if !unknown.is_empty() {
        tracing::info!("ignored options of ceph.conf: {}", Vec::from_iter(unknown).join(", "));
    }
    Ok(())
}

/// Changes the levels of a running process to what `config` says now.
pub fn apply(config: &Config) {
    if let Some(handle) = FILTER.get() {
        // Fails only when the process is ending.
        let _ = handle.reload(filter(config));
    }
}

fn filter(config: &Config) -> EnvFilter {
    let directives = SUBSYSTEMS.iter().flat_map(|(option, crates)| {
        let level = config.text(option).map(|v| level(&v));
        crates.iter().filter_map(move |c| Some(format!("{c}={}", level?)))
    });
    let directives: Vec<_> = std::iter::once("info".to_owned()).chain(directives).collect();
    EnvFilter::new(directives.join(","))
}

/// Ceph's levels go from 0 to 20, with a second one behind a slash for what is kept in memory.
fn level(text: &str) -> &'static str {
    match text.split('/').next().unwrap_or_default().trim().parse::<u8>() {
        Ok(0) => "warn",
        Ok(1..=4) | Err(_) => "info",
        Ok(5..=14) => "debug",
        Ok(15..) => "trace",
    }
}

#[cfg(test)]
mod tests {
    use sepiola_config::Layer;
    use sepiola_wire::EntityName;

    use super::*;

    #[test]
    fn levels_of_subsystems_become_levels_of_crates() {
        let mut config = Config::new(EntityName::client("x"));
        config.set(Layer::File, "debug ms", "20/0");
        config.set(Layer::File, "debug_osd", "0");
        let filter = filter(&config).to_string();
        for part in ["sepiola_messenger=trace", "sepiola_msgr2=trace", "sepiola_osd=warn", "info"] {
            assert!(filter.contains(part), "{filter}");
        }
        assert!(!filter.contains("sepiola_mon="), "{filter}");
    }
}
