//! The OSD map with the steps that led to it.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use sepiola_osdmap::{CANONICAL_FEATURES, Incremental, OsdMap};
use sepiola_proto::MonIncremental;
use sepiola_wire::Epoch;

use super::ApplyError;

/// At least this many steps are kept for clients that were away; up to twice as many are, so that trimming
/// is rare.
pub const KEPT_INCREMENTALS: usize = 500;

/// The current OSD map, decoded and as it is sent, and the newest steps.
#[derive(Debug, Clone)]
pub struct OsdMaps {
    current: Arc<OsdMap>,
    encoded: Bytes,
    incrementals: Arc<BTreeMap<Epoch, Bytes>>,
}

impl PartialEq for OsdMaps {
    /// Encodings are canonical, so they stand for the decoded map.
    fn eq(&self, other: &Self) -> bool {
        self.encoded == other.encoded && self.incrementals == other.incrementals
    }
}

impl OsdMaps {
    /// A first map, encoded in full.
    pub fn new(encoded: Bytes) -> Result<Self, ApplyError> {
        let map = OsdMap::decode(&encoded).map_err(|_| ApplyError("the OSD map does not decode"))?;
        Ok(OsdMaps { current: Arc::new(map), encoded, incrementals: Arc::default() })
    }

    /// The newest map.
    pub fn current(&self) -> &Arc<OsdMap> {
        &self.current
    }

    /// The newest map in full, as it is sent.
    pub fn encoded(&self) -> &Bytes {
        &self.encoded
    }

    /// The newest epoch.
    pub fn epoch(&self) -> Epoch {
        self.current.epoch()
    }

    /// The lowest epoch that a step leads to; the newest epoch if there are no steps. A client below it
    /// needs a full map.
    pub fn oldest(&self) -> Epoch {
        self.incrementals.keys().next().copied().unwrap_or(self.epoch())
    }

    /// The steps from epoch `first` on, in order.
    pub fn steps_from(&self, first: Epoch) -> impl Iterator<Item = (Epoch, &Bytes)> {
        self.incrementals.range(first..).map(|(epoch, step)| (*epoch, step))
    }

    /// Takes the next step, encoded.
    pub fn advance(&mut self, encoded: Bytes) -> Result<(), ApplyError> {
        let step =
            Incremental::decode(&encoded).map_err(|_| ApplyError("an OSD map step does not decode"))?;
        let map = self.current.apply(&step).map_err(|_| ApplyError("an OSD map step does not fit"))?;

        self.encoded = map.encode(CANONICAL_FEATURES).into();
        let steps = Arc::make_mut(&mut self.incrementals);
        steps.insert(map.epoch(), encoded);
        if steps.len() > 2 * KEPT_INCREMENTALS {
            let keep_from = Epoch(map.epoch().0 + 1 - KEPT_INCREMENTALS as u32);
            *steps = steps.split_off(&keep_from);
        }
        self.current = Arc::new(map);
        Ok(())
    }

    pub(super) fn to_proto(&self) -> Vec<MonIncremental> {
        self.incrementals
            .iter()
            .map(|(epoch, encoded)| MonIncremental { epoch: epoch.0, encoded: encoded.clone() })
            .collect()
    }

    pub(super) fn from_proto(map: Bytes, steps: &[MonIncremental]) -> Result<Self, ApplyError> {
        let mut maps = Self::new(map)?;
        maps.incrementals = Arc::new(steps.iter().map(|s| (Epoch(s.epoch), s.encoded.clone())).collect());
        Ok(maps)
    }
}
