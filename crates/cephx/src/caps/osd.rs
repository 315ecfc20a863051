//! Capabilities at an OSD: which objects may be read and written, and which class methods called.

use std::{collections::BTreeMap, net::IpAddr};

use super::{CapsError, network::Network, osd_parse, osd_profile, scan};

/// `application -> key -> value` of a pool.
pub type ApplicationMetadata = BTreeMap<String, BTreeMap<String, String>>;

/// Class calls of one operation that are looked at; more are refused.
pub const MAX_CLASS_CALLS: usize = 64;

/// One operation, as it wants to be allowed.
#[derive(Debug, Clone, Copy)]
pub struct OsdAccess<'a> {
    /// The pool's name.
    pub pool_name: &'a str,
    /// The pool's application metadata.
    pub application_metadata: &'a ApplicationMetadata,
    /// The namespace; empty for the default one.
    pub nspace: &'a [u8],
    /// The object's name; empty for operations on a whole placement group, such as listing.
    pub object: &'a [u8],
    /// It reads, other than through class methods.
    pub read: bool,
    /// It writes, other than through class methods.
    pub write: bool,
    /// The class methods it calls, at most [`MAX_CLASS_CALLS`].
    pub classes: &'a [ClassCall<'a>],
    /// Where the client is, for grants with `network`.
    pub addr: Option<IpAddr>,
}

/// One call of a class method.
#[derive(Debug, Clone, Copy)]
pub struct ClassCall<'a> {
    /// The class.
    pub class: &'a str,
    /// The method.
    pub method: &'a str,
    /// The method reads.
    pub read: bool,
    /// The method writes.
    pub write: bool,
    /// The OSD's list of classes that clients may call without an explicit grant has it.
    pub allow_listed: bool,
}

/// Capabilities at an OSD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OsdCaps {
    grants: Vec<Grant>,
}

impl OsdCaps {
    /// Parses the text of a ticket. Empty text is an error here.
    pub fn parse(text: &str) -> Result<Self, CapsError> {
        match scan::list(text, osd_parse::grant) {
            Ok(grants) => Ok(OsdCaps { grants }),
            Err(offset) => Err(CapsError::new("osd", text, offset)),
        }
    }

    /// Whether the operation is allowed. Reading and writing must be granted by one grant; the right to
    /// each class call may come from any grant that matches before it. Does not allocate.
    pub fn allows(&self, access: &OsdAccess<'_>) -> bool {
        let calls = access.classes.len();
        if calls > MAX_CLASS_CALLS {
            return false;
        }
        let all_calls = u64::MAX.checked_shr(64 - calls as u32).unwrap_or(0);
        let mut allowed_calls = 0;
        self.grants.iter().any(|grant| {
            grant.network.as_ref().is_none_or(|network| network.contains(access.addr))
                && grant.rules.iter().any(|rule| rule.allows(access, all_calls, &mut allowed_calls))
        })
    }
}

/// `allow ...` has one rule; a profile expands into several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) rules: Vec<Rule>,
    pub(super) network: Option<Network>,
}

/// Rights on the objects that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) spec: Spec,
    pub(super) scope: Scope,
}

/// What is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spec {
    /// `*`: everything, classes that are not listed too.
    Everything,
    /// Any of r, w, class-read, class-write.
    Rights(OsdRights),
    /// All methods of a class, or one.
    Class { class: String, method: Option<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct OsdRights {
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) class_read: bool,
    pub(super) class_write: bool,
}

/// Where it is granted; parts that are `None` match everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scope {
    pub(super) pool: Option<String>,
    pub(super) nspace: Option<Namespace>,
    pub(super) prefix: Option<String>,
    pub(super) tag: Option<Tag>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Namespace {
    Exactly(String),
    StartingWith(String),
}

/// Application metadata that a pool must have; `None` matches any key or value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) application: String,
    pub(super) key: Option<String>,
    pub(super) value: Option<String>,
}

impl Rule {
    fn allows(&self, access: &OsdAccess<'_>, all_calls: u64, allowed_calls: &mut u64) -> bool {
        if !self.scope.matches(access) {
            return false;
        }
        let rights = match &self.spec {
            Spec::Everything => return true,
            Spec::Rights(rights) => *rights,
            Spec::Class { .. } => OsdRights::default(),
        };
        if access.read && !rights.read || access.write && !rights.write {
            return false;
        }
        for (i, call) in access.classes.iter().enumerate() {
            let named = match &self.spec {
                Spec::Class { class, method } => {
                    class == call.class && method.as_deref().is_none_or(|method| method == call.method)
                }
                _ => false,
            };
            let covered =
                call.allow_listed && (rights.class_read || !call.read) && (rights.class_write || !call.write);
            if named || covered {
                *allowed_calls |= 1 << i;
            }
        }
        // An operation that neither reads, writes nor calls anything passes every grant that matches.
        *allowed_calls == all_calls
    }
}

impl Scope {
    fn matches(&self, access: &OsdAccess<'_>) -> bool {
        self.pool.as_ref().is_none_or(|pool| pool == access.pool_name)
            && self.nspace.as_ref().is_none_or(|nspace| nspace.matches(access.nspace))
            && self.prefix.as_ref().is_none_or(|prefix| access.object.starts_with(prefix.as_bytes()))
            && self.tag.as_ref().is_none_or(|tag| tag.matches(access.application_metadata))
    }
}

impl Namespace {
    fn matches(&self, nspace: &[u8]) -> bool {
        match self {
            Namespace::Exactly(name) => name.as_bytes() == nspace,
            Namespace::StartingWith(prefix) => nspace.starts_with(prefix.as_bytes()),
        }
    }
}

impl Tag {
    fn matches(&self, metadata: &ApplicationMetadata) -> bool {
        let Some(pairs) = metadata.get(&self.application) else { return false };
        let value_fits = |value: &String| self.value.as_ref().is_none_or(|wanted| wanted == value);
        match &self.key {
            Some(key) => pairs.get(key).is_some_and(value_fits),
            // `*=*` asks for the application alone.
            None if self.value.is_none() => true,
            None => pairs.values().any(value_fits),
        }
    }
}

impl Grant {
    pub(super) fn allow(spec: Spec, scope: Scope, network: Option<Network>) -> Self {
        Grant { rules: vec![Rule { spec, scope }], network }
    }

    pub(super) fn profile(
        name: &str,
        pool: Option<String>,
        nspace: Option<Namespace>,
        network: Option<Network>,
    ) -> Self {
        Grant { rules: osd_profile::expand(name, pool, nspace), network }
    }
}
