//! Getting into the map, and back into it after having been marked down by mistake.

use std::time::{Duration, Instant};

use bytes::Bytes;
use sepiola_messenger::daemon_metadata;
use sepiola_proto::OsdBoot;
use sepiola_wire::{Encode, Features, encode_to_vec};
use tracing::{info, warn};

use crate::{RunError, daemon::Daemon};

/// An unanswered boot is sent again after this long.
const RETRY: Duration = Duration::from_secs(2);

/// Where the OSD stands with the map.
#[derive(Debug, Default)]
pub(crate) struct Boot {
    asked: Option<Instant>,
    up: bool,
    was_up: bool,
}

impl Boot {
    /// True while the map shows the OSD up at its address.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// A new monitor does not know what the last one was asked.
    pub fn ask_again(&mut self) {
        self.asked = None;
    }

    /// Compares the map with what it should say, and asks to be marked up if it does not.
    ///
    /// # Errors
    /// If the map shows another process under this number, after it has shown this one.
    pub fn step(&mut self, daemon: &Daemon) -> Result<(), RunError> {
        let map = daemon.monitors.osdmap_guard();
        let entry = map.osd(daemon.options.id).filter(|osd| osd.is_up());
        self.up = entry.is_some_and(|osd| osd.client_addrs == daemon.addrs);
        if self.up {
            self.was_up = true;
            self.asked = None;
            return Ok(());
        }
        if let Some(other) = entry
            && self.was_up
        {
            return Err(RunError::Replaced(daemon.options.id, other.client_addrs.clone()));
        }
        if self.asked.is_none_or(|asked| asked.elapsed() >= RETRY) {
            if self.was_up {
                warn!(osd = %daemon.options.id, epoch = %map.epoch(), "marked down although running");
            }
            info!(osd = %daemon.options.id, addrs = %daemon.addrs, "booting");
            daemon.send(&daemon.boot());
            self.asked = Some(Instant::now());
        }
        Ok(())
    }
}

impl Daemon {
    fn boot(&self) -> OsdBoot {
        let mut metadata: std::collections::HashMap<String, String> =
            self.options.metadata.clone().into_iter().collect();
        let mut add = |key: &str, value: String| {
            metadata.entry(key.to_owned()).or_insert(value);
        };
        add("id", self.options.id.to_string());
        add("front_addr", self.addrs.to_string());
        add("back_addr", self.addrs.to_string());
        add("osd_objectstore", "memstore".to_owned());
        add("default_device_class", "hdd".to_owned());
        for (key, value) in daemon_metadata() {
            add(&key, value);
        }
        let addrs = encoded(&self.addrs);
        OsdBoot {
            fsid: Bytes::copy_from_slice(self.monitors.fsid().as_bytes()),
            osd_uuid: self.uuid_bytes(),
            osd_id: self.options.id.0,
            map_epoch: self.osd.epoch().0,
            client_addrs: addrs.clone(),
            cluster_addrs: addrs.clone(),
            heartbeat_front_addrs: addrs.clone(),
            heartbeat_back_addrs: addrs,
            features: Features::SUPPORTED.bits(),
            metadata,
            crush_weight: self.options.crush_weight,
        }
    }

    /// The store's identity, as private messages carry it.
    pub(crate) fn uuid_bytes(&self) -> Bytes {
        Bytes::copy_from_slice(self.uuid.as_bytes())
    }
}

fn encoded(value: &impl Encode) -> Bytes {
    encode_to_vec(value, Features::SUPPORTED).into()
}
