//! `export` and `import`: the objects of a pool in a file, in the format of Ceph's tools.

mod export;
mod format;
mod import;

pub use export::export;
pub use import::import;
