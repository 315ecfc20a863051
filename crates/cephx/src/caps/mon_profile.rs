//! What the named profiles stand for at a monitor.

use std::sync::LazyLock;

use super::{
    Rwx,
    mon::{Constraint, Request},
};

/// Rights that `profile` gives for a request. An unknown profile gives none.
pub(super) fn rights(profile: &str, request: &Request<'_>) -> Rwx {
    let mut rights = Rwx::NONE;
    for (service, right) in services(profile) {
        let named = *service == request.service;
        if named || *service == EVERYWHERE && request.service != "config-key" {
            rights |= *right;
        }
    }
    let mut commands = commands(profile).iter().chain(private_keys(profile));
    if request.command.is_some() && commands.any(|rule| rule.allows(request)) {
        rights = Rwx::RWX;
    }
    rights
}

/// Stands for every service but config-key, whose secrets need a grant of their own.
const EVERYWHERE: &str = "*";

fn services(profile: &str) -> &'static [(&'static str, Rwx)] {
    const MON_OSD_PG: &[(&str, Rwx)] = &[("mon", Rwx::R), ("osd", Rwx::R), ("pg", Rwx::R)];
    const MON_OSD: &[(&str, Rwx)] = &[("mon", Rwx::R), ("osd", Rwx::R)];
    match profile {
        "read-only" => &[(EVERYWHERE, Rwx::R)],
        "read-write" => &[(EVERYWHERE, Rwx::RW)],
        "mon" => &[("mon", Rwx::RWX), ("log", Rwx::RWX)],
        "osd" => &[("osd", Rwx::RWX), ("mon", Rwx::R), ("pg", Rwx::RW), ("log", Rwx::W)],
        "mds" => &[("mds", Rwx::RWX), ("mon", Rwx::R), ("osd", Rwx::R), ("log", Rwx::W)],
        "mgr" => &[
            ("mgr", Rwx::RWX),
            ("log", Rwx::RW),
            ("mon", Rwx::RW),
            ("mds", Rwx::RW),
            ("fs", Rwx::RW),
            ("osd", Rwx::RW),
            ("config-key", Rwx::RW),
            ("config", Rwx::RW),
            ("auth", Rwx::RX),
        ],
        "bootstrap-osd" | "bootstrap-mds" | "bootstrap-mgr" | "bootstrap-rgw" => MON_OSD,
        "bootstrap-rbd" | "bootstrap-rbd-mirror" | "crash" => &[("mon", Rwx::R)],
        "fs-client" => &[("mon", Rwx::R), ("mds", Rwx::R), ("osd", Rwx::R), ("pg", Rwx::R)],
        "simple-rados-client" | "rbd" | "rbd-read-only" | "rbd-mirror" => MON_OSD_PG,
        "role-definer" => &[("mon", Rwx::R), ("auth", Rwx::RWX)],
        _ => &[],
    }
}

/// A command that a profile allows.
struct Rule {
    command: &'static str,
    arguments: Vec<(&'static str, Want)>,
}

enum Want {
    Fixed(Constraint),
    /// A config-key below `daemon-private/ENTITY/`.
    OwnPrivateKey,
}

impl Rule {
    fn new(command: &'static str, arguments: Vec<(&'static str, Want)>) -> Self {
        Rule { command, arguments }
    }

    fn allows(&self, request: &Request<'_>) -> bool {
        let holds = |i: usize, given: &std::collections::BTreeMap<String, String>| {
            let (key, want) = &self.arguments[i];
            given.get(*key).is_some_and(|value| match want {
                Want::Fixed(constraint) => constraint.holds(value),
                Want::OwnPrivateKey => value
                    .strip_prefix("daemon-private/")
                    .and_then(|rest| rest.strip_prefix(&request.entity.to_string()))
                    .is_some_and(|rest| rest.starts_with('/')),
            })
        };
        request.is_command(self.command, holds, self.arguments.len())
    }
}

fn equal(text: &str) -> Want {
    Want::Fixed(Constraint::Equal(text.to_owned()))
}

fn prefix(text: &str) -> Want {
    Want::Fixed(Constraint::Prefix(text.to_owned()))
}

