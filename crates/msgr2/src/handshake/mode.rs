//! Which connection mode applies: the options, and the server's choice.

use sepiola_cephx::{AllowedAuth, AuthMethod, ConMode, ParseMethodError};
use sepiola_wire::EntityType;

use super::MethodOptions;

/// Picks the connection mode as every server does: the first of the client's list that the server allows.
/// Method none goes with crc only, since it agrees on no key.
pub(crate) fn choose_mode(offered: &[u32], allowed: &[ConMode], method: AuthMethod) -> Option<ConMode> {
    offered
        .iter()
        .filter_map(|&mode| ConMode::from_u32(mode))
        .filter(|&mode| method != AuthMethod::None || mode == ConMode::Crc)
        .find(|mode| allowed.contains(mode))
}

/// Reads a list of modes as the `ms_*_mode` options have it: `secure crc`, `secure, crc`.
///
/// # Errors
/// Names the first word that is no mode.
pub fn parse_modes(text: &str) -> Result<Vec<ConMode>, ParseMethodError> {
    super::method::parse_list(text)
}

/// The `ms_*_mode` options: what a dialler offers and what an acceptor allows, the preferred mode first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeOptions {
    /// `ms_cluster_mode`: between daemons other than monitors and managers.
    pub cluster: Vec<ConMode>,
    /// `ms_service_mode`: what daemons allow to clients.
    pub service: Vec<ConMode>,
    /// `ms_client_mode`: what clients offer to daemons.
    pub client: Vec<ConMode>,
    /// `ms_mon_cluster_mode`: to and among monitors and managers.
    pub mon_cluster: Vec<ConMode>,
    /// `ms_mon_service_mode`: what monitors and managers allow to everybody else.
    pub mon_service: Vec<ConMode>,
    /// `ms_mon_client_mode`: what clients offer to monitors and managers.
    pub mon_client: Vec<ConMode>,
}

impl ModeOptions {
    /// The list that applies between `me` and `peer`, whichever of them dials.
    pub fn modes(&self, me: EntityType, peer: EntityType) -> &[ConMode] {
        match (is_mon_or_mgr(me), is_mon_or_mgr(peer)) {
            (true, true) => &self.mon_cluster,
            (true, false) => &self.mon_service,
            (false, true) if me == EntityType::Client => &self.mon_client,
            (false, true) => &self.mon_cluster,
            (false, false) if me == EntityType::Client => &self.client,
            (false, false) if peer == EntityType::Client => &self.service,
            (false, false) => &self.cluster,
        }
    }

    /// What a daemon of type `me` allows to whoever dials it.
    pub fn allowed(&self, me: EntityType, methods: &MethodOptions) -> AllowedAuth {
        AllowedAuth {
            cluster_methods: methods.cluster.clone(),
            service_methods: methods.service.clone(),
            mon_modes: self.modes(me, EntityType::Mon).to_vec(),
            daemon_modes: self.modes(me, EntityType::Osd).to_vec(),
            client_modes: self.modes(me, EntityType::Client).to_vec(),
        }
    }
}

pub(super) fn is_mon_or_mgr(kind: EntityType) -> bool {
    matches!(kind, EntityType::Mon | EntityType::Mgr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use EntityType::{Client, Mds, Mgr, Mon, Osd};

    #[test]
    fn the_server_walks_the_clients_list() {
        let both = [ConMode::Secure, ConMode::Crc];
        assert_eq!(choose_mode(&[1, 2], &both, AuthMethod::Cephx), Some(ConMode::Crc));
        assert_eq!(choose_mode(&[2, 1], &both, AuthMethod::Cephx), Some(ConMode::Secure));
        assert_eq!(choose_mode(&[7, 1], &both, AuthMethod::Cephx), Some(ConMode::Crc));
        assert_eq!(choose_mode(&[1], &[ConMode::Secure], AuthMethod::Cephx), None);
        assert_eq!(choose_mode(&[2, 1], &both, AuthMethod::None), Some(ConMode::Crc));
        assert_eq!(choose_mode(&[2], &both, AuthMethod::None), None);
        assert_eq!(choose_mode(&[], &both, AuthMethod::Cephx), None);
    }

    /// One distinguishable list an option, to see which one was taken.
    #[test]
    fn the_option_table() {
        use ConMode::{Crc, Secure};
        let options = ModeOptions {
            cluster: vec![Crc],
            service: vec![Secure],
            client: vec![Crc, Secure],
            mon_cluster: vec![Secure, Crc],
            mon_service: vec![Crc, Crc],
            mon_client: vec![Secure, Secure],
        };
        for (me, peer, expected) in [
            (Client, Mon, &options.mon_client),
            (Client, Mgr, &options.mon_client),
            (Client, Osd, &options.client),
            (Client, Mds, &options.client),
            (Mon, Mon, &options.mon_cluster),
            (Mon, Mgr, &options.mon_cluster),
            (Mgr, Mon, &options.mon_cluster),
            (Mon, Osd, &options.mon_service),
            (Mgr, Osd, &options.mon_service),
            (Mon, Client, &options.mon_service),
            (Osd, Mon, &options.mon_cluster),
            (Mds, Mgr, &options.mon_cluster),
            (Osd, Osd, &options.cluster),
            (Osd, Mds, &options.cluster),
            (Osd, Client, &options.service),
        ] {
            assert_eq!(options.modes(me, peer), &expected[..], "{me} with {peer}");
        }
    }

    /// The acceptor's form must say the same as the table, for every pair.
    #[test]
    fn what_a_daemon_allows_follows_the_table() {
        let modes = ModeOptions {
            cluster: vec![ConMode::Crc],
            service: vec![ConMode::Secure],
            client: vec![],
            mon_cluster: vec![ConMode::Secure, ConMode::Crc],
            mon_service: vec![ConMode::Crc],
            mon_client: vec![],
        };
        let methods = MethodOptions {
            cluster: vec![AuthMethod::Cephx],
            service: vec![AuthMethod::Cephx, AuthMethod::None],
            client: vec![],
        };
        for me in [Mon, Mgr, Osd, Mds] {
            let allowed = modes.allowed(me, &methods);
            for peer in [Mon, Mgr, Osd, Mds, Client] {
                assert_eq!(allowed.modes(peer, AuthMethod::Cephx), modes.modes(me, peer), "{me} with {peer}");
                assert_eq!(allowed.methods(me, peer), methods.methods(me, peer), "{me} with {peer}");
            }
        }
    }

    #[test]
    fn lists_are_read_with_any_separator() {
        use ConMode::{Crc, Secure};
        assert_eq!(parse_modes("crc secure").unwrap(), [Crc, Secure]);
        assert_eq!(parse_modes(" secure,crc;\tsecure ").unwrap(), [Secure, Crc]);
        assert_eq!(parse_modes("").unwrap(), []);
        assert!(parse_modes("secure plain").is_err());
    }
}
