//! Removing what a run wrote.

use futures_util::{StreamExt, TryStreamExt, stream};
use sepiola_client::{IoCtx, ObjectList};

use super::{
    names::{host, prefix},
    workload::{BenchError, read_metadata},
};
use crate::progress::Progress;

/// Removes the objects of the last run, `concurrent` at a time, and what remembers it. Returns how many there
/// were; `None` if nothing remembers a run.
pub async fn cleanup(io: &IoCtx, run_name: &str, concurrent: usize) -> Result<Option<u64>, BenchError> {
    let metadata = match read_metadata(io, run_name).await {
        Err(BenchError::NoData) => return Ok(None),
        read => read?,
    };
    let prefix = prefix(&host(), metadata.pid);
    let objects = (0..metadata.objects()).map(|n| format!("{prefix}_object{n}"));
    let mut removals =
        stream::iter(objects).map(|object| io.remove(object)).buffer_unordered(concurrent.max(1));
    let mut removed = 0;
    while let Some(result) = removals.next().await {
        removed += was_there(result)?;
    }
    io.remove(run_name).await?;
    Ok(Some(removed))
}

/// Removes those of `objects` whose names start with `prefix`, in whatever namespace they are. Returns how many
/// there were.
pub async fn remove_listed(
    io: &IoCtx,
    objects: ObjectList,
    prefix: &[u8],
    concurrent: usize,
) -> Result<u64, BenchError> {
    let progress = Progress::counting("objects removed");
    let found =
        objects.into_stream().try_filter(|object| std::future::ready(object.name.starts_with(prefix)));
    let mut removals = std::pin::pin!(
        found
            .map_ok(|object| async move {
                let mut io = io.clone();
                io.set_namespace(&object.namespace).set_locator_key(&object.locator_key);
                Ok(io.remove(&object.name).await)
            })
            .try_buffer_unordered(concurrent.max(1))
    );
    let mut removed = 0;
    while let Some(result) = removals.next().await {
        removed += was_there(result?)?;
        progress.add(1);
    }
    progress.finish();
    Ok(removed)
}

/// 1 for an object that was removed, 0 for one that was gone already.
fn was_there(removed: sepiola_client::Result<()>) -> Result<u64, BenchError> {
    match removed {
        Ok(()) => Ok(1),
        Err(e) if e.is_not_found() => Ok(0),
        Err(e) => Err(e.into()),
    }
}
