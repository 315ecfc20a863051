//! The write, sequential and random read benchmark of `rados bench`: same objects, same columns.

mod cleanup;
mod names;
mod report;
mod stats;
mod workload;

pub use cleanup::cleanup;
pub use names::{DEFAULT_RUN_NAME, current_prefix};
pub use report::{Columns, print_json, print_plain};
pub use stats::Summary;
pub use workload::{BenchError, BenchOptions, Workload, run};
