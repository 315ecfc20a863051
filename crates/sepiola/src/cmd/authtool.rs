//! `sepiola authtool`: make and change keyrings, with the flags of `ceph-authtool`.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::PathBuf};

use clap::Args;
use sepiola_cephx::{Keyring, KeyringEntry, KeyringError};
use sepiola_config::ConfFile;
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityName, Errno, UTime};

use crate::failure::{CmdResult, Failure};

/// Services that a file of capabilities is read for.
const SERVICES: [&str; 4] = ["mon", "osd", "mds", "mgr"];

/// Flags of `ceph-authtool`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
pub struct AuthtoolArgs {
    /// The keyring file.
    pub file: Option<PathBuf>,
    /// The entity to work on.
    #[arg(short = 'n', long, default_value = "client.admin")]
    pub name: String,
    /// Make a new keyring, over an old one of the same name.
    #[arg(short = 'C', long)]
    pub create_keyring: bool,
    /// Make a new key for the entity, which loses its capabilities unless they are given as well.
    #[arg(short = 'g', long)]
    pub gen_key: bool,
    /// Print a new key and do nothing else.
    #[arg(long)]
    pub gen_print_key: bool,
    /// The cipher of new keys: aes, or aes256k for 19.2.6, 20.2.4 and newer.
    #[arg(short = 't', long = "key-type", default_value = "aes")]
    pub key_type: KeyType,
    /// Give the entity this key.
    #[arg(short = 'a', long, value_name = "BASE64")]
    pub add_key: Option<String>,
    /// Give the entity these capabilities for a service, and no others; may be given several times.
    #[arg(long = "cap", num_args = 2, value_names = ["SERVICE", "CAPS"])]
    pub cap: Vec<String>,
    /// Give the entity the capabilities of a file with lines such as `osd = "allow rw"` below `[global]`.
    #[arg(long, value_name = "FILE")]
    pub caps: Option<PathBuf>,
    /// Merge another keyring into this one.
    #[arg(long, value_name = "FILE")]
    pub import_keyring: Option<PathBuf>,
    /// Who may read the file, in octal; 0600 if not given.
    #[arg(long, value_parser = parse_mode)]
    pub mode: Option<u32>,
    /// Print the entity's key.
    #[arg(short = 'p', long)]
    pub print_key: bool,
    /// Print the keyring.
    #[arg(short = 'l', long)]
    pub list: bool,
    /// Show the version.
    #[arg(short = 'v', long)]
    pub version: bool,
}

fn parse_mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| format!("`{text}` is no mode: expected e.g. 0644"))
}

impl AuthtoolArgs {
    /// Whether there is anything to do.
    fn does_something(&self) -> bool {
        let changes = self.create_keyring || self.gen_key || self.add_key.is_some() || !self.cap.is_empty();
        changes || self.caps.is_some() || self.import_keyring.is_some() || self.print_key || self.list
    }

    fn added_key(&self) -> Result<Option<CryptoKey>, Failure> {
        // The text may be a key but for a letter: it is not repeated.
        let parsed = self.add_key.as_deref().map(CryptoKey::from_base64).transpose();
        parsed.map_err(|e| Failure::new(format!("can't decode key: {e}")))
    }

    /// The capabilities that the entity shall have, if the command line says so.
    fn wanted_caps(&self) -> Result<Option<BTreeMap<String, String>>, Failure> {
        if let Some(file) = &self.caps {
            return read_caps(file).map(Some);
        }
        let caps = self.cap.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok((!self.cap.is_empty()).then(|| caps.collect()))
    }
}

fn read_caps(file: &std::path::Path) -> Result<BTreeMap<String, String>, Failure> {
    let conf = ConfFile::load(file)
        .map_err(|e| Failure::new(format!("could not parse caps file {}: {e}", file.display())))?;
    let global = conf.section("global").cloned().unwrap_or_default();
    Ok(global.into_iter().filter(|(service, _)| SERVICES.contains(&service.as_str())).collect())
}

/// Runs the tool.
pub fn run(args: AuthtoolArgs) -> CmdResult {
    if args.version {
        say!("{}", crate::cli::version());
        return Ok(());
    }
    let new_key = || CryptoKey::generate(args.key_type, UTime::now(), &mut rand::rng());
    if args.gen_print_key {
        say!("{}", *new_key().to_base64());
        return Ok(());
    }
    let usage = |why: &str| Failure::new(why).hint("see `sepiola authtool --help`");
    let file = args.file.as_deref().ok_or_else(|| usage("which keyring? its file is missing"))?;
    if !args.does_something() {
        return Err(usage("nothing was asked for"));
    }
    if args.gen_key && args.add_key.is_some() {
        return Err(usage("--gen-key and --add-key exclude each other"));
    }
    let name = &args.name;
    let name: EntityName = name.parse().map_err(|_| {
        Failure::new(format!(
            "'{name}' is no entity: those are called TYPE.ID, with type auth, mon, osd, mds, mgr or client"
        ))
    })?;
    let added = args.added_key()?;
    let mut keyring = if args.create_keyring {
        say!("creating {}", file.display());
        Keyring::new()
    } else {
        load(file)?
    };
    let mut changed = args.create_keyring;
    if let Some(other) = &args.import_keyring {
        let imported = load(other)?;
        say!("importing contents of {} into {}", other.display(), file.display());
        for (name, entry) in imported.iter() {
            keyring.insert(name.clone(), entry.clone());
        }
        changed = true;
    }
    if let Some(key) = added.or_else(|| args.gen_key.then(new_key)) {
        keyring.insert(name.clone(), KeyringEntry::new(key, BTreeMap::new()));
        changed = true;
    }
    if let Some(caps) = args.wanted_caps()? {
        if keyring.get(&name).is_none() {
            return Err(Failure::new(format!(
                "{name} has no key yet: --gen-key makes one, --add-key takes one"
            )));
        }
        keyring.entry(name.clone()).caps = caps;
        changed = true;
    }
    if args.print_key {
        let key = keyring.get(&name).and_then(|entry| entry.key.as_ref());
        let key = key.ok_or_else(|| Failure::new(format!("entity {name} not found")))?;
        say!("{}", *key.to_base64());
    }
    if args.list {
        let _ = std::io::Write::write_all(&mut std::io::stdout(), keyring.to_text().as_bytes());
    }
    if changed {
        keyring
            .save(file)
            .map_err(|e| Failure::new(format!("could not write {}", file.display())).hint(e))?;
        if let Some(mode) = args.mode {
            fs::set_permissions(file, fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

fn load(file: &std::path::Path) -> Result<Keyring, Failure> {
    Keyring::load(file).map_err(|error| match error {
        KeyringError::Io { source, .. } => {
            let errno = Errno::new(source.raw_os_error().unwrap_or(Errno::EIO.code()));
            let file = file.display();
            Failure::new(format!("can't open {file}: can't open {file}: {errno}"))
                .hint("--create-keyring makes a new one")
        }
        other => Failure::new(format!("error reading file {}", file.display())).hint(other),
    })
}
