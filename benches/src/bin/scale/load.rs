//! Writes or reads on some connections for a while, always as many in flight.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use sepiola_benches::{Load, Op, process::own_cpu};
use sepiola_client::IoCtx;
use sepiola_tests::Result;

use crate::{cluster::Daemons, failed, report::Throughput};

/// What grows, and its number in this row.
#[derive(Clone, Copy)]
pub struct Grown {
    pub what: &'static str,
    pub number: u64,
}

/// The name of an object that [`fill`] makes.
fn name(number: u64) -> String {
    format!("object-{number}")
}

/// Creates the objects with these numbers, in any order.
pub async fn fill(io: &IoCtx, numbers: std::ops::Range<u64>, size: usize) -> Result<()> {
    const IN_FLIGHT: usize = 512;
    let data = Bytes::from(vec![0x5e; size]);
    let writes = stream::iter(numbers).map(|number| io.write_full(name(number), data.clone()));
    writes.buffer_unordered(IN_FLIGHT).try_collect::<()>().await.map_err(failed("filling"))
}

/// Writes over the first `objects` objects at random, then reads them, with `load.depth` in flight on all
/// connections together. A row of each.
pub async fn measure(
    daemons: &mut Daemons,
    connections: &[IoCtx],
    grown: Grown,
    objects: u64,
    load: Load,
    time: Duration,
) -> Result<Vec<Throughput>> {
    let mut rows = Vec::new();
    for op in Op::ALL {
        let (own, osds, start) = (own_cpu()?, daemons.osd_cpu()?, Instant::now());
        let done = run(connections, objects, op, load, start + time).await?;
        let elapsed = start.elapsed();
        let (own, osds) = (own_cpu()? - own, daemons.osd_cpu()? - osds);
        let per_1000 = |cpu: Duration| cpu.as_secs_f64() * 1e3 / done as f64;
        let row = Throughput {
            growing: grown.what.to_owned(),
            number: grown.number,
            op,
            load,
            iops: done as f64 / elapsed.as_secs_f64(),
            client_cpu: per_1000(own),
            osd_cpu: per_1000(osds),
        };
        eprintln!("{} {}: {op} {load} {:.0}/s", grown.number, grown.what, row.iops);
        rows.push(row);
    }
    Ok(rows)
}

/// How many operations were done: those in flight at the end are waited for, so that they do not run into
/// the next measurement.
async fn run(connections: &[IoCtx], objects: u64, op: Op, load: Load, end: Instant) -> Result<u64> {
    let depth = (load.depth / connections.len()).max(1);
    let data = Bytes::from(vec![0x5e; load.size]);
    // Tasks, since one future that polls a thousand others would find out slowly whom an answer is for.
    let tasks = connections.iter().map(|io| {
        let (io, data) = (io.clone(), data.clone());
        tokio::spawn(async move {
            let one = || operation(io.clone(), op, name(rand::random_range(0..objects)), data.clone());
            let going_on = stream::iter(std::iter::from_fn(|| (Instant::now() < end).then(one)));
            going_on.buffer_unordered(depth).try_fold(0, |done, ()| future::ok(done + 1)).await
        })
    });
    let mut done: u64 = 0;
    for task in tasks.collect::<Vec<_>>() {
        let answered = task.await.map_err(failed("a connection's task"))?;
        done += answered.map_err(failed("an operation"))?;
    }
    Ok(done)
}

async fn operation(io: IoCtx, op: Op, name: String, data: Bytes) -> sepiola_client::Result<()> {
    match op {
        Op::Write => io.write_full(name, data).await,
        Op::Rand => io.read(name, 0..data.len() as u64).await.map(drop),
    }
}
