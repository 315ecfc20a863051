//! What idle connections take of the daemons' memory.

use std::time::Duration;

use sepiola_tests::Result;

use crate::{cluster::Daemons, load, report::Memory};

const CONNECTIONS: usize = 1000;
/// How long daemons are left alone before their memory is looked at.
const IDLE: Duration = Duration::from_secs(1);
const DAEMONS: [&str; 2] = ["mon.a", "osd.0"];

pub async fn measure(rows: &mut Vec<Memory>) -> Result<()> {
    let mut daemons = Daemons::start(1).await?;
    tokio::time::sleep(IDLE).await;
    let before = [daemons.resident(DAEMONS[0])?, daemons.resident(DAEMONS[1])?];
    let handles = daemons.connect(CONNECTIONS).await?;
    for handle in &handles {
        load::fill(handle, 0..1, 64).await?;
    }
    tokio::time::sleep(IDLE).await;
    for (daemon, before) in DAEMONS.into_iter().zip(before) {
        let after = daemons.resident(daemon)?;
        rows.push(Memory::of(daemon, "idle connections", [0, CONNECTIONS as u64], [before, after]));
    }
    Ok(())
}
