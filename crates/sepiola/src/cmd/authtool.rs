//! `sepiola authtool`: make and change keyrings, with the flags of `ceph-authtool`.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use sepiola_cephx::{Keyring, KeyringEntry};
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, UTime};

use crate::failure::{CmdResult, Failure};

/// Flags of `ceph-authtool`.
#[derive(Debug, Args)]
pub struct AuthtoolArgs {
    /// The keyring file.
    pub file: Option<PathBuf>,
    /// The entity to work on.
    #[arg(short = 'n', long, default_value = "client.admin")]
    pub name: String,
    /// Make a new keyring, over an old one of the same name.
    #[arg(short = 'C', long)]
    pub create_keyring: bool,
    /// Make a new key for the entity.
    #[arg(short = 'g', long)]
    pub gen_key: bool,
    /// Print a new key and do nothing else.
    #[arg(long)]
    pub gen_print_key: bool,
    /// The cipher of new keys: aes, or aes256k for 19.2.6, 20.2.4 and newer.
    #[arg(short = 't', long = "key-type", default_value = "aes")]
    pub key_type: KeyType,
    /// Give the entity this key.
    #[arg(short = 'a', long, value_name = "BASE64", value_parser = CryptoKey::from_base64)]
    pub add_key: Option<CryptoKey>,
    /// Give the entity these capabilities for a service.
    #[arg(long = "cap", num_args = 2, value_names = ["SERVICE", "CAPS"])]
    pub caps: Vec<String>,
    /// Merge another keyring into this one.
    #[arg(long, value_name = "FILE")]
    pub import_keyring: Option<PathBuf>,
    /// Print the entity's key.
    #[arg(short = 'p', long)]
    pub print_key: bool,
    /// Print the keyring.
    #[arg(short = 'l', long)]
    pub list: bool,
}

/// Runs the tool.
pub fn run(args: AuthtoolArgs) -> CmdResult {
    let new_key = || CryptoKey::generate(args.key_type, UTime::now(), &mut rand::rng());
    if args.gen_print_key {
        println!("{}", *new_key().to_base64());
        return Ok(());
    }
    let file = args.file.as_deref().ok_or_else(|| Failure::new("which keyring? give its file name"))?;
    let name: EntityName = args.name.parse().map_err(|e| Failure::new(format!("--name: {e}")))?;
    let mut keyring = if args.create_keyring {
        println!("creating {}", file.display());
        Keyring::new()
    } else {
        Keyring::load(file)?
    };
    let mut changed = args.create_keyring;
    if let Some(other) = &args.import_keyring {
        for (name, entry) in Keyring::load(other)?.iter() {
            keyring.insert(name.clone(), entry.clone());
        }
        changed = true;
    }
    let key = args.add_key.or_else(|| args.gen_key.then(new_key));
    if key.is_some() || !args.caps.is_empty() {
        let old = keyring.get(&name);
        let key = key.or_else(|| old.and_then(|e| e.key.clone())).ok_or_else(|| {
            Failure::new(format!("entity {name} has no key in {}: add --gen-key", file.display()))
        })?;
        let mut caps: BTreeMap<String, String> = old.map(|e| e.caps.clone()).unwrap_or_default();
        caps.extend(args.caps.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())));
        keyring.insert(name.clone(), KeyringEntry::new(key, caps));
        changed = true;
    }
    if args.print_key {
        let key = keyring.get(&name).and_then(|e| e.key.as_ref());
        let key =
            key.ok_or_else(|| Failure::new(format!("entity {name} not found in {}", file.display())))?;
        println!("{}", *key.to_base64());
    }
    if args.list {
        print!("{}", *keyring.to_text());
    }
    if changed {
        keyring.save(file)?;
    }
    Ok(())
}
