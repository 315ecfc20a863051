//! Which options hold secrets, so that nobody is shown them.

use crate::{
    known::{Form, known_option},
    options::{OptionKind, option_info},
};

/// What is shown in place of a secret.
pub const HIDDEN: &str = "******";

/// Whether the value of an option, by its name with underscores, is a secret: a `key`, and text whose name ends
/// in `key`, `token` or the like or has a `secret` or a `password` in it, unless it says where one is kept.
pub fn is_secret(name: &str) -> bool {
    if option_info(name).is_some_and(|own| own.kind == OptionKind::Secret) {
        return true;
    }
    // Counts and switches are none, whatever they are called.
    if known_option(name).is_some_and(|known| known.form != Form::Text) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    let last = words().next_back().unwrap_or_default();
    if matches!(last, "path" | "file" | "dir" | "engine" | "url") {
        return false;
    }
    matches!(last, "key" | "keys" | "token")
        || words().any(|word| ["secret", "password", "passphrase"].iter().any(|told| word.contains(told)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_their_names() {
        for secret in [
            "key",
            "rgw_crypt_default_encryption_key",
            "rgw_crypt_s3_kms_encryption_keys",
            "rgw_keystone_admin_password",
            "rgw_keystone_admin_token",
            "rgw_ldap_secret",
            "mgr/dashboard/jwt_token_secret",
            "mgr/dashboard/ALERTMANAGER_PASSWORD",
            "mgr/some/secret_key",
        ] {
            assert!(is_secret(secret), "{secret}");
        }
        for open in [
            "keyring",
            "keyfile",
            "exporter_key_file",
            "rgw_keystone_admin_password_path",
            "ssl_key_pem_path",
            "mgr/x/secret_key_path",
            "rgw_crypt_vault_secret_engine",
            "rgw_allow_notification_secrets_in_cleartext",
            "mon_auth_allow_insecure_key",
            "osd_deep_scrub_keys",
            "rgw_crypt_kmip_s3_key_template",
            "monkey",
            "osd_data",
        ] {
            assert!(!is_secret(open), "{open}");
        }
    }
}
