//! The grammar of monitor capabilities.
//!
//! ```text
//! grant := "allow" SP rwx fsname? net?
//!        | "allow" SP "service" ("="|SP) NAME SP rwx net?
//!        | "allow" SP "command" ("="|SP) STR (SP "with" (SP kv)+)? net?
//!        | ("allow" SP)? "profile" ("="|SP) NAME net?
//! rwx   := "*" | "all" | r? w? x?
//! kv    := KEY "=" STR | KEY SP "prefix" SP STR | KEY SP "regex" SP STR
//! ```

use super::{
    Rwx,
    mon::{Constraint, Grant, What},
    network::Network,
    scan::Scan,
};

/// One grant and the spaces around it.
pub(super) fn grant(s: &mut Scan<'_>) -> Option<Grant> {
    s.spaces();
    let what = s.attempt(rights).or_else(|| s.attempt(service)).or_else(|| s.attempt(command));
    let what = what.or_else(|| s.attempt(profile))?;
    let network = s.attempt(network);
    s.spaces();
    Some(Grant { what, network })
}

fn allow(s: &mut Scan<'_>) -> Option<()> {
    s.lit("allow")?;
    s.spaces()
}

fn rights(s: &mut Scan<'_>) -> Option<What> {
    allow(s)?;
    let what = match s.lit("*").or_else(|| s.lit("all")) {
        Some(()) => What::Everything,
        None => What::Rights(rwx(s)?),
    };
    // Restricts what file system clients see of the maps; there is no file system here to restrict.
    s.attempt(|s| {
        s.spaces()?;
        s.lit("fsname")?;
        s.equals_or_spaces()?;
        s.string()
    });
    Some(what)
}

fn rwx(s: &mut Scan<'_>) -> Option<Rwx> {
    let mut rights = Rwx::NONE;
    for (letter, right) in [("r", Rwx::R), ("w", Rwx::W), ("x", Rwx::X)] {
        if s.lit(letter).is_some() {
            rights |= right;
        }
    }
    (rights != Rwx::NONE).then_some(rights)
}

fn service(s: &mut Scan<'_>) -> Option<What> {
    allow(s)?;
    s.lit("service")?;
    s.equals_or_spaces()?;
    let service = s.string()?.to_owned();
    s.spaces()?;
    let rights = match s.lit("*").or_else(|| s.lit("all")) {
        Some(()) => Rwx::RWX,
        None => rwx(s)?,
    };
    Some(What::Service(service, rights))
}

fn command(s: &mut Scan<'_>) -> Option<What> {
    allow(s)?;
    s.lit("command")?;
    s.equals_or_spaces()?;
    let name = s.string()?.to_owned();
    let arguments = s.attempt(|s| {
        s.spaces()?;
        s.lit("with")?;
        let mut arguments = vec![argument(s)?];
        arguments.extend(std::iter::from_fn(|| s.attempt(argument)));
        Some(arguments)
    });
    Some(What::Command { name, arguments: arguments.unwrap_or_default() })
}

fn argument(s: &mut Scan<'_>) -> Option<(String, Constraint)> {
    s.spaces()?;
    let key = s.string()?.to_owned();
    let constraint = match s.lit("=") {
        Some(()) => Constraint::Equal(s.string()?.to_owned()),
        None => {
            s.spaces()?;
            let kind = s.word()?;
            s.spaces()?;
            let text = s.string()?;
            match kind {
                "prefix" => Constraint::Prefix(text.to_owned()),
                "regex" => Constraint::pattern(text),
                _ => return None,
            }
        }
    };
    Some((key, constraint))
}

fn profile(s: &mut Scan<'_>) -> Option<What> {
    s.attempt(allow);
    s.lit("profile")?;
    s.equals_or_spaces()?;
    s.string().map(|name| What::Profile(name.to_owned()))
}

fn network(s: &mut Scan<'_>) -> Option<Network> {
    s.spaces()?;
    s.lit("network")?;
    s.spaces()?;
    s.network().map(Network::parse)
}
