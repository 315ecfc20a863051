//! Signs of life, and the last one.

use sepiola_proto::{OsdBeacon, OsdDown};

use crate::daemon::Daemon;

impl Daemon {
    /// A sign of life; a monitor that misses a few takes the OSD for dead.
    pub(crate) fn beacon(&self) -> OsdBeacon {
        OsdBeacon {
            osd_uuid: self.uuid_bytes(),
            osd_id: self.options.id.0,
            map_epoch: self.osd.epoch().0,
            // Nothing is recovered from older maps.
            min_last_epoch_clean: self.osd.epoch().0,
        }
    }

    /// The announcement that the OSD stops.
    pub(crate) fn down(&self) -> OsdDown {
        OsdDown { osd_uuid: self.uuid_bytes(), osd_id: self.options.id.0, map_epoch: self.osd.epoch().0 }
    }
}
