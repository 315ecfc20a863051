//! What a daemon runs with, out of its configuration: for the program that runs one as a process, and for
//! daemons in this process.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use sepiola_cephx::{Keyring, TicketLife};
use sepiola_config::{Config, ConfigError, SharedConfig};
use sepiola_crypto::KeyType;
use sepiola_messages::MonMap;
use sepiola_mon::{MkfsOptions, MonOptions};
use sepiola_monclient::{MonClientOptions, crypto_options, method_options, mode_options};
use sepiola_objectstore::MemStore;
use sepiola_osd::OsdOptions;
use sepiola_wire::{AddrType, EntityAddr, EntityType, OsdId, UTime, Uuid};

use crate::ClusterError;

/// A monitor's options. The configuration's name is the monitor's.
///
/// # Errors
/// For an option that cannot be used.
pub fn mon_options(config: &Config) -> Result<MonOptions, ClusterError> {
    let mut mon = MonOptions::new(config.name().id.clone(), mon_data(config));
    // A port that the monmap has is kept; the first start may have chosen it.
    mon.listen = Some(mon_address(config)?).filter(|a| a.port() != 0);
    let modes = mode_options(config)?;
    mon.modes = modes.modes(EntityType::Mon, EntityType::Client).to_vec();
    mon.auth = method_options(config)?.service;
    mon.crypto = crypto_options(config)?;
    mon.tickets = TicketLife {
        auth: config.duration("auth_mon_ticket_ttl")?,
        service: config.duration("auth_service_ticket_ttl")?,
    };
    mon.key_type = key_type(config)?;
    mon.config = SharedConfig::new(config.clone());
    let number = |name: &str| config.u64(name).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    mon.pool_default_size = number("osd_pool_default_size")?;
    mon.pool_max_pg_num = number("mon_max_pool_pg_num")?;
    mon.global_id_step = config.u64("mon_globalid_prealloc")?.clamp(2, 1 << 32);
    Ok(mon)
}

/// Makes the store of a new cluster's monitor, if there is none, from `fsid`, `mon_host` and the keyring.
///
/// # Errors
/// If one of the three is missing, or the store cannot be made.
pub fn make_mon_store(config: &Config) -> Result<(), ClusterError> {
    let data = mon_data(config);
    if sepiola_mon::has_store(&data) {
        return Ok(());
    }
    let missing = |what: &str| ClusterError::Unsupported(what.to_owned());
    let fsid = config.text("fsid").ok_or_else(|| missing("a new cluster needs fsid in ceph.conf"))?;
    let fsid: Uuid = fsid.parse().map_err(|_| missing(&format!("fsid: `{fsid}` is not a UUID")))?;
    let keyring = config.keyring_file().ok_or_else(|| {
        missing("a new cluster needs a keyring with the keys of mon. and client.admin: set keyring in [mon]")
    })?;
    let mut monmap = MonMap::new(fsid, UTime::now());
    monmap.add(&config.name().id, EntityAddr::msgr2(mon_address(config)?, 0).into());
    sepiola_mon::mkfs(&MkfsOptions::new(data, monmap, Keyring::load(&keyring)?))?;
    Ok(())
}

/// An OSD's options, with a store of its own. The configuration's name is the OSD's.
///
/// # Errors
/// For an option that cannot be used, a missing key, or a missing monitor.
pub fn osd_options(config: &Config) -> Result<OsdOptions, ClusterError> {
    let wrong = |text: String| ClusterError::Unsupported(text);
    let id = config.name().id.parse().map_err(|_| wrong(format!("{} is no OSD", config.name())))?;
    let store = match config.text("osd_objectstore").as_deref() {
        None | Some("mem" | "memstore") => {
            Arc::new(MemStore::with_capacity(config.u64("memstore_device_bytes")?))
        }
        Some(other) => return Err(wrong(format!("osd_objectstore: `{other}` is not there: use mem"))),
    };
    let mut osd = OsdOptions::new(OsdId(id), MonClientOptions::from_config(config)?, store);
    if let Some(addr) = config.text("public_addr") {
        let ip = addr.parse().map_err(|_| wrong(format!("public_addr: `{addr}` is not an IP address")))?;
        osd.listen = SocketAddr::new(ip, 0);
    }
    osd.allowed = mode_options(config)?.allowed(EntityType::Osd, &method_options(config)?);
    osd.spin = Duration::from_micros(config.u64("spin_us")?);
    apply_limits(&mut osd, config)?;
    if let Some(host) = config.text("host") {
        osd.metadata.insert("hostname".to_owned(), host);
    }
    Ok(osd)
}

/// Sizes, and what happens at them.
fn apply_limits(osd: &mut OsdOptions, config: &Config) -> Result<(), ConfigError> {
    let size = |option| config.u64(option).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    osd.limits.max_write = size("osd_max_write_size")?.saturating_mul(1 << 20);
    osd.limits.max_object = config.u64("osd_max_object_size")?;
    osd.limits.max_name = size("osd_max_object_name_len")?;
    osd.limits.max_nspace = size("osd_max_object_namespace_len")?;
    osd.limits.max_xattr_name = size("osd_max_attr_name_len")?;
    let value = config.u64("osd_max_attr_size")?;
    osd.limits.max_xattr_value = (value > 0).then(|| u32::try_from(value).unwrap_or(u32::MAX));
    osd.limits.max_omap_entries = size("osd_max_omap_entries_per_request")?;
    osd.limits.max_omap_bytes = size("osd_max_omap_bytes_per_request")?;
    osd.limits.max_listing = size("osd_max_pgls")?;
    osd.failsafe_full = config.parsed("osd_failsafe_full_ratio", str::parse::<f64>)?;
    let unlimited = |limit| if limit == 0 { u64::MAX } else { limit };
    osd.max_messages = unlimited(config.u64("osd_client_message_cap")?);
    osd.max_message_bytes = unlimited(config.u64("osd_client_message_size_cap")?);
    osd.complaint_time = config.duration("osd_op_complaint_time")?;
    Ok(())
}

fn mon_data(config: &Config) -> PathBuf {
    PathBuf::from(config.text("mon_data").unwrap_or_default())
}

/// The address in mon_host, or any free loopback port.
fn mon_address(config: &Config) -> Result<SocketAddr, ClusterError> {
    let Ok(endpoints) = config.mon_host() else {
        return Ok(SocketAddr::from(([127, 0, 0, 1], 0)));
    };
    let endpoint = endpoints.iter().find(|e| e.kind != AddrType::Legacy);
    let addr = endpoint.and_then(|e| e.resolve().ok()?.first()?.socket);
    addr.ok_or_else(|| ClusterError::Unsupported("mon_host has no messenger v2 address to bind".to_owned()))
}

/// New keys are of the type that the monitor's first key has.
fn key_type(config: &Config) -> Result<KeyType, ClusterError> {
    let fallback = KeyType::Aes;
    let Some(path) = config.keyring_file() else { return Ok(fallback) };
    let keyring = Keyring::load(&path)?;
    let first = keyring.iter().find_map(|(_, entry)| entry.key.as_ref().map(|k| k.kind()));
    Ok(first.unwrap_or(fallback))
}
