//! Commands and pools, while the monitor comes and goes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sepiola_client::{Errno, Error, Rados};

use crate::{
    plan::Plan,
    rust_client::record::{Ended, Record},
};

/// Objects in a pool that is soon deleted.
const OBJECTS: usize = 4;

/// Asks for this and that.
pub async fn run_commands(rados: Rados, plan: Arc<Plan>, record: Arc<Record>) {
    let commands = &plan.commands;
    for number in 0.. {
        if record.is_stopping() {
            return;
        }
        let begun = Instant::now();
        let (what, result) = match number % (commands.len() + 2) {
            n if n < commands.len() => {
                let command = serde_json::json!({ "prefix": commands[n], "format": "json" });
                (commands[n].as_str(), rados.mon_command(command.to_string(), "").await.map(drop))
            }
            n if n == commands.len() => ("cluster stat", rados.cluster_stat().await.map(drop)),
            _ => ("pool stat", rados.pool_stat(&plan.pool).await.map(drop)),
        };
        enter(&record, "command", what, begun, result);
        tokio::time::sleep(Duration::from_millis(plan.command_every_ms)).await;
    }
}

/// Makes pools, uses them and deletes them.
pub async fn make_pools(rados: Rados, plan: Arc<Plan>, record: Arc<Record>) {
    for number in 0.. {
        let pool = format!("{}-pool-{number}", plan.name);
        let begun = Instant::now();
        // The monitor may have done what it could not tell any more.
        let made = excuse(rados.create_pool(&pool).await.map(drop), Errno::EEXIST);
        enter(&record, "create pool", &pool, begun, made);
        let begun = Instant::now();
        let used = use_pool(&rados, &pool).await;
        enter(&record, "use a new pool", &pool, begun, used);
        let begun = Instant::now();
        let deleted = excuse(rados.delete_pool(&pool).await, Errno::ENOENT);
        enter(&record, "delete pool", &pool, begun, deleted);
        match rados.open_ioctx(&pool).await {
            Err(Error::NoSuchPool(_)) => {}
            Err(e) => record.problem(format!("opening the deleted pool {pool}: {e}")),
            Ok(_) => record.problem(format!("{pool} is still there")),
        }
        for _ in 0..plan.pool_every_s * 10 {
            if record.is_stopping() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn use_pool(rados: &Rados, pool: &str) -> Result<(), Error> {
    let io = rados.open_ioctx(pool).await?;
    for n in 0..OBJECTS {
        io.write_full(format!("object-{n}"), pool.to_owned()).await?;
    }
    let mut list = io.list();
    let mut count = 0;
    while list.next().await?.is_some() {
        count += 1;
    }
    // Restarts may have taken some of them.
    if count > OBJECTS {
        return Err(Error::PeerMisbehaved(format!("{count} objects are listed")));
    }
    Ok(())
}

fn excuse(result: Result<(), Error>, errno: Errno) -> Result<(), Error> {
    result.or_else(|e| if e.errno() == errno { Ok(()) } else { Err(e) })
}

fn enter(record: &Record, op: &str, what: &str, begun: Instant, result: Result<(), Error>) {
    let took = begun.elapsed();
    let ended = match result {
        Ok(()) => Ended::Checked,
        Err(e) => {
            record.problem(format!("{op} {what}: {e}"));
            Ended::Failed
        }
    };
    record.count(op, took, ended);
}
