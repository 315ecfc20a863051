//! The client that uses Sepiola's library, in a process of its own.

mod administration;
mod model;
mod record;
mod worker;

use std::{path::Path, process::ExitCode, sync::Arc, thread, time::Duration};

use sepiola_client::{Error, IoCtx, Rados};
use sepiola_tests::{Failure, Result};

use crate::{
    plan::Plan,
    protocol::{Order, Told},
    rust_client::{record::Record, worker::Worker},
};

/// Works until it is told to stop.
pub fn run(plan: &Path) -> ExitCode {
    match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => match runtime.block_on(work(plan)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("soak client: {e}");
                ExitCode::FAILURE
            }
        },
        Err(_) => ExitCode::FAILURE,
    }
}

async fn work(plan: &Path) -> Result<()> {
    let plan = Arc::new(Plan::read(plan)?);
    let record = Arc::new(Record::new(plan.osds));
    // Reading standard input blocks; a thread may wait there for ever.
    thread::spawn({
        let record = record.clone();
        move || follow_orders(&record)
    });
    let failure = |e: Error| Failure::new(e.to_string());
    let builder = Rados::builder().conf_file(&plan.conf).map_err(failure)?;
    let deadline = Duration::from_secs(plan.deadline_s);
    let builder = builder.op_timeout(deadline).mon_timeout(deadline).connect_timeout(deadline);
    let rados = builder.connect().await.map_err(failure)?;
    let io = rados.open_ioctx(&plan.pool).await.map_err(failure)?;

    let mut tasks = Vec::new();
    for (number, objects) in plan.workers.iter().enumerate() {
        let worker = Worker::new(in_namespace(&io, &objects[0].nspace), objects, record.clone());
        tasks.push(tokio::spawn(worker.run(plan.clone(), plan.seed * 1000 + number as u64)));
    }
    tasks.push(tokio::spawn(administration::run_commands(rados.clone(), plan.clone(), record.clone())));
    tasks.push(tokio::spawn(administration::make_pools(rados.clone(), plan.clone(), record.clone())));
    while !record.is_stopping() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        record.report();
    }
    for task in tasks {
        task.await.map_err(|e| Failure::new(e.to_string()))?;
    }
    record.report();
    Ok(())
}

fn in_namespace(io: &IoCtx, nspace: &str) -> IoCtx {
    let mut io = io.clone();
    io.set_namespace(nspace);
    io
}

fn follow_orders(record: &Record) {
    for line in std::io::stdin().lines().map_while(std::io::Result::ok) {
        match line.parse() {
            Ok(Order::Disturb(osd) | Order::Settled(osd)) => record.next_life(osd),
            Ok(Order::Stop) => record.stop(),
            Err(e) => record.problem(e),
        }
        record.tell(&Told::Ack { order: line });
    }
    // Without orders there is nobody to work for.
    record.stop();
}
