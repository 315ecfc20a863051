//! The commands of the admin socket.

use std::sync::Mutex;

use sepiola_config::{Config, Layer, OPTIONS};
use sepiola_wire::UTime;
use serde_json::{Value, json};

/// Where counters come from.
#[derive(Debug)]
pub enum PerfSource {
    /// A monitor.
    Mon(sepiola_mon::PerfHandle),
    /// An OSD.
    Osd(sepiola_osd::PerfHandle),
}

/// What a daemon says about itself.
#[derive(Debug)]
pub struct Admin {
    config: Mutex<Config>,
    perf: PerfSource,
    started: UTime,
}

/// A command and its line of help.
const COMMANDS: [(&str, &str); 9] = [
    ("config get", "value of one option"),
    ("config set", "change an option of the running daemon"),
    ("config show", "every option and its value"),
    ("dump_ops_in_flight", "operations that are being worked on"),
    ("get_command_descriptions", "commands in the form that tools read"),
    ("help", "this list"),
    ("perf dump", "counters"),
    ("perf schema", "what the counters are"),
    ("version", "version of this program"),
];

/// The counters of each daemon: name, help.
const OSD_COUNTERS: [(&str, &str); 10] = [
    ("op", "client operations"),
    ("op_r", "client reads"),
    ("op_w", "client writes"),
    ("op_in_bytes", "payload of writes, bytes"),
    ("op_out_bytes", "payload of reads, bytes"),
    ("numpg", "placement groups"),
    ("objects", "objects"),
    ("stat_bytes", "what the store may take, bytes"),
    ("stat_bytes_used", "what objects take, bytes"),
    ("osdmap_epoch", "epoch of the OSD map"),
];
const MON_COUNTERS: [(&str, &str); 4] = [
    ("num_sessions", "open sessions"),
    ("log_index", "last log entry applied"),
    ("osdmap_epoch", "epoch of the OSD map"),
    ("entities", "entities with a key"),
];

impl Admin {
    /// For a daemon with this configuration.
    pub fn new(config: Config, perf: PerfSource) -> Self {
        Admin { config: Mutex::new(config), perf, started: UTime::now() }
    }

    /// Runs a request and gives its answer, JSON in every case.
    pub fn run(&self, request: &str) -> String {
        let command: Value = serde_json::from_str(request).unwrap_or_else(|_| bare_words(request));
        let prefix = command["prefix"].as_str().unwrap_or_default();
        let answer = match prefix {
            "version" => {
                json!({ "version": env!("CARGO_PKG_VERSION"), "release": "sepiola", "release_type": "dev" })
            }
            "help" => COMMANDS.iter().map(|(name, help)| ((*name).to_owned(), json!(help))).collect(),
            "get_command_descriptions" => descriptions(),
            "config show" => self.show(),
            "config get" => self.get(&command["var"]),
            "config set" => self.set(&command["var"], &command["val"]),
            "perf dump" => self.perf_dump(),
            "perf schema" => self.perf_schema(),
            "dump_ops_in_flight" => self.ops_in_flight(),
            other => json!({ "error": format!("no such command: {other}; try help") }),
        };
        format!("{answer:#}\n")
    }

    fn show(&self) -> Value {
        let config = self.config();
        let known =
            OPTIONS.iter().map(|o| (o.name.to_owned(), json!(config.shown(o.name).unwrap_or_default())));
        [("name".to_owned(), json!(config.name().to_string()))].into_iter().chain(known).collect()
    }

    fn get(&self, option: &Value) -> Value {
        let option = option.as_str().unwrap_or_default();
        match self.config().shown(option) {
            Some(value) => json!({ option: value }),
            None => json!({ "error": format!("no such option: {option}") }),
        }
    }

    fn set(&self, option: &Value, value: &Value) -> Value {
        let (Some(option), Some(value)) = (option.as_str(), text_of(value)) else {
            return json!({ "error": "config set needs an option and a value" });
        };
        if sepiola_config::option_info(option).is_none() {
            return json!({ "error": format!("no such option: {option}") });
        }
        let mut config = self.config();
        config.set(Layer::Runtime, option, value);
        if option.starts_with("debug_") {
            crate::logging::apply(&config);
            return json!({ "success": "" });
        }
        json!({ "success": format!("{option} is recorded; it takes effect when the daemon starts again") })
    }

    fn perf_dump(&self) -> Value {
        let uptime = UTime::now().saturating_since(self.started).as_secs();
        let (name, counters) = match &self.perf {
            PerfSource::Mon(handle) => ("mon", handle.read().map_or(Value::Null, |p| mon_counters(&p))),
            PerfSource::Osd(handle) => ("osd", handle.read().map_or(Value::Null, |p| osd_counters(&p))),
        };
        json!({ name: counters, "daemon": { "uptime": uptime } })
    }

