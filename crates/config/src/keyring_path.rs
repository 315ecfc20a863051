//! Where a keyring is looked for.

use std::path::PathBuf;

/// The candidates of a `keyring` option: a comma, semicolon or blank separated list; the first file that
/// exists wins.
pub(crate) fn keyring_candidates(option: &str) -> Vec<PathBuf> {
    option.split([',', ';', ' ']).filter(|p| !p.is_empty()).map(PathBuf::from).collect()
}
