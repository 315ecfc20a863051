//! The house stands in layers: a crate may use only crates below it, so that a reader of one never has to
//! know what is above.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// For each crate, the crates that it may use, from the bottom of the house to the top. Tools for tests
/// (development dependencies) are not part of the house.
const ALLOWED: [(&str, &[&str]); 18] = [
    ("wire", &[]),
    ("proto", &[]),
    ("config", &["wire"]),
    ("crypto", &["wire"]),
    ("osdmap", &["wire"]),
    ("cephx", &["wire", "crypto"]),
    ("messages", &["wire", "osdmap", "proto"]),
    ("msgr2", &["wire", "crypto", "cephx"]),
    ("objectstore", &["wire"]),
    ("messenger", &["wire", "crypto", "cephx", "msgr2", "messages"]),
    (
        "monclient",
        &["wire", "crypto", "cephx", "osdmap", "msgr2", "messages", "messenger", "proto", "config"],
    ),
    ("mon", &["wire", "crypto", "cephx", "osdmap", "msgr2", "messages", "messenger", "proto", "config"]),
    (
        "osd",
        &[
            "wire",
            "crypto",
            "cephx",
            "osdmap",
            "msgr2",
            "messages",
            "messenger",
            "monclient",
            "objectstore",
            "proto",
            "config",
        ],
    ),
    (
        "client",
        &[
            "wire",
            "crypto",
            "cephx",
            "osdmap",
            "msgr2",
            "messages",
            "messenger",
            "monclient",
            "proto",
            "config",
        ],
    ),
    (
        "cluster",
        &[
            "wire",
            "crypto",
            "cephx",
            "osdmap",
            "msgr2",
            "messages",
            "messenger",
            "monclient",
            "objectstore",
            "proto",
            "config",
            "mon",
            "osd",
            "client",
        ],
    ),
    (
        "sepiola",
        &[
            "wire",
            "crypto",
            "cephx",
            "osdmap",
            "msgr2",
            "messages",
            "messenger",
            "monclient",
            "objectstore",
            "proto",
            "config",
            "mon",
            "osd",
            "client",
            "cluster",
        ],
    ),
    ("tests", &["client", "cluster"]),
    (
        "benches",
        &[
            "tests",
            "wire",
            "crypto",
            "cephx",
            "osdmap",
            "msgr2",
            "messages",
            "messenger",
            "monclient",
            "objectstore",
            "proto",
            "config",
            "mon",
            "osd",
            "client",
            "cluster",
        ],
    ),
];

/// The name without the common prefix.
fn short(package: &str) -> &str {
    package.strip_prefix("sepiola-").unwrap_or(package)
}

#[test]
fn crates_use_only_what_is_below_them() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let members: BTreeSet<&str> = metadata.packages.iter().map(|package| short(&package.name)).collect();
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let name = short(&package.name);
        let Some(allowed) = allowed.get(name) else {
            wrong.push(format!("{name} has no place in the house"));
            continue;
        };
        let used = package.dependencies.iter().filter(|used| used.kind != DependencyKind::Development);
        for used in used.map(|used| short(&used.name)).filter(|used| members.contains(used)) {
            if !allowed.contains(&used) {
                wrong.push(format!("{name} must not use {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_layers_have_no_way_back_up() {
    let mut below = BTreeSet::new();
    for (name, allowed) in ALLOWED {
        for used in allowed {
            assert!(below.contains(used), "{name} may use {used}, which is not below it");
        }
        below.insert(name);
    }
}
