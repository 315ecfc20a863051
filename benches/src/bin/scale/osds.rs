//! One client on more and more OSDs.

use std::time::Duration;

use sepiola_benches::Load;
use sepiola_tests::Result;

use crate::{
    cluster::Daemons,
    load::{self, Grown},
    report::Throughput,
};

const OSDS: [u32; 4] = [1, 2, 4, 8];
const LOAD: Load = Load { size: 4096, depth: 64 };
const OBJECTS: u64 = 10_000;

pub async fn measure(time: Duration, rows: &mut Vec<Throughput>) -> Result<()> {
    for osds in OSDS {
        let mut daemons = Daemons::start(osds).await?;
        let client = [daemons.connect_once().await?];
        load::fill(&client[0], 0..OBJECTS, LOAD.size).await?;
        let grown = Grown { what: "OSDs", number: osds.into() };
        rows.extend(load::measure(&mut daemons, &client, grown, OBJECTS, LOAD, time).await?);
    }
    Ok(())
}