    fn ops_in_flight(&self) -> Value {
        match &self.perf {
            PerfSource::Osd(handle) => handle.dump_ops_in_flight(),
            // Commands run to completion as they arrive: whoever can ask finds none half done.
            PerfSource::Mon(_) => json!({ "ops": [], "num_ops": 0 }),
        }
    }

    fn perf_schema(&self) -> Value {
        let (name, counters): (_, &[(&str, &str)]) = match &self.perf {
            PerfSource::Mon(_) => ("mon", &MON_COUNTERS),
            PerfSource::Osd(_) => ("osd", &OSD_COUNTERS),
        };
        let describe = |help: &str| json!({ "type": 10, "metric_type": "counter", "value_type": "integer", "description": help });
        let counters: serde_json::Map<_, _> =
            counters.iter().map(|(name, help)| ((*name).to_owned(), describe(help))).collect();
        json!({ name: counters, "daemon": { "uptime": describe("seconds since the start") } })
    }

    fn config(&self) -> std::sync::MutexGuard<'_, Config> {
        // Nothing that can panic happens under the lock; a poisoned one still holds a whole Config.
        self.config.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn osd_counters(p: &sepiola_osd::OsdPerf) -> Value {
    json!({
        "op": p.op, "op_r": p.op_r, "op_w": p.op_w, "op_in_bytes": p.op_in_bytes, "op_out_bytes": p.op_out_bytes,
        "numpg": p.numpg, "objects": p.objects, "stat_bytes": p.stat_bytes, "stat_bytes_used": p.stat_bytes_used,
        "osdmap_epoch": p.osdmap_epoch,
    })
}

fn mon_counters(p: &sepiola_mon::MonPerf) -> Value {
    json!({
        "num_sessions": p.num_sessions, "log_index": p.log_index, "osdmap_epoch": p.osdmap_epoch,
        "entities": p.entities,
    })
}

/// Values may arrive as text, as a list of words, or as a number.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        _ => None,
    }
}

/// `config get debug_osd`, as people type it at the socket.
fn bare_words(request: &str) -> Value {
    let words: Vec<&str> = request.split_whitespace().collect();
    match words[..] {
        ["config", "get", option] => json!({ "prefix": "config get", "var": option }),
        ["config", "set", option, ref value @ ..] => {
            json!({ "prefix": "config set", "var": option, "val": value.join(" ") })
        }
        _ => json!({ "prefix": words.join(" ") }),
    }
}

fn descriptions() -> Value {
    let describe = |name: &str, help: &str| {
        let mut signature: Vec<Value> = name.split(' ').map(Into::into).collect();
        if name.starts_with("config ") && name != "config show" {
            signature.push(json!({ "name": "var", "type": "CephString" }));
        }
        if name == "config set" {
            signature.push(json!({ "name": "val", "type": "CephString", "n": "N" }));
        }
        json!({ "sig": signature, "help": help, "module": "daemon", "perm": "rw", "flags": 0 })
    };
    let commands = COMMANDS.iter().filter(|(name, _)| *name != "get_command_descriptions").enumerate();
    commands.map(|(i, (name, help))| (format!("cmd{i:03}"), describe(name, help))).collect()
}

#[cfg(test)]
mod tests {
    use sepiola_wire::EntityName;

    use super::*;

    fn admin() -> Admin {
        Admin::new(Config::new(EntityName::osd(sepiola_wire::OsdId(0))), PerfSource::Osd(Default::default()))
    }

    fn run(admin: &Admin, request: &str) -> Value {
        serde_json::from_str(&admin.run(request)).unwrap()
    }

    #[test]
    fn options_are_shown_and_changed() {
        let admin = admin();
        assert_eq!(run(&admin, r#"{"prefix": "config show"}"#)["ms_client_mode"], "crc secure");
        run(&admin, r#"{"prefix": "config set", "var": "spin_us", "val": ["7"]}"#);
        assert_eq!(run(&admin, "config get spin_us")["spin_us"], "7");
        assert!(run(&admin, "config set nonsense 1")["error"].is_string());
        assert!(run(&admin, "make coffee")["error"].is_string());
    }

    #[test]
    fn every_command_is_described_and_none_but_those() {
        let described = run(&admin(), r#"{"prefix": "get_command_descriptions"}"#);
        let described = described.as_object().unwrap();
        assert_eq!(described.len(), COMMANDS.len() - 1);
        for command in described.values() {
            let words: Vec<_> = command["sig"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert!(
                run(&admin(), &words.join(" "))
                    .get("error")
                    .is_none_or(|e| !e.to_string().contains("no such command"))
            );
        }
    }

    #[test]
    fn counters_have_descriptions() {
        let osd = osd_counters(&sepiola_osd::OsdPerf::default());
        let mon = mon_counters(&sepiola_mon::MonPerf::default());
        let names = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&osd), OSD_COUNTERS.map(|(n, _)| n));
        assert_eq!(names(&mon), MON_COUNTERS.map(|(n, _)| n));
    }
}
