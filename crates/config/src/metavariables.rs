//! `$cluster`, `$type`, `$id`, `$name`, `$host`, `$pid`, `$cctid`, `$home` and `$data_dir` inside option values.

use std::cell::Cell;

use sepiola_wire::{EntityName, EntityType};

/// As much as a value may become, and as often as something may be replaced on the way. Whoever sets an option
/// decides what others expand, so that `$a$a$a` must not multiply.
const MAX_EXPANDED: usize = 64 << 10;
const MAX_REPLACEMENTS: usize = 64;

/// A value that would become too much.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// What the expansion of one option, with all that it names, has used up.
#[derive(Debug, Default)]
pub(crate) struct Budget(Cell<usize>);

impl Budget {
    fn replace_one(&self) -> Result<(), TooMuch> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > MAX_REPLACEMENTS { Err(TooMuch) } else { Ok(()) }
    }
}

/// Replaces the metavariables in `value`; anything else behind a `$` names another option, which
/// `lookup` finds. `${name}` is the same as `$name`.
pub(crate) fn expand(
    value: &str,
    name: &EntityName,
    cluster: &str,
    budget: &Budget,
    lookup: &dyn Fn(&str) -> Result<Option<String>, TooMuch>,
) -> Result<String, TooMuch> {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        budget.replace_one()?;
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (word, tail) = match after.strip_prefix('{').and_then(|braced| braced.split_once('}')) {
            Some(split) => split,
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                after.split_at(end)
            }
        };
        match word {
            "cluster" => out.push_str(cluster),
            "type" => out.push_str(name.kind.as_str()),
            "id" => out.push_str(&name.id),
            "name" => out.push_str(&name.to_string()),
            "host" => out.push_str(&hostname()),
            // A process here has one configuration, so its own number tells that apart from others.
            "pid" | "cctid" => out.push_str(&std::process::id().to_string()),
            "home" => out.push_str(&std::env::var("HOME").unwrap_or_default()),
            other => {
                let option = data_option(name).filter(|_| other == "data_dir").unwrap_or(other);
                match lookup(option)? {
                    Some(text) => out.push_str(&text),
                    None => out.push_str(&rest[at..rest.len() - tail.len()]),
                }
            }
        }
        if out.len() > MAX_EXPANDED {
            return Err(TooMuch);
        }
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

/// The option that says where a daemon keeps its data.
fn data_option(name: &EntityName) -> Option<&'static str> {
    match name.kind {
        EntityType::Mon => Some("mon_data"),
        EntityType::Osd => Some("osd_data"),
        _ => None,
    }
}

/// The short host name, `localhost` where it cannot be told.
pub(crate) fn hostname() -> String {
    let name = std::env::var("HOSTNAME")
        .ok()
        .filter(|n| !n.is_empty())
        .or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok())
        .unwrap_or_default();
    match name.trim().split('.').next() {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => "localhost".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_metavariables_and_options() {
        let name = EntityName::client("admin");
        let lookup = |o: &str| Ok((o == "run_dir").then(|| "/run".to_owned()));
        let expand = |v: &str| expand(v, &name, "ceph", &Budget::default(), &lookup).unwrap();
        assert_eq!(expand("/etc/$cluster.$name.keyring"), "/etc/ceph.client.admin.keyring");
        assert_eq!(expand("${run_dir}/$type-$id.asok"), "/run/client-admin.asok");
        assert_eq!(expand("$unknown/x$"), "$unknown/x$");
        assert_eq!(expand("$data_dir"), "$data_dir", "clients have none");
        let osd = EntityName::osd(sepiola_wire::OsdId(1));
        let lookup = |o: &str| Ok((o == "osd_data").then(|| "/data".to_owned()));
        let expanded = super::expand("$data_dir/key", &osd, "ceph", &Budget::default(), &lookup);
        assert_eq!(expanded.as_deref(), Ok("/data/key"));
    }

    #[test]
    fn what_grows_without_bound_is_given_up() {
        let name = EntityName::client("admin");
        let lookup = |_: &str| Ok(Some("x".repeat(MAX_EXPANDED / 4)));
        let expand = |v: &str| expand(v, &name, "ceph", &Budget::default(), &lookup);
        assert_eq!(expand("$a$a$a$a").map(|text| text.len()), Ok(MAX_EXPANDED));
        assert_eq!(expand("$a$a$a$a$a"), Err(TooMuch));
        assert!(expand(&"$id".repeat(MAX_REPLACEMENTS)).is_ok());
        assert_eq!(expand(&"$id".repeat(MAX_REPLACEMENTS + 1)), Err(TooMuch));
    }
}
