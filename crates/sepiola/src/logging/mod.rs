//! Logs: where they go, and how much of them. `debug_*` options choose the level of Ceph's subsystems.

mod rate_limit;
mod sink;

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use sepiola_config::Config;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::interval,
};
use tracing_subscriber::{
    EnvFilter, Layer as _, Registry, fmt, layer::SubscriberExt, reload, util::SubscriberInitExt,
};

use crate::failure::Failure;
use rate_limit::{Limited, RateLimit};
use sink::Sink;

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
static SINK: OnceLock<Sink> = OnceLock::new();
static LIMIT: OnceLock<RateLimit> = OnceLock::new();

/// Starts logging to `log_file`, or to standard error. `RUST_LOG` counts more than `debug_*`.
pub fn start(config: &Config) -> Result<(), Failure> {
    let from_env = EnvFilter::try_from_default_env().ok();
    let changeable = from_env.is_none();
    let (filter, handle) = reload::Layer::new(from_env.unwrap_or_else(|| filter(config)));
    let sink = Sink::open(config)?;
    let sink: &'static Sink = SINK.get_or_init(|| sink);
    let limit = LIMIT.get_or_init(RateLimit::default);
    let lines = fmt::layer().with_target(false).with_ansi(false).with_writer(move || sink.lines());
    tracing_subscriber::registry().with(filter).with(lines.with_filter(Limited(limit))).init();
    if changeable {
        let _ = FILTER.set(handle);
    }
    let unknown = config.unknown();
    if !unknown.is_empty() {
        tracing::info!("ignored options of ceph.conf: {}", Vec::from_iter(unknown).join(", "));
    }
    Ok(())
}

/// Changes a running process to what `config` says now.
pub fn apply(config: &Config) {
    if let Some(handle) = FILTER.get() {
        // Fails only when the process is ending.
        let _ = handle.reload(filter(config));
    }
    if let Some(sink) = SINK.get() {
        sink.apply(config);
    }
}

/// Opens the log file anew, for whoever has moved it away.
pub fn reopen() -> std::io::Result<()> {
    SINK.get().map_or(Ok(()), Sink::reopen)
}

/// What a daemon's log needs as long as it runs: SIGHUP opens the file anew, and lines that were held back
/// are counted in the log.
pub fn upkeep() -> std::io::Result<impl Future<Output = ()>> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut ticks = interval(Duration::from_secs(1));
    Ok(async move {
        loop {
            tokio::select! {
                _ = hangup.recv() => {
                    if let Err(error) = reopen() {
                        tracing::warn!(%error, "the log file cannot be opened anew");
                    }
                }
                _ = ticks.tick() => {
                    for (place, lines) in LIMIT.get().map_or(Vec::new(), |l| l.held_back(Instant::now())) {
                        tracing::warn!(lines, place, "lines of one kind came too often and were held back");
                    }
                }
            }
        }
    })
}

fn filter(config: &Config) -> EnvFilter {
    let directives = SUBSYSTEMS.iter().flat_map(|(option, crates)| {
        // Only what somebody chose: the built-in levels are Ceph's, whose messages are others.
        let chosen = config.said_of(option).last();
        let level = chosen.map(|(_, value)| level(value));
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
