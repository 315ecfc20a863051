//! Where an entity's key comes from.

use std::path::{Path, PathBuf};

use sepiola_cephx::{AuthMethod, Keyring, KeyringError};
use sepiola_config::Config;
use sepiola_crypto::CryptoKey;
use sepiola_wire::EntityType;
use zeroize::Zeroizing;

use crate::{Credentials, MonError, connection_options::method_options};

/// The key that is `given`, or that a configuration gives an entity: from `key`, else from the file that
/// `keyfile` names, else from the first keyring of the search path. Without a key, method none if it is allowed.
pub(crate) fn find(config: &Config, given: Option<CryptoKey>) -> Result<Credentials, MonError> {
    let options = method_options(config)?;
    let methods = options.methods(config.name().kind, EntityType::Mon);
    let allows_none = methods.contains(&AuthMethod::None);
    if !methods.contains(&AuthMethod::Cephx) {
        return if allows_none {
            Ok(Credentials::None)
        } else {
            let why = "no authentication method is allowed: set auth_client_required (clients) or \
                       auth_cluster_required (daemons) to cephx";
            Err(MonError::Config(why.to_owned()))
        };
    }
    let key = match given {
        Some(key) => Some(key),
        None => configured_key(config)?,
    };
    match key {
        Some(key) => Ok(Credentials::Key(key)),
        None if allows_none => Ok(Credentials::None),
        None => Err(MonError::NoKey { name: config.name().clone(), searched: config.keyring_candidates() }),
    }
}

fn configured_key(config: &Config) -> Result<Option<CryptoKey>, MonError> {
    if let Some(text) = config.text("key").map(Zeroizing::new) {
        return from_base64(&text, "option key").map(Some);
    }
    if let Some(path) = config.text("keyfile") {
        let path = PathBuf::from(path);
        let text = Zeroizing::new(
            std::fs::read_to_string(&path)
                .map_err(|e| MonError::Config(format!("keyfile {}: {e}", path.display())))?,
        );
        return from_base64(text.trim(), &path.display().to_string()).map(Some);
    }
    match config.keyring_file() {
        Some(path) => from_keyring(config, &path),
        None => Ok(None),
    }
}

fn from_base64(text: &str, place: &str) -> Result<CryptoKey, MonError> {
    CryptoKey::from_base64(text).map_err(|e| MonError::Config(format!("{place}: {e}")))
}

/// An entry that is missing is the same as a keyring that is missing; a keyring that cannot be read is an
/// error of its own.
fn from_keyring(config: &Config, path: &Path) -> Result<Option<CryptoKey>, MonError> {
    let bad = |e: KeyringError| match e {
        e @ KeyringError::Io { .. } => MonError::Config(e.to_string()),
        e => MonError::Config(format!("{}: {e}", path.display())),
    };
    let keyring = Keyring::load(path).map_err(bad)?;
    match keyring.key(config.name()) {
        Ok(key) => Ok(Some(key.clone())),
        Err(KeyringError::NoEntry(_) | KeyringError::NoKey(_)) => Ok(None),
        Err(e) => Err(bad(e)),
    }
}
