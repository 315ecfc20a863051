//! What the monitor does with its state for clients and OSDs.

pub(crate) mod auth;
pub(crate) mod cluster_log;
pub(crate) mod config;
pub(crate) mod config_limits;
pub(crate) mod fullness;
pub mod liveness;
pub(crate) mod osd;
pub(crate) mod osd_step;
pub(crate) mod pool_op;
pub(crate) mod pools;
pub(crate) mod quotas;
pub(crate) mod sessions;
pub mod stats;
#[cfg(test)]
mod subscription_tests;
pub(crate) mod subscriptions;
pub(crate) mod tick;
pub(crate) mod usage;
