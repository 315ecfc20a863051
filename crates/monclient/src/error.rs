//! Why a monitor could not be reached or did not do what was asked.

use std::{fmt, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use sepiola_config::ConfigError;
use sepiola_wire::{EntityName, Errno};
use thiserror::Error;

/// One line that a user understands. Clones share what is behind it.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum MonError {
    /// No monitor is configured, or none with a messenger v2 address.
    #[error("no monitor to connect to: {0}")]
    NoMonitors(String),
    /// There is no key to authenticate with.
    #[error("no key for {name}: none of these holds one: {}", places(.searched))]
    NoKey {
        /// Who needs a key.
        name: EntityName,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// The configuration cannot be used.
    #[error("{0}")]
    Config(String),
    /// A monitor refused the key.
    #[error("access denied: key of {name} refused by mon at {addr}")]
    AccessDenied {
        /// Who was refused.
        name: EntityName,
        /// By whom.
        addr: SocketAddr,
    },
    /// A monitor and this side allow no common connection mode or authentication method.
    #[error("mon at {addr}: {reason}")]
    Mismatch {
        /// The monitor.
        addr: SocketAddr,
        /// What both sides allow.
        reason: String,
    },
    /// Authentication failed otherwise: what answers is not a monitor of this cluster, or is no monitor.
    #[error("authentication with mon at {addr} failed: {reason}")]
    Authentication {
        /// The monitor.
        addr: SocketAddr,
        /// Why.
        reason: String,
    },
    /// No session with any monitor within the deadline.
    #[error("no monitor reached within {after:?}: {attempts}")]
    Unreachable {
        /// The deadline.
        after: Duration,
        /// What became of each address.
        attempts: Attempts,
    },
    /// No answer within the deadline.
    #[error("no answer to {what} within {after:?}{}", because(.detail))]
    TimedOut {
        /// What was asked.
        what: &'static str,
        /// The deadline.
        after: Duration,
        /// Why there is no session, if there is none.
        detail: Option<String>,
    },
    /// The monitor answered with an error.
    #[error("{what}: {errno}")]
    Refused {
        /// What was asked.
        what: &'static str,
        /// Its answer.
        errno: Errno,
    },
    /// There is no session right now.
    #[error("no session with a monitor")]
    NotConnected,
    /// The client was closed.
    #[error("the monitor client is closed")]
    Closed,
}

impl From<ConfigError> for MonError {
    fn from(error: ConfigError) -> Self {
        MonError::Config(error.to_string())
    }
}

impl MonError {
    /// The nearest errno.
    pub fn errno(&self) -> Errno {
        match self {
            MonError::NoMonitors(_) | MonError::NoKey { .. } => Errno::ENOENT,
            MonError::Config(_) => Errno::EINVAL,
            MonError::AccessDenied { .. } | MonError::Authentication { .. } => Errno::EACCES,
            MonError::Mismatch { .. } => Errno::EOPNOTSUPP,
            MonError::Unreachable { .. } | MonError::TimedOut { .. } => Errno::ETIMEDOUT,
            MonError::Refused { errno, .. } => *errno,
            MonError::NotConnected => Errno::ENOTCONN,
            MonError::Closed => Errno::ESHUTDOWN,
        }
    }
}

/// The last thing that happened with each monitor that was tried.
#[derive(Debug, Clone, Default)]
pub struct Attempts(Arc<Vec<(SocketAddr, String)>>);

impl Attempts {
    /// Address and reason, in the order of the first attempts.
    pub fn iter(&self) -> impl Iterator<Item = &(SocketAddr, String)> {
        self.0.iter()
    }

    /// True if nothing was tried yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the newest reason for an address.
    pub(crate) fn record(&mut self, addr: SocketAddr, reason: String) {
        let attempts = Arc::make_mut(&mut self.0);
        match attempts.iter_mut().find(|(a, _)| *a == addr) {
            Some((_, old)) => *old = reason,
            None => attempts.push((addr, reason)),
        }
    }
}

impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing answered");
        }
        for (i, (addr, reason)) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            // Reasons of the messenger name the address already.
            if reason.contains(&addr.to_string()) {
                f.write_str(reason)?;
            } else {
                write!(f, "{addr}: {reason}")?;
            }
        }
        Ok(())
    }
}

fn places(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "no place is configured".to_owned();
    }
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn because(detail: &Option<String>) -> String {
    detail.as_ref().map(|d| format!(" (no session: {d})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_monitor_is_named_with_its_reason() {
        let addr: SocketAddr = "10.0.0.1:3300".parse().unwrap();
        let mut attempts = Attempts::default();
        attempts.record(addr, "cannot connect to 10.0.0.1:3300: timed out".into());
        attempts.record(addr, "cannot connect to 10.0.0.1:3300: refused".into());
        let error = MonError::Unreachable { after: Duration::from_secs(10), attempts };
        assert_eq!(
            error.to_string(),
            "no monitor reached within 10s: cannot connect to 10.0.0.1:3300: refused"
        );
        assert_eq!(error.errno(), Errno::ETIMEDOUT);
    }
}
