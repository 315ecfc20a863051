//! `sepiola mon`: one monitor in the foreground.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use sepiola_cephx::{Keyring, TicketLife};
use sepiola_config::Config;
use sepiola_messages::MonMap;
use sepiola_mon::{MkfsOptions, MonOptions};
use sepiola_monclient::{crypto_options, method_options, mode_options};
use sepiola_wire::{AddrType, EntityAddr, EntityName, EntityType, UTime, Uuid};

use crate::{
    admin::PerfSource,
    cli::ConnectArgs,
    connect::ConfigOptions,
    daemon,
    failure::{CmdResult, Failure},
    logging,
};

/// Flags of `sepiola mon`.
#[derive(Debug, Args)]
pub struct MonArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Which monitor.
    #[arg(short = 'i', value_name = "ID")]
    pub mon_id: String,
    /// Make the store of a new cluster first, if there is none, from fsid, mon_host and the keyring.
    #[arg(long)]
    pub mkfs: bool,
    #[command(flatten)]
    pub daemon: daemon::DaemonArgs,
}

/// Runs the monitor until it is asked to end.
pub fn run(args: MonArgs, options: ConfigOptions) -> CmdResult {
    let name = EntityName::new(EntityType::Mon, &args.mon_id);
    let config = args.connect.config_for(name, &options)?;
    logging::start(&config)?;
    let data = PathBuf::from(config.text("mon_data").unwrap_or_default());
    let listen = address(&config)?;
    if args.mkfs && !sepiola_mon::has_store(&data) {
        mkfs(&args.mon_id, &config, &data, listen)?;
    }
    let mut mon = MonOptions::new(&args.mon_id, data);
    // A port that the monmap has is kept; the first start may have chosen it.
    mon.listen = Some(listen).filter(|a| a.port() != 0);
    mon.ready_file = args.daemon.ready_file.clone();
    let modes = mode_options(&config)?;
    mon.modes = modes.modes(EntityType::Mon, EntityType::Client).to_vec();
    mon.auth = method_options(&config)?.service;
    mon.crypto = crypto_options(&config)?;
    mon.tickets = TicketLife {
        auth: config.duration("auth_mon_ticket_ttl")?,
        service: config.duration("auth_service_ticket_ttl")?,
    };
    mon.key_type = key_type(&config)?;
    mon.allow_pool_delete = config.bool("mon_allow_pool_delete")?;
    mon.pool_default_pg_num = u32::try_from(config.u64("osd_pool_default_pg_num")?).unwrap_or(u32::MAX);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let perf = PerfSource::Mon(mon.perf.clone());
    runtime.block_on(daemon::until_asked(&args.daemon, config, perf, |shutdown| {
        sepiola_mon::run(mon, shutdown)
    }))?;
    Ok(())
}

/// The address in mon_host, or any free loopback port.
fn address(config: &Config) -> Result<SocketAddr, Failure> {
    let Ok(endpoints) = config.mon_host() else {
        return Ok(SocketAddr::from(([127, 0, 0, 1], 0)));
    };
    let endpoint = endpoints.iter().find(|e| e.kind != AddrType::Legacy);
    let addr = endpoint.and_then(|e| e.resolve().ok()?.first()?.socket);
    addr.ok_or_else(|| Failure::new("mon_host has no messenger v2 address to bind"))
}

/// New keys are of the type that the monitor's first key has.
fn key_type(config: &Config) -> Result<sepiola_crypto::KeyType, Failure> {
    let fallback = sepiola_crypto::KeyType::Aes;
    let Some(path) = config.keyring_file() else { return Ok(fallback) };
    let keyring = Keyring::load(&path)?;
    let first = keyring.iter().find_map(|(_, entry)| entry.key.as_ref().map(|k| k.kind()));
    Ok(first.unwrap_or(fallback))
}

fn mkfs(id: &str, config: &Config, data: &std::path::Path, listen: SocketAddr) -> CmdResult {
    let fsid = config.text("fsid").ok_or_else(|| Failure::new("a new cluster needs fsid in ceph.conf"))?;
    let fsid: Uuid = fsid.parse().map_err(|_| Failure::new(format!("fsid: `{fsid}` is not a UUID")))?;
    let keyring = config.keyring_file().ok_or_else(|| {
        Failure::new(
            "a new cluster needs a keyring with the keys of mon. and client.admin: set keyring in [mon]",
        )
    })?;
    let mut monmap = MonMap::new(fsid, UTime::now());
    monmap.add(id, EntityAddr::msgr2(listen, 0).into());
    sepiola_mon::mkfs(&MkfsOptions::new(data, monmap, Keyring::load(&keyring)?))?;
    Ok(())
}
