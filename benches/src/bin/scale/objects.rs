//! One client on an OSD with more and more objects, and what they take of its memory.

use std::time::Duration;

use sepiola_benches::Load;
use sepiola_tests::Result;

use crate::{
    cluster::Daemons,
    load::{self, Grown},
    report::{Memory, Throughput},
};

const OBJECTS: [u64; 4] = [1, 1000, 100_000, 1_000_000];
/// Small, since it is their number that counts.
const LOAD: Load = Load { size: 64, depth: 64 };

/// The objects stay from row to row; more are added.
pub async fn measure(time: Duration, rows: &mut Vec<Throughput>, memory: &mut Vec<Memory>) -> Result<()> {
    let mut daemons = Daemons::start(1).await?;
    let client = [daemons.connect_once().await?];
    let mut present = 0;
    for objects in OBJECTS {
        eprintln!("{present} objects: filling up to {objects}");
        let before = daemons.resident("osd.0")?;
        load::fill(&client[0], present..objects, LOAD.size).await?;
        let after = daemons.resident("osd.0")?;
        memory.push(Memory::of("osd.0", "objects of 64 B", [present, objects], [before, after]));
        present = objects;
        let grown = Grown { what: "objects", number: objects };
        rows.extend(load::measure(&mut daemons, &client, grown, objects, LOAD, time).await?);
    }
    Ok(())
}
