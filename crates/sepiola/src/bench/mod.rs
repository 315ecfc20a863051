//! The write, sequential and random read benchmark of `rados bench`: same objects, same columns.

mod cleanup;
mod names;
mod report;
mod stats;
mod workload;

pub use cleanup::{cleanup, remove_listed};
pub use names::{ANY_RUN, DEFAULT_RUN_NAME, current_prefix};
pub use report::{Columns, Row, json_row, json_summary, print_plain, stamp};
pub use stats::Summary;
pub use workload::{BenchError, BenchOptions, Destination, Workload, run};
