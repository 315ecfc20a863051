//! Which methods and modes an accepting daemon allows to whom.

use sepiola_wire::{EntityName, EntityType};

use crate::{AuthMethod, ConMode};

/// Allowed methods and modes, by what the peer says it is. Lists are in this side's order of preference,
/// which only shows in refusals: the client's order decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedAuth {
    /// `auth_cluster_required`: towards daemons.
    pub cluster_methods: Vec<AuthMethod>,
    /// `auth_service_required`: towards clients.
    pub service_methods: Vec<AuthMethod>,
    /// Towards monitors and managers: `ms_mon_cluster_mode`.
    pub mon_modes: Vec<ConMode>,
    /// Towards other daemons: `ms_cluster_mode`; on a monitor `ms_mon_service_mode`.
    pub daemon_modes: Vec<ConMode>,
    /// Towards clients: `ms_service_mode`; on a monitor `ms_mon_service_mode`.
    pub client_modes: Vec<ConMode>,
}

impl Default for AllowedAuth {
    /// cephx and secure, and nothing else.
    fn default() -> Self {
        Self::uniform(&[AuthMethod::Cephx], &[ConMode::Secure])
    }
}

impl AllowedAuth {
    /// The same for every peer.
    pub fn uniform(methods: &[AuthMethod], modes: &[ConMode]) -> Self {
        AllowedAuth {
            cluster_methods: methods.to_vec(),
            service_methods: methods.to_vec(),
            mon_modes: modes.to_vec(),
            daemon_modes: modes.to_vec(),
            client_modes: modes.to_vec(),
        }
    }

    /// Methods for a peer of this kind, seen from a daemon of kind `own`.
    pub fn methods(&self, own: EntityType, peer: EntityType) -> &[AuthMethod] {
        let cluster = match own {
            EntityType::Mon | EntityType::Mgr => matches!(peer, EntityType::Mon | EntityType::Mgr),
            _ => is_daemon(peer),
        };
        if cluster { &self.cluster_methods } else { &self.service_methods }
    }

    /// Modes for a peer of this kind. Method none has no secret to encrypt with: only crc is left to it.
    pub fn modes(&self, peer: EntityType, method: AuthMethod) -> &[ConMode] {
        let modes = match peer {
            EntityType::Mon | EntityType::Mgr => &self.mon_modes,
            EntityType::Mds | EntityType::Osd => &self.daemon_modes,
            _ => &self.client_modes,
        };
        match method {
            AuthMethod::Cephx => modes,
            AuthMethod::None if modes.contains(&ConMode::Crc) => &[ConMode::Crc],
            AuthMethod::None => &[],
        }
    }

    /// Whether `name` may use `method`, whatever its bearer said it was.
    pub(super) fn allows_name(&self, name: &EntityName, method: AuthMethod) -> bool {
        let methods = if is_daemon(name.kind) { &self.cluster_methods } else { &self.service_methods };
        methods.contains(&method)
    }
}

fn is_daemon(kind: EntityType) -> bool {
    matches!(kind, EntityType::Mon | EntityType::Osd | EntityType::Mds | EntityType::Mgr)
}

/// Whether a peer that announced itself as `announced` may authenticate as `name`.
///
/// The announcement is not authenticated and picks the connection's policy, so a client must not pass for
/// a daemon. The other way round is what command line tools do: they announce a client and use a daemon's
/// key (`ceph -n osd.0`), which gives them no more than a client's policy.
pub(super) fn may_announce(announced: EntityType, name: &EntityName) -> bool {
    announced == name.kind || announced == EntityType::Client
}
