//! What the program and its clients say to each other: orders on a client's standard input, a word or two
//! a line, and reports in JSON on its standard output, one a line. `librados_client.py` speaks it as well.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From now on this OSD may be away and has forgotten its objects.
    Disturb(u32),
    /// It is back; what is written from now on stays.
    Settled(u32),
    /// Finish what is in flight, report, and end.
    Stop,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Disturb(osd) => write!(f, "disturb {osd}"),
            Order::Settled(osd) => write!(f, "settled {osd}"),
            Order::Stop => f.write_str("stop"),
        }
    }
}

impl FromStr for Order {
    type Err = String;
    fn from_str(line: &str) -> Result<Self, String> {
        let unknown = || format!("no order: {line}");
        match line.split_once(' ') {
            Some(("disturb", osd)) => osd.parse().map(Order::Disturb).map_err(|_| unknown()),
            Some(("settled", osd)) => osd.parse().map(Order::Settled).map_err(|_| unknown()),
            None if line == "stop" => Ok(Order::Stop),
            _ => Err(unknown()),
        }
    }
}

/// What a client tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Told {
    /// An order is in force.
    Ack {
        /// As it was given.
        order: String,
    },
    /// What has been done since the start, every second and at the end.
    Counts {
        /// By kind of operation.
        ops: BTreeMap<String, OpCount>,
    },
    /// Something that must not happen.
    Problem {
        /// For the report.
        text: String,
    },
}

/// Operations of one kind.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
pub struct OpCount {
    /// Ended as they had to, with the data that they had to have.
    pub checked: u64,
    /// Ended, on an OSD that was being restarted: nothing to compare with.
    pub unchecked: u64,
    /// Ended otherwise, or not in time.
    pub failed: u64,
    /// The longest one.
    pub worst_ms: u64,
}
