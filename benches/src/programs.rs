//! The programs of this package use each other.

use std::env;

use sepiola_tests::{Failure, Invocation, Result};

/// A program that is built with this one.
///
/// # Errors
/// If it is not.
pub fn beside(name: &str) -> Result<Invocation> {
    let this = env::current_exe().map_err(|e| Failure::new(format!("where this program is: {e}")))?;
    let program = this.with_file_name(name);
    if !program.is_file() {
        return Err(Failure::new(format!(
            "`{name}` is not built: cargo build --release -p sepiola-benches --bins"
        )));
    }
    Ok(Invocation::new(program))
}
