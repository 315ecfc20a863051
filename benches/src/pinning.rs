//! Which processors the two sides of a connection may use.

use std::{
    fmt,
    process::{self, Command},
    str::FromStr,
};

use sepiola_tests::{Failure, Invocation, Result};
use serde::Serialize;

/// A processor for the client and one for the daemons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Pinning {
    pub client: usize,
    pub daemons: usize,
}

impl FromStr for Pinning {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once(':').and_then(|(c, d)| Some((c.parse().ok()?, d.parse().ok()?)));
        match parts {
            Some((client, daemons)) => Ok(Pinning { client, daemons }),
            None => Err(format!("`{text}` is not CLIENT:DAEMONS, such as 1:0")),
        }
    }
}

impl Pinning {
    /// As a report says it.
    pub fn describe(pinning: Option<Pinning>) -> String {
        pinning.map_or_else(|| "nothing pinned".to_owned(), |pinning| pinning.to_string())
    }

    /// Binds this process to a processor, and what it starts from now on.
    ///
    /// # Errors
    /// If there is no such processor.
    pub fn pin_this_process(core: usize) -> Result<()> {
        let taskset = ["-a", "-p", "-c", &core.to_string(), &process::id().to_string()];
        let ended = Command::new("taskset").args(taskset).output();
        let ended = ended.map_err(|e| Failure::new(format!("taskset: {e}")))?;
        if ended.status.success() {
            return Ok(());
        }
        Err(Failure::new(String::from_utf8_lossy(&ended.stderr).trim().to_owned()))
    }

    /// A program bound to a processor.
    pub fn pinned(core: usize, program: Invocation) -> Invocation {
        program.under("taskset", &["-c", &core.to_string()])
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client on processor {}, daemons on processor {}", self.client, self.daemons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_processors_are_named() {
        assert_eq!("1:0".parse(), Ok(Pinning { client: 1, daemons: 0 }));
        for wrong in ["", "1", "1:", "a:b", "1:0:2"] {
            assert!(wrong.parse::<Pinning>().is_err(), "{wrong}");
        }
    }
}
