//! Removing what a run wrote.

use futures_util::{StreamExt, stream};
use sepiola_client::IoCtx;
use sepiola_wire::Errno;

use super::{
    names::{host, prefix},
    workload::{BenchError, read_metadata},
};

/// Removes the objects of the last run, `concurrent` at a time, and what remembers it. Returns how many
/// objects there were.
pub async fn cleanup(io: &IoCtx, run_name: &str, concurrent: usize) -> Result<u64, BenchError> {
    let metadata = read_metadata(io, run_name).await?;
    let prefix = prefix(&host(), metadata.pid);
    let mut removals = stream::iter(0..metadata.objects())
        .map(|n| io.remove(format!("{prefix}_object{n}")))
        .buffer_unordered(concurrent.max(1));
    let mut removed = 0;
    while let Some(result) = removals.next().await {
        match result {
            Ok(()) => removed += 1,
            Err(e) if e.errno() == Errno::ENOENT => {}
            Err(e) => return Err(e.into()),
        }
    }
    io.remove(run_name).await?;
    Ok(removed)
}
