//! Which authentication methods apply.

use std::str::FromStr;

use sepiola_cephx::{AuthMethod, ParseMethodError};
use sepiola_wire::EntityType;

use super::mode::is_mon_or_mgr;

/// Reads a list of methods as the `auth_*_required` options have it: `cephx, none`.
///
/// # Errors
/// Names the first word that is no method.
pub fn parse_methods(text: &str) -> Result<Vec<AuthMethod>, ParseMethodError> {
    parse_list(text)
}

/// Words between spaces, tabs, commas and semicolons; a repeated word counts once.
pub(super) fn parse_list<T: FromStr + PartialEq>(text: &str) -> Result<Vec<T>, T::Err> {
    let mut items = Vec::new();
    for word in text.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()) {
        let item = word.parse()?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Ok(items)
}

/// The `auth_*_required` options, the preferred method first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodOptions {
    /// `auth_cluster_required`: between daemons.
    pub cluster: Vec<AuthMethod>,
    /// `auth_service_required`: what daemons ask of clients.
    pub service: Vec<AuthMethod>,
    /// `auth_client_required`: what clients ask of daemons.
    pub client: Vec<AuthMethod>,
}

impl MethodOptions {
    /// The methods that apply between `me` and `peer`, whichever of them dials.
    pub fn methods(&self, me: EntityType, peer: EntityType) -> &[AuthMethod] {
        if me == EntityType::Client {
            return &self.client;
        }
        let cluster = if is_mon_or_mgr(me) { is_mon_or_mgr(peer) } else { peer != EntityType::Client };
        if cluster { &self.cluster } else { &self.service }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EntityType::{Client, Mds, Mgr, Mon, Osd};

    #[test]
    fn the_option_table() {
        let options = MethodOptions {
            cluster: vec![AuthMethod::Cephx],
            service: vec![AuthMethod::None],
            client: vec![AuthMethod::Cephx, AuthMethod::None],
        };
        for (me, peer, expected) in [
            (Client, Mon, &options.client),
            (Client, Osd, &options.client),
            (Osd, Mon, &options.cluster),
            (Osd, Mds, &options.cluster),
            (Osd, Client, &options.service),
            (Mon, Mgr, &options.cluster),
            (Mon, Osd, &options.service),
            (Mgr, Client, &options.service),
        ] {
            assert_eq!(options.methods(me, peer), &expected[..], "{me} with {peer}");
        }
    }

    #[test]
    fn lists() {
        assert_eq!(parse_methods("cephx, none").unwrap(), [AuthMethod::Cephx, AuthMethod::None]);
        assert!(parse_methods("cephx gss").is_err());
    }
}
