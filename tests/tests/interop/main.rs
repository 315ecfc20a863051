//! The interop matrix: unmodified clients of real Ceph on Sepiola, and Sepiola's client on real Ceph.
//!
//! `cargo test -p sepiola-tests --test interop` runs all of it; words behind `--` pick the cells that
//! contain them (`secure/20.2`, `bench`).

mod client;
mod verbs;

use std::process::ExitCode;

use client::Client;
use sepiola_tests::{Cell, Cluster, Group, KeyType, MsMode, RealCeph, Release, SepiolaCluster, run_matrix};

const MODES: [MsMode; 2] = [MsMode::Crc, MsMode::Secure];
const RELEASES: [Release; 2] = [Release::Installed, Release::Newest];

fn main() -> ExitCode {
    if !std::env::args().any(|arg| arg == "--list") {
        for release in RELEASES {
            match release.programs() {
                Ok(programs) => println!("# {}", programs.version()),
                // The cells that need it say so again, each as a failure.
                Err(e) => println!("# {e}"),
            }
        }
    }
    let mut groups = Vec::new();
    for mode in MODES {
        groups.push(clients_on_sepiola(mode, KeyType::Aes, &RELEASES));
        groups.push(clients_on_sepiola(mode, KeyType::Aes256k, &[Release::Newest]));
    }
    for mode in MODES {
        groups.push(sepiola_on_ceph(Release::Installed, mode, KeyType::Aes));
        groups.push(sepiola_on_ceph(Release::Newest, mode, KeyType::Aes));
        groups.push(sepiola_on_ceph(Release::Newest, mode, KeyType::Aes256k));
    }
    run_matrix("interop", groups)
}

/// A pool for each client, named like it.
fn pool(client: Client) -> String {
    format!("pool-{client}")
}

fn clients_on_sepiola(mode: MsMode, keys: KeyType, releases: &'static [Release]) -> Group {
    let stock = releases.iter().map(|release| Client::Stock(*release));
    let cells = stock.clone().flat_map(|client| cells(client, Client::Sepiola)).collect();
    let start = move || {
        let pools: Vec<String> = stock.map(pool).collect();
        SepiolaCluster::start(mode, keys, &pools.iter().map(String::as_str).collect::<Vec<_>>())
    };
    Group::new(format!("sepiola-{mode}-{keys}"), start, cells)
}

fn sepiola_on_ceph(release: Release, mode: MsMode, keys: KeyType) -> Group {
    let start = move || {
        let ceph = RealCeph::start(release, mode, keys)?;
        ceph.create_pool(&pool(Client::Sepiola))?;
        Ok(ceph)
    };
    let cells = cells(Client::Sepiola, Client::Stock(release));
    Group::new(format!("ceph-{release}-{mode}-{keys}"), start, cells)
}

/// Everything that `client` has to be able to do; `native` is the cluster's own client, which must see the
/// same objects.
fn cells<C: Cluster>(client: Client, native: Client) -> Vec<Cell<C>> {
    let cell = move |(name, verb): (&str, verbs::Verb)| {
        Cell::new(format!("{client}/{name}"), move |cluster: &C, deadline| {
            verb(&client::Session { client, native, cluster, pool: pool(client), deadline })
        })
    };
    verbs::ALL.into_iter().map(cell).collect()
}
