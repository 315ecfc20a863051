//! What a configuration says about connections: methods, modes and ciphers. Monitor sessions, clients and the
//! daemons' listeners all read it here, in the lowest crate that knows both the configuration and these types.

use sepiola_config::{Config, ConfigError};
use sepiola_crypto::CryptoOptions;
use sepiola_msgr2::{MethodOptions, ModeOptions, parse_methods, parse_modes};

/// The `auth_*_required` options.
///
/// # Errors
/// [`ConfigError::Invalid`] for a word that is no method.
pub fn method_options(config: &Config) -> Result<MethodOptions, ConfigError> {
    Ok(MethodOptions {
        cluster: config.parsed("auth_cluster_required", parse_methods)?,
        service: config.parsed("auth_service_required", parse_methods)?,
        client: config.parsed("auth_client_required", parse_methods)?,
    })
}

/// The `ms_*_mode` options.
///
/// # Errors
/// [`ConfigError::Invalid`] for a word that is no mode.
pub fn mode_options(config: &Config) -> Result<ModeOptions, ConfigError> {
    Ok(ModeOptions {
        cluster: config.parsed("ms_cluster_mode", parse_modes)?,
        service: config.parsed("ms_service_mode", parse_modes)?,
        client: config.parsed("ms_client_mode", parse_modes)?,
        mon_cluster: config.parsed("ms_mon_cluster_mode", parse_modes)?,
        mon_service: config.parsed("ms_mon_service_mode", parse_modes)?,
        mon_client: config.parsed("ms_mon_client_mode", parse_modes)?,
    })
}

/// `crypto_engine` and `debug_crypto_context`.
///
/// # Errors
/// [`ConfigError::Invalid`] for a name that is unknown, or an engine that is not part of this build.
pub fn crypto_options(config: &Config) -> Result<CryptoOptions, ConfigError> {
    Ok(CryptoOptions {
        engine: config.parsed("crypto_engine", str::parse)?,
        context: config.parsed("debug_crypto_context", str::parse)?,
    })
}

#[cfg(test)]
mod tests {
    use sepiola_cephx::{AuthMethod, ConMode};
    use sepiola_config::Layer;
    use sepiola_crypto::ContextPolicy;
    use sepiola_wire::EntityName;

    use super::*;

    #[test]
    fn defaults_are_those_of_the_table_and_each_option_is_read() {
        let mut config = Config::new(EntityName::client("admin"));
        assert_eq!(crypto_options(&config).unwrap(), CryptoOptions::default());
        assert_eq!(method_options(&config).unwrap().client, [AuthMethod::Cephx]);
        assert_eq!(mode_options(&config).unwrap().mon_client, [ConMode::Secure, ConMode::Crc]);
        config.set(Layer::File, "debug crypto context", "per-message");
        config.set(Layer::File, "auth cluster required", "none");
        config.set(Layer::File, "ms service mode", "secure");
        assert_eq!(crypto_options(&config).unwrap().context, ContextPolicy::PerMessage);
        assert_eq!(method_options(&config).unwrap().cluster, [AuthMethod::None]);
        assert_eq!(mode_options(&config).unwrap().service, [ConMode::Secure]);
    }

    #[test]
    fn a_wrong_word_is_named_with_its_option() {
        let mut config = Config::new(EntityName::client("admin"));
        config.set(Layer::File, "ms_client_mode", "secure plain");
        let error = mode_options(&config).unwrap_err().to_string();
        assert!(error.contains("ms_client_mode") && error.contains("plain"), "{error}");
    }
}
