//! The grammar of OSD capabilities.
//!
//! ```text
//! grant   := "allow" spec match? net? | "allow" match spec net? | profile net?
//! spec    := "*" | "all" | rwx? "class-read"? "class-write"? | "class" NAME METHOD?
//! match   := pool? namespace? prefix? | namespace? tag
//! profile := "profile" ("=" | SP) NAME pool? namespace?
//! ```

use super::{
    network::Network,
    osd::{Grant, Namespace, OsdRights, Scope, Spec, Tag},
    scan::Scan,
};

/// One grant and the spaces around it.
pub(super) fn grant(s: &mut Scan<'_>) -> Option<Grant> {
    s.spaces();
    let grant = s.attempt(allow).or_else(|| s.attempt(profile))?;
    s.spaces();
    Some(grant)
}

fn allow(s: &mut Scan<'_>) -> Option<Grant> {
    s.lit("allow")?;
    let (spec, scope) = match s.attempt(spec) {
        Some(spec) => (spec, scope(s)),
        None => {
            let scope = scope(s);
            (s.attempt(spec)?, scope)
        }
    };
    Some(Grant::allow(spec, scope, network(s)))
}

fn profile(s: &mut Scan<'_>) -> Option<Grant> {
    s.lit("profile")?;
    s.equals_or_spaces()?;
    let name = s.string()?;
    let (pool, nspace) = (pool(s), nspace(s));
    Some(Grant::profile(name, pool, nspace, network(s)))
}

fn spec(s: &mut Scan<'_>) -> Option<Spec> {
    everything(s).or_else(|| s.attempt(rights)).or_else(|| s.attempt(class))
}

fn everything(s: &mut Scan<'_>) -> Option<Spec> {
    s.attempt(|s| {
        s.spaces()?;
        s.lit("*").or_else(|| s.lit("all"))?;
        Some(Spec::Everything)
    })
}

fn rights(s: &mut Scan<'_>) -> Option<Spec> {
    let mut rights = OsdRights::default();
    s.attempt(|s| {
        s.spaces()?;
        let before = s.offset();
        rights.read = s.lit("r").is_some();
        rights.write = s.lit("w").is_some();
        if s.lit("x").is_some() {
            rights.class_read = true;
            rights.class_write = true;
        }
        (s.offset() > before).then_some(())
    });
    rights.class_read |= spaced_lit(s, "class-read").is_some();
    rights.class_write |= spaced_lit(s, "class-write").is_some();
    (rights != OsdRights::default()).then_some(Spec::Rights(rights))
}

fn class(s: &mut Scan<'_>) -> Option<Spec> {
    spaced_lit(s, "class")?;
    s.spaces()?;
    let class = s.string()?.to_owned();
    let method = s.attempt(|s| {
        s.spaces()?;
        s.string().map(str::to_owned)
    });
    Some(Spec::Class { class, method })
}

fn scope(s: &mut Scan<'_>) -> Scope {
    let pool = pool(s);
    let nspace = nspace(s);
    // A tag says which pools; a pool's name beside it is not understood.
    let tag = if pool.is_none() { s.attempt(tag) } else { None };
    let prefix = if tag.is_none() { s.attempt(prefix) } else { None };
    Scope { pool, nspace, prefix, tag }
}

fn pool(s: &mut Scan<'_>) -> Option<String> {
    s.attempt(|s| {
        spaced_lit(s, "pool")?;
        s.equals_or_spaces()?;
        s.string().map(str::to_owned)
    })
}

fn nspace(s: &mut Scan<'_>) -> Option<Namespace> {
    s.attempt(|s| {
        spaced_lit(s, "namespace")?;
        s.equals_or_spaces()?;
        let name = s.quoted().or_else(|| s.word())?.to_owned();
        Some(match s.lit("*") {
            Some(()) => Namespace::StartingWith(name),
            None => Namespace::Exactly(name),
        })
    })
}

fn prefix(s: &mut Scan<'_>) -> Option<String> {
    spaced_lit(s, "object_prefix")?;
    s.spaces()?;
    s.string().map(str::to_owned)
}

fn tag(s: &mut Scan<'_>) -> Option<Tag> {
    spaced_lit(s, "tag")?;
    s.spaces()?;
    let application = s.string()?.to_owned();
    s.spaces()?;
    let key = string_or_any(s)?;
    s.spaces();
    s.lit("=")?;
    s.spaces();
    let value = string_or_any(s)?;
    Some(Tag { application, key, value })
}

fn string_or_any(s: &mut Scan<'_>) -> Option<Option<String>> {
    match s.lit("*") {
        Some(()) => Some(None),
        None => s.string().map(|text| Some(text.to_owned()).filter(|text| text != "all")),
    }
}

fn network(s: &mut Scan<'_>) -> Option<Network> {
    s.attempt(|s| {
        spaced_lit(s, "network")?;
        s.spaces()?;
        s.network().map(Network::parse)
    })
}

fn spaced_lit(s: &mut Scan<'_>, text: &str) -> Option<()> {
    s.attempt(|s| {
        s.spaces()?;
        s.lit(text)
    })
}
