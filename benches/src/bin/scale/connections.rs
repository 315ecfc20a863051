//! The same number of operations in flight, on more and more connections.

use std::time::Duration;

use sepiola_benches::Load;
use sepiola_tests::Result;

use crate::{
    cluster::Daemons,
    load::{self, Grown},
    report::Throughput,
};

const CONNECTIONS: [usize; 4] = [1, 10, 100, 1000];
const LOAD: Load = Load { size: 4096, depth: 1000 };
/// Few enough to be written quickly, many enough that writes rarely meet.
const OBJECTS: u64 = 10_000;

pub async fn measure(time: Duration, rows: &mut Vec<Throughput>) -> Result<()> {
    for connections in CONNECTIONS {
        let mut daemons = Daemons::start(1).await?;
        let handles = daemons.connect(connections).await?;
        load::fill(&handles[0], 0..OBJECTS, LOAD.size).await?;
        // Connections to the OSD are made by the first operation, which is not what is measured.
        for handle in &handles {
            load::fill(handle, 0..1, LOAD.size).await?;
        }
        let grown = Grown { what: "connections", number: connections as u64 };
        rows.extend(load::measure(&mut daemons, &handles, grown, OBJECTS, LOAD, time).await?);
    }
    Ok(())
}
