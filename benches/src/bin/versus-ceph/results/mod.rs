//! Everything that was measured, and what comes of it.

mod connecting;
mod encryption;
mod goals;
mod rows;
mod samples;
mod shares;

use sepiola_benches::{Machine, exchange::Ceiling};
use serde::Serialize;

pub use self::{
    connecting::{ConnectRow, ConnectRun},
    encryption::Encryption,
    goals::Goal,
    rows::Row,
    samples::{Cell, Sample, Start},
    shares::Share,
};
use crate::{installed::Installed, plan::Plan, secure_cost::SecureCost};

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Measured {
    pub machine: Machine,
    pub sepiola_version: String,
    pub ceph_version: String,
    pub settings: Plan,
    pub installed: Installed,
    pub starts: Vec<Start>,
    pub samples: Vec<Sample>,
    pub connects: Vec<ConnectRun>,
    pub secure_costs: Vec<SecureCost>,
    /// By round.
    pub ceilings: Vec<(usize, Ceiling)>,
    /// Why there is no more.
    pub ended_early: Option<String>,
}

/// The same with medians of all rounds.
#[derive(Debug, Serialize)]
pub struct Results {
    pub goals: Vec<Goal>,
    pub rows: Vec<Row>,
    pub connecting: Vec<ConnectRow>,
    pub shares: Vec<Share>,
    pub encryption: Vec<Encryption>,
    #[serde(flatten)]
    pub measured: Measured,
}

impl Results {
    /// Looks at all rounds.
    pub fn of(measured: Measured) -> Self {
        let mut results = Results {
            goals: Vec::new(),
            rows: rows::rows(&measured.samples),
            connecting: connecting::rows(&measured.connects),
            shares: shares::shares(&measured.samples, &measured.ceilings),
            encryption: encryption::encryption(&measured.secure_costs),
            measured,
        };
        results.goals = goals::goals(&results);
        results
    }
}
