//! Who asks the monitor for something, and what it may.

use std::{collections::BTreeMap, net::IpAddr};

use sepiola_cephx::{PeerCaps, caps::Rwx};
use sepiola_wire::{EntityAddrVec, EntityName, GlobalId};

/// Who is at the other end of a session.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub name: EntityName,
    pub caps: PeerCaps,
    /// Where it connects from, for grants that depend on it.
    pub addr: Option<IpAddr>,
    /// The addresses that it gives itself.
    pub addrs: EntityAddrVec,
    pub global_id: GlobalId,
}

impl Caller {
    /// Whoever runs this monitor.
    pub fn administrator() -> Self {
        Caller {
            name: EntityName::client("admin"),
            caps: PeerCaps::allow_all(),
            addr: None,
            addrs: EntityAddrVec::default(),
            global_id: GlobalId(0),
        }
    }
}

/// Whether a caller has rights (letters of `rwx`) at a monitor service.
pub(crate) fn allowed(
    caller: &Caller,
    service: &str,
    command: Option<(&str, &BTreeMap<String, String>)>,
    perm: &str,
) -> bool {
    let need = [('r', Rwx::R), ('w', Rwx::W), ('x', Rwx::X)]
        .into_iter()
        .filter(|(letter, _)| perm.contains(*letter))
        .fold(Rwx::NONE, |need, (_, right)| need | right);
    caller.caps.allows_mon(caller.addr, &caller.name, service, command, need)
}