fn pattern(text: &str) -> Want {
    Want::Fixed(Constraint::pattern(text))
}

/// The secrets that daemons keep for themselves.
fn private_keys(profile: &str) -> &'static [Rule] {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let commands =
            ["config-key get", "config-key put", "config-key set", "config-key exists", "config-key delete"];
        commands.into_iter().map(|c| Rule::new(c, vec![("key", Want::OwnPrivateKey)])).collect()
    });
    if matches!(profile, "mon" | "osd" | "mds" | "mgr") { &RULES } else { &[] }
}

fn commands(profile: &str) -> &'static [Rule] {
    const CREATE: &str = "auth get-or-create";
    /// One RBD profile or several, each with or without a pool.
    const RBD_OSD_CAPS: &str =
        r#"([ ,]*profile(=| +)['"]?rbd[^ ,'"]*['"]?( +pool(=| +)['"]?[^,'"]+['"]?)?)+"#;

    fn blocklist() -> Rule {
        let addr = pattern("[^/]+/[0-9]+");
        Rule::new("osd blocklist", vec![("blocklistop", equal("add")), ("addr", addr)])
    }
    fn getmap() -> Rule {
        Rule::new("mon getmap", vec![])
    }

    static MDS: LazyLock<Vec<Rule>> =
        LazyLock::new(|| vec![Rule::new("osd pool rmsnap", vec![]), Rule::new("osd blocklist", vec![])]);
    static RBD: LazyLock<Vec<Rule>> = LazyLock::new(|| vec![blocklist()]);
    static RBD_MIRROR: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        vec![blocklist(), Rule::new("config-key get", vec![("key", prefix("rbd/mirror/"))])]
    });
    static BOOTSTRAP_OSD: LazyLock<Vec<Rule>> =
        LazyLock::new(|| vec![getmap(), Rule::new("osd new", vec![]), Rule::new("osd purge-new", vec![])]);
    static BOOTSTRAP_MDS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let caps = [("caps_mon", "allow profile mds"), ("caps_osd", "allow rwx"), ("caps_mds", "allow")];
        vec![getmap(), Rule::new(CREATE, creating("mds.", &caps))]
    });
    static BOOTSTRAP_MGR: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let caps = [("caps_mon", "allow profile mgr"), ("caps_osd", "allow *"), ("caps_mds", "allow *")];
        vec![getmap(), Rule::new(CREATE, creating("mgr.", &caps))]
    });
    static BOOTSTRAP_RGW: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let caps = [("caps_mon", "allow rw"), ("caps_osd", "allow rwx")];
        vec![getmap(), Rule::new(CREATE, creating("client.rgw.", &caps))]
    });
    static BOOTSTRAP_RBD: LazyLock<Vec<Rule>> = LazyLock::new(|| vec![rbd_client("profile rbd")]);
    static BOOTSTRAP_RBD_MIRROR: LazyLock<Vec<Rule>> =
        LazyLock::new(|| vec![rbd_client("profile rbd-mirror")]);

    fn creating(entity: &str, caps: &[(&'static str, &str)]) -> Vec<(&'static str, Want)> {
        let caps = caps.iter().map(|(service, text)| (*service, equal(text)));
        [("entity", prefix(entity))].into_iter().chain(caps).collect()
    }
    fn rbd_client(mon: &str) -> Rule {
        let mut arguments = creating("client.", &[("caps_mon", mon)]);
        arguments.push(("caps_osd", pattern(RBD_OSD_CAPS)));
        Rule::new(CREATE, arguments)
    }

    match profile {
        "mds" => &MDS,
        "rbd" => &RBD,
        "rbd-mirror" => &RBD_MIRROR,
        "bootstrap-osd" => &BOOTSTRAP_OSD,
        "bootstrap-mds" => &BOOTSTRAP_MDS,
        "bootstrap-mgr" => &BOOTSTRAP_MGR,
        "bootstrap-rgw" => &BOOTSTRAP_RGW,
        "bootstrap-rbd" => &BOOTSTRAP_RBD,
        "bootstrap-rbd-mirror" => &BOOTSTRAP_RBD_MIRROR,
        _ => &[],
    }
}
