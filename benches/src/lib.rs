//! Side-by-side benches: Sepiola beside real Ceph (`versus-ceph`), and beside what two bare processes can
//! exchange over loopback (`loopback`). What each figure means, and what none of them says: `README.md`.
#![forbid(unsafe_code)]

pub mod exchange;
pub mod frames;
pub mod in_process;
mod load;
mod parts;
mod pinning;
pub mod process;
mod programs;
mod spread;

pub use load::{Load, Op, parse_size};
pub use parts::{Parts, ranked};
pub use pinning::Pinning;
pub use programs::beside;
pub use sepiola_tests::Machine;
pub use spread::Spread;
