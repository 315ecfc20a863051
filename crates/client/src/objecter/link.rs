//! What operations need of the monitors, apart from the monitor session that provides it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sepiola_cephx::ClientAuthenticator;
use sepiola_osdmap::OsdMap;
use sepiola_wire::{EntityAddrVec, Epoch, GlobalId};
use tokio::sync::watch;

use crate::Error;

/// The objecter's view of the monitors. Implemented by the monitor session, and by tests.
pub(crate) trait MonitorLink: Send + Sync + 'static {
    /// The newest map received.
    fn osdmap(&self) -> Arc<OsdMap>;

    /// Tells when there is a newer one.
    fn epochs(&self) -> watch::Receiver<Epoch>;

    /// Asks for maps newer than `have`; they arrive through [`MonitorLink::epochs`].
    fn want_map_after(&self, have: Epoch);

    /// The epoch that the monitors are at, once a map of it has been received.
    fn catch_up(&self) -> BoxFuture<'_, Result<Epoch, Error>>;

    /// An OSD sent maps.
    fn received_maps(&self, version: u16, front: &[u8]);

    /// The identity under which OSDs know this client.
    fn identity(&self) -> GlobalId;

    /// This client's address, as it goes into identity frames.
    fn own_addrs(&self) -> EntityAddrVec;

    /// Credentials for one connection to an OSD. Waits for a ticket if there is none.
    ///
    /// # Errors
    /// [`Error::Denied`] if the monitors give no ticket; others if they cannot be asked.
    fn osd_authenticator(&self) -> BoxFuture<'_, Result<Box<dyn ClientAuthenticator>, Error>>;

    /// An OSD refused the ticket: get another.
    fn ticket_refused(&self);
}
