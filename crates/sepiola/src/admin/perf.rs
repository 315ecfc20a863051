//! `perf dump`, `perf schema`, `perf reset`.
//!
//! Counters are in groups; each has a type, as tools such as `ceph daemonperf` need it: 10 for what only grows,
//! 2 for what also falls, 5 for a sum with the number of its summands.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use sepiola_wire::{Errno, UTime};
use serde_json::{Map, Value, json};

use super::{
    commands::{Admin, Answer},
    counters::{self, Counter, Reading},
};

/// What was subtracted by resets, by group and name.
#[derive(Debug, Default)]
pub struct Baseline(Mutex<HashMap<(&'static str, &'static str), Reading>>);

impl Baseline {
    fn since(&self, counter: &Counter) -> Reading {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (counter.reading, table.get(&(counter.group, counter.name))) {
            (Reading::Count(now), Some(Reading::Count(then))) => Reading::Count(now.saturating_sub(*then)),
            (Reading::Times(n, sum), Some(Reading::Times(then_n, then_sum))) => {
                Reading::Times(n.saturating_sub(*then_n), (sum - then_sum).max(0.0))
            }
            (reading, _) => reading,
        }
    }

    fn reset(&self, counter: &Counter) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert((counter.group, counter.name), counter.reading);
    }
}

impl Admin {
    fn counters(&self) -> Vec<Counter> {
        counters::of(&self.daemon, UTime::now().saturating_since(self.started))
    }
}

/// Counters by group, as `value` makes them.
fn grouped(counters: &[Counter], value: impl Fn(&Counter) -> Value) -> Value {
    let mut groups = Map::new();
    for counter in counters {
        let group = groups.entry(counter.group).or_insert_with(|| json!({}));
        group[counter.name] = value(counter);
    }
    groups.into()
}

pub(super) fn dump(admin: &Admin, command: &Value) -> Answer {
    let wanted = |field: &str, name: &str| command[field].as_str().is_none_or(|w| w.is_empty() || w == name);
    let mut counters = admin.counters();
    counters.retain(|c| wanted("logger", c.group) && wanted("counter", c.name));
    Ok(grouped(&counters, |counter| match admin.baseline.since(counter) {
        Reading::Count(n) | Reading::Level(n) => n.into(),
        Reading::Times(n, sum) => {
            json!({ "avgcount": n, "sum": sum, "avgtime": if n == 0 { 0.0 } else { sum / n as f64 } })
        }
    }))
}

pub(super) fn schema(admin: &Admin, _: &Value) -> Answer {
    Ok(grouped(&admin.counters(), |counter| {
        let (number, metric, value) = match counter.reading {
            Reading::Count(_) => (10, "counter", "integer"),
            Reading::Level(_) => (2, "gauge", "integer"),
            Reading::Times(..) => (5, "gauge", "real-integer-pair"),
        };
        json!({
            "type": number, "metric_type": metric, "value_type": value, "description": counter.about,
            "nick": counter.nick,
            // daemonperf shows what is "interesting", 8, and above, unless told otherwise.
            "priority": if counter.nick.is_empty() { 5 } else { 8 },
            "units": if counter.bytes { "bytes" } else { "none" },
        })
    }))
}

pub(super) fn reset(admin: &Admin, command: &Value) -> Answer {
    let name = command["var"].as_str().unwrap_or_default();
    let counters = admin.counters();
    let mut meant = counters.iter().filter(|c| name == "all" || name == c.group).peekable();
    if meant.peek().is_none() {
        return if name.is_empty() {
            Err((Errno::EINVAL, "perf reset needs a name, or all".to_owned()))
        } else {
            Ok(json!({ "error": format!("Not find: {name}") }))
        };
    }
    meant.for_each(|counter| admin.baseline.reset(counter));
    Ok(json!({ "success": format!("perf reset {name}") }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::commands::tests::osd;

    #[test]
    fn values_and_schema_have_the_same_counters() {
        let admin = osd();
        let [dump, schema] = [dump, schema].map(|run| run(&admin, &json!({})).unwrap());
        let names = |v: &Value| -> Vec<(String, Vec<String>)> {
            let groups = v.as_object().unwrap().iter();
            groups.map(|(g, c)| (g.clone(), c.as_object().unwrap().keys().cloned().collect())).collect()
        };
        assert_eq!(names(&dump), names(&schema));
        let one = super::dump(&admin, &json!({"logger": "osd", "counter": "op"})).unwrap();
        assert_eq!(one, json!({"osd": {"op": 0}}));
        assert_eq!(super::dump(&admin, &json!({"logger": "nonsense"})).unwrap(), json!({}));
    }

    #[test]
    fn a_reset_starts_counts_over_and_leaves_levels() {
        let baseline = Baseline::default();
        let counter = |name, reading| Counter {
            group: "g",
            name,
            nick: "",
            metric: "",
            about: "",
            bytes: false,
            reading,
        };
        let [count, level, times] =
            [("c", Reading::Count(7)), ("l", Reading::Level(7)), ("t", Reading::Times(2, 3.0))]
                .map(|(name, reading)| counter(name, reading));
        [&count, &level, &times].iter().for_each(|c| baseline.reset(c));
        assert_eq!(baseline.since(&counter("c", Reading::Count(9))), Reading::Count(2));
        assert_eq!(baseline.since(&counter("l", Reading::Level(9))), Reading::Level(9));
        assert_eq!(baseline.since(&counter("t", Reading::Times(3, 4.5))), Reading::Times(1, 1.5));
    }

    #[test]
    fn resets_are_answered_as_by_ceph() {
        let admin = osd();
        let reset = |name: &str| reset(&admin, &json!({ "var": name })).unwrap();
        assert_eq!(reset("all"), json!({"success": "perf reset all"}));
        assert_eq!(reset("nonsense"), json!({"error": "Not find: nonsense"}));
    }
}
