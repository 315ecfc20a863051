//! `config assimilate-conf` and `config generate-minimal-conf`: between ceph.conf and the configuration
//! database.

use std::fmt::Write as _;

use rand_core::CryptoRng;
use sepiola_config::ConfFile;
use sepiola_wire::Errno;

use super::{Context, Proposal, Reply, config::checked_set, signature::Args};
use crate::service::{config::Target, config_limits::Room};

/// Takes what the database can hold out of the file that is the command's input, and gives back the rest.
pub(super) fn assimilate_conf(cx: &Context<'_>, _: &Args, _: &mut dyn CryptoRng) -> Proposal {
    let file = match ConfFile::parse(&String::from_utf8_lossy(cx.input)) {
        Ok(file) => file,
        Err(e) => return Reply::error(Errno::EINVAL, format!("could not parse the input: {e}")).into(),
    };
    let (mut changes, mut rest) = (Vec::new(), String::new());
    // What does not fit is given back as well.
    let mut room = Room::left_by(cx.state.config());
    for (section, options) in file.sections() {
        let mut left = String::new();
        for (name, value) in options {
            let target = Target::parse(section);
            match target.and_then(|target| checked_set(&target, name, value, false, &mut room).ok()) {
                Some(change) => changes.push(change),
                // Writing to a String cannot fail.
                None => drop(writeln!(left, "\t{name} = {value}")),
            }
        }
        if !left.is_empty() {
            let _ = write!(rest, "\n[{section}]\n{left}");
        }
    }
    Proposal::new(Reply::output(rest), changes)
}

/// What a client's ceph.conf must have: the cluster, and where its monitors are.
pub(super) fn generate_minimal_conf(cx: &Context<'_>, _: &Args) -> Reply {
    let monmap = cx.state.monmap();
    let hosts: Vec<_> =
        monmap.ranks.iter().filter_map(|name| Some(monmap.mons.get(name)?.addrs.to_string())).collect();
    let (fsid, hosts) = (cx.state.fsid(), hosts.join(" "));
    Reply::output(format!(
        "# minimal ceph.conf for {fsid}\n[global]\n\tfsid = {fsid}\n\tmon_host = {hosts}\n"
    ))
}
