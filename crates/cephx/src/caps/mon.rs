//! Capabilities at a monitor: which services may be read, changed and commanded.

use std::{collections::BTreeMap, net::IpAddr};

use regex_lite::Regex;
use sepiola_wire::EntityName;

use super::{CapsError, Rwx, mon_parse, mon_profile, network::Network, scan};

/// Capabilities at a monitor.
#[derive(Debug, Clone)]
pub struct MonCaps {
    grants: Vec<Grant>,
}

impl MonCaps {
    /// Parses the text of an entity's record. Empty text is an error here.
    pub fn parse(text: &str) -> Result<Self, CapsError> {
        match scan::list(text, mon_parse::grant) {
            Ok(grants) => Ok(MonCaps { grants }),
            Err(offset) => Err(CapsError::new("mon", text, offset)),
        }
    }

    /// True for `allow *`: an administrator.
    pub fn is_allow_all(&self) -> bool {
        self.grants.iter().any(|g| matches!(g.what, What::Everything) && g.network.is_none())
    }

    /// As [`MonCaps::allows_from`] for a peer whose address is not known: grants with `network` do not
    /// count.
    pub fn allows(
        &self,
        entity: &EntityName,
        service: &str,
        command: Option<(&str, &BTreeMap<String, String>)>,
        need: Rwx,
    ) -> bool {
        self.allows_from(None, entity, service, command, need)
    }

    /// Whether `entity` may use `service` with the rights `need`, by a message or by `command` with its
    /// arguments. Rights of several grants add up. `auth` takes x even for reading, and `config-key`
    /// secrets are out of reach of plain r, w and x.
    pub fn allows_from(
        &self,
        addr: Option<IpAddr>,
        entity: &EntityName,
        service: &str,
        command: Option<(&str, &BTreeMap<String, String>)>,
        need: Rwx,
    ) -> bool {
        let need = if service == "auth" { need | Rwx::X } else { need };
        let request = Request { entity, service, command };
        let mut have = Rwx::NONE;
        self.grants.iter().any(|grant| {
            if grant.network.as_ref().is_none_or(|network| network.contains(addr)) {
                have |= grant.what.rights(&request);
            }
            have.contains(need)
        })
    }
}

/// What an entity asks a monitor for.
pub(super) struct Request<'a> {
    pub(super) entity: &'a EntityName,
    pub(super) service: &'a str,
    pub(super) command: Option<(&'a str, &'a BTreeMap<String, String>)>,
}

#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) what: What,
    pub(super) network: Option<Network>,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    /// `*`
    Everything,
    /// Rights at every service but config-key.
    Rights(Rwx),
    /// Rights at one service.
    Service(String, Rwx),
    /// One command, if its arguments fit.
    Command { name: String, arguments: Vec<(String, Constraint)> },
    /// A named set of grants.
    Profile(String),
}

/// What an argument of a command must be.
#[derive(Debug, Clone)]
pub(super) enum Constraint {
    Equal(String),
    Prefix(String),
    /// Matches the whole argument. A pattern that is none matches nothing.
    Pattern(Option<Regex>),
}

impl What {
    fn rights(&self, request: &Request<'_>) -> Rwx {
        let granted = |granted: bool, rights| if granted { rights } else { Rwx::NONE };
        match self {
            What::Everything => Rwx::RWX,
            What::Rights(rights) => granted(request.service != "config-key", *rights),
            What::Service(service, rights) => granted(request.service == service, *rights),
            What::Command { name, arguments } => granted(
                request.is_command(name, |key, value| fits(arguments, key, value), arguments.len()),
                Rwx::RWX,
            ),
            What::Profile(profile) => mon_profile::rights(profile, request),
        }
    }
}

fn fits(arguments: &[(String, Constraint)], index: usize, given: &BTreeMap<String, String>) -> bool {
    let (key, constraint) = &arguments[index];
    given.get(key).is_some_and(|value| constraint.holds(value))
}

impl Request<'_> {
    /// True if the request is this command and all of its `count` constraints hold.
    pub(super) fn is_command(
        &self,
        name: &str,
        holds: impl Fn(usize, &BTreeMap<String, String>) -> bool,
        count: usize,
    ) -> bool {
        // Releases before 16 had another word for the same command.
        let modern = |name: &str| name.replace("blacklist", "blocklist");
        self.command.is_some_and(|(command, arguments)| {
            (command == name || modern(command) == modern(name)) && (0..count).all(|i| holds(i, arguments))
        })
    }
}

impl Constraint {
    pub(super) fn pattern(text: &str) -> Self {
        Constraint::Pattern(Regex::new(&format!("^(?:{text})$")).ok())
    }

    pub(super) fn holds(&self, value: &str) -> bool {
        match self {
            Constraint::Equal(wanted) => wanted == value,
            Constraint::Prefix(prefix) => value.starts_with(prefix.as_str()),
            Constraint::Pattern(pattern) => pattern.as_ref().is_some_and(|p| p.is_match(value)),
        }
    }
}
