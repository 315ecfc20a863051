//! A whole monitor, spoken to over TCP.

mod common;
mod osds;
mod restart;
mod session;
