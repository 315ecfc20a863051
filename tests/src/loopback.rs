//! Addresses that no other cluster on the machine uses.

use std::{
    net::{Ipv4Addr, TcpListener},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{Failure, Result};

/// An address of 127.0.0.0/8 for one cluster of this process.
pub(crate) fn own_address() -> Ipv4Addr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    const CLUSTERS: u32 = 50;
    // Process ids are below 2^22, so 250 * 250 * 5 of them apart are different ones.
    let n = NEXT.fetch_add(1, Ordering::Relaxed) % CLUSTERS;
    let pid = process::id();
    let part = |v: u32| u8::try_from(v % 250 + 2).unwrap_or(2);
    Ipv4Addr::new(127, part(pid / 250 * 5 + n / 10), part(pid), part(n + pid / 62_500))
}

/// A port that is free on an address right now.
pub(crate) fn free_port(ip: Ipv4Addr) -> Result<u16> {
    let port = TcpListener::bind((ip, 0)).and_then(|listener| Ok(listener.local_addr()?.port()));
    port.map_err(|e| Failure::new(format!("no free port on {ip}: {e}")))
}
