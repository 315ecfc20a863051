//! The monitor session as the operation engine sees it.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use sepiola_cephx::ClientAuthenticator;
use sepiola_messages::{OsdMapMessage, WireMessage};
use sepiola_monclient::MonClient;
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityAddrVec, EntityType, Epoch, GlobalId, UTime};
use tokio::sync::watch;
use tracing::debug;

use crate::{Error, objecter::MonitorLink};

/// A monitor session.
pub(crate) struct Monitors {
    pub client: Arc<MonClient>,
}

impl Monitors {
    /// The limit on what is asked of monitors now.
    pub fn timeout(&self) -> Duration {
        self.client.request_timeout()
    }
}

impl MonitorLink for Monitors {
    fn osdmap(&self) -> Arc<OsdMap> {
        self.client.osdmap()
    }

    fn epochs(&self) -> watch::Receiver<Epoch> {
        self.client.watch_epochs()
    }

    fn want_map_after(&self, have: Epoch) {
        if self.client.epoch() <= have {
            self.client.request_newer_osdmap();
        }
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<Epoch, Error>> {
        Box::pin(async { Ok(self.client.wait_for_latest_osdmap(self.timeout()).await?.epoch()) })
    }

    fn received_maps(&self, version: u16, front: &[u8]) {
        match OsdMapMessage::decode(version, front, &[]) {
            Ok(message) => self.client.take_osdmap(&message),
            // The monitors' maps are the ones that count.
            Err(error) => debug!(%error, "an OSD's maps do not decode"),
        }
    }

    fn identity(&self) -> GlobalId {
        self.client.global_id()
    }

    fn own_addrs(&self) -> EntityAddrVec {
        self.client.options().addrs.clone()
    }

    fn osd_authenticator(&self) -> BoxFuture<'_, Result<Box<dyn ClientAuthenticator>, Error>> {
        Box::pin(async {
            if let Err(error) = self.client.ensure_ticket(EntityType::Osd, self.timeout()).await {
                // The monitors answer at once, also that an entity may not use OSDs.
                let asked = self.client.is_connected();
                let denied = || {
                    let name = &self.client.options().name;
                    Error::Denied(format!("the monitors give {name} no ticket for OSDs"))
                };
                return Err(if asked { denied() } else { error.into() });
            }
            self.client
                .tickets()
                .service_authenticator(EntityType::Osd, UTime::now())
                .map_err(|e| Error::Connect(e.to_string()))
        })
    }

    fn ticket_refused(&self) {
        self.client.tickets().invalidate(EntityType::Osd);
    }
}
