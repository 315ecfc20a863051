//! Removing what a run wrote.

use futures_util::{StreamExt, stream};
use sepiola_client::IoCtx;
use sepiola_wire::Errno;

use super::{
    names::{ANY_RUN, host, prefix},
    workload::{BenchError, read_metadata},
};

/// Removes the objects of the last run, `concurrent` at a time, and what remembers it. If nothing does, the
/// objects of all runs are looked for, which takes a listing of the pool. Returns how many there were.
pub async fn cleanup(io: &IoCtx, run_name: &str, concurrent: usize) -> Result<u64, BenchError> {
    let metadata = match read_metadata(io, run_name).await {
        Err(BenchError::NoData) => return remove_all(io, listed(io).await?, concurrent).await,
        read => read?,
    };
    let prefix = prefix(&host(), metadata.pid);
    let objects = (0..metadata.objects()).map(|n| format!("{prefix}_object{n}").into_bytes());
    let removed = remove_all(io, objects, concurrent).await?;
    io.remove(run_name).await?;
    Ok(removed)
}

/// What any run has written.
async fn listed(io: &IoCtx) -> Result<Vec<Vec<u8>>, BenchError> {
    let (mut objects, mut found) = (io.list(), Vec::new());
    while let Some(object) = objects.next().await? {
        if object.name.starts_with(ANY_RUN.as_bytes()) {
            found.push(object.name.to_vec());
        }
    }
    Ok(found)
}

async fn remove_all(
    io: &IoCtx,
    objects: impl IntoIterator<Item = Vec<u8>>,
    concurrent: usize,
) -> Result<u64, BenchError> {
    let mut removals =
        stream::iter(objects).map(|object| io.remove(object)).buffer_unordered(concurrent.max(1));
    let mut removed = 0;
    while let Some(result) = removals.next().await {
        match result {
            Ok(()) => removed += 1,
            Err(e) if e.errno() == Errno::ENOENT => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(removed)
}
