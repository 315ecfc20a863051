//! What the named profiles stand for at an OSD.

use super::osd::{Namespace, OsdRights, Rule, Scope, Spec};

const READ: OsdRights = OsdRights { read: true, write: false, class_read: false, class_write: false };
const READ_WRITE: OsdRights = OsdRights { read: true, write: true, class_read: false, class_write: false };
const READ_CLASS_READ: OsdRights =
    OsdRights { read: true, write: false, class_read: true, class_write: false };
const CLASS_READ: OsdRights = OsdRights { read: false, write: false, class_read: true, class_write: false };
const ALL: OsdRights = OsdRights { read: true, write: true, class_read: true, class_write: true };

/// The rules of a profile that is limited to a pool and a namespace. Profiles that only mean something at
/// other services, and unknown ones, have none.
pub(super) fn expand(name: &str, pool: Option<String>, nspace: Option<Namespace>) -> Vec<Rule> {
    let here = Scope { pool, nspace, ..Scope::default() };
    match name {
        "read-only" => vec![rule(READ, here)],
        "read-write" => vec![rule(READ_WRITE, here)],
        "rbd" => vec![
            rule(READ, prefixed("rbd_info")),
            rule(CLASS_READ, prefixed("rbd_children")),
            rule(CLASS_READ, prefixed("rbd_mirroring")),
            metadata_list(&here),
            rule(ALL, here),
        ],
        "rbd-read-only" => {
            let headers = Scope { prefix: Some("rbd_header.".to_owned()), ..here.clone() };
            vec![
                metadata_list(&here),
                rule(READ_CLASS_READ, here),
                class("child_attach", headers.clone()),
                class("child_detach", headers),
            ]
        }
        _ => Vec::new(),
    }
}

fn rule(rights: OsdRights, scope: Scope) -> Rule {
    Rule { spec: Spec::Rights(rights), scope }
}

fn class(method: &str, scope: Scope) -> Rule {
    Rule { spec: Spec::Class { class: "rbd".to_owned(), method: Some(method.to_owned()) }, scope }
}

/// Objects with this prefix, wherever they are.
fn prefixed(prefix: &str) -> Scope {
    Scope { prefix: Some(prefix.to_owned()), ..Scope::default() }
}

/// Reading the names of a pool's namespaces, which are kept in its default namespace.
fn metadata_list(here: &Scope) -> Rule {
    let scope = Scope {
        pool: here.pool.clone(),
        nspace: Some(Namespace::Exactly(String::new())),
        ..prefixed("rbd_info")
    };
    class("metadata_list", scope)
}
