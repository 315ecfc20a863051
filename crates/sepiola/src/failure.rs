//! How a command fails: one line on standard error, and the errno as exit status.

use std::{io::Write as _, process::ExitCode};

use sepiola_wire::Errno;

/// The exit status for a command line that makes no sense.
pub const INVALID_USAGE: ExitCode = ExitCode::FAILURE;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    errno: Option<Errno>,
    message: String,
}

/// What commands return.
pub type CmdResult = Result<(), Failure>;

impl Failure {
    /// A failure without an errno of its own; the exit status is 1.
    pub fn new(message: impl Into<String>) -> Self {
        Failure { errno: None, message: message.into() }
    }

    /// A failure whose errno becomes the exit status.
    pub fn errno(errno: Errno, message: impl Into<String>) -> Self {
        Failure { errno: Some(errno), message: message.into() }
    }

    /// The failure with what was being done in front, as `rados` words it.
    pub fn context(mut self, what: impl std::fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The failure with what to do about it, on a line of its own.
    pub fn hint(mut self, hint: impl std::fmt::Display) -> Self {
        self.message = format!("{}\nhint: {hint}", self.message);
        self
    }

    /// The same failure with exit status 1, whatever its errno.
    pub fn with_status_one(self) -> Self {
        Failure { errno: None, ..self }
    }

    /// Prints the reason and gives the exit status.
    pub fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            // Whoever closed standard error has no use for the reason, but for the exit status.
            let _ = writeln!(std::io::stderr(), "{}", self.message);
        }
        match self.errno {
            Some(errno) => u8::try_from(errno.code()).map_or(ExitCode::FAILURE, ExitCode::from),
            None => ExitCode::FAILURE,
        }
    }
}

impl From<sepiola_monclient::MonError> for Failure {
    fn from(error: sepiola_monclient::MonError) -> Self {
        sepiola_client::Error::from(error).into()
    }
}

impl From<sepiola_client::Error> for Failure {
    fn from(error: sepiola_client::Error) -> Self {
        Failure { errno: Some(error.errno()), message: error.to_string() }
    }
}

macro_rules! plain {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::new(error.to_string())
            }
        }
    )*};
}
plain!(
    sepiola_cephx::KeyringError,
    sepiola_cluster::ClusterError,
    sepiola_config::ConfigError,
    sepiola_mon::MkfsError,
    sepiola_mon::RunError,
    sepiola_osd::RunError,
    serde_json::Error
);

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // Whoever read the output has seen enough: `sepiola rados ls | head`.
        let message = match error.kind() {
            std::io::ErrorKind::BrokenPipe => String::new(),
            _ => error.to_string(),
        };
        let errno = error.raw_os_error().map(Errno::new);
        Failure { errno, message }
    }
}
