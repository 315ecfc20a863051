//! The files that a new cluster starts from: keys, keyrings and ceph.conf.

use std::{collections::BTreeMap, fmt::Write, fs, net::SocketAddr, path::Path};

use sepiola_cephx::{Keyring, KeyringEntry};
use sepiola_config::option_name;
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, OsdId, UTime};

use crate::{Auth, ClusterError, ClusterOptions, Layout, MsMode, capacity};

pub(crate) struct Provision<'a> {
    options: &'a ClusterOptions,
    layout: &'a Layout,
    mode: MsMode,
    fsid: uuid::Uuid,
}

impl<'a> Provision<'a> {
    pub(crate) fn new(options: &'a ClusterOptions, layout: &'a Layout) -> Result<Self, ClusterError> {
        if options.osds == 0 {
            return Err(ClusterError::Unsupported("a cluster needs at least one OSD".to_owned()));
        }
        if options.key_type == KeyType::None {
            return Err(ClusterError::Unsupported(
                "key type none proves nothing: use aes or aes256k".to_owned(),
            ));
        }
        let provision = Provision {
            options,
            layout,
            mode: options.effective_mode()?,
            fsid: uuid::Builder::from_random_bytes(rand::random()).into_uuid(),
        };
        provision.make_folders()?;
        provision.write_keyrings()?;
        Ok(provision)
    }

    fn make_folders(&self) -> Result<(), ClusterError> {
        let mut folders =
            vec![self.layout.dir().join("log"), self.layout.dir().join("run"), self.layout.data("mon.a")];
        folders.extend((0..self.options.osds).map(|id| self.layout.data(&format!("osd.{id}"))));
        for folder in folders {
            fs::create_dir_all(&folder).map_err(ClusterError::file(&folder))?;
        }
        Ok(())
    }

    /// One keyring with every first entity for the monitor, and one for each entity with its own key only.
    fn write_keyrings(&self) -> Result<(), ClusterError> {
        let mut all = Keyring::new();
        self.entity(&mut all, EntityName::mon(), &[("mon", "allow *")], None)?;
        let admin = [("mon", "allow *"), ("osd", "allow *"), ("mgr", "allow *"), ("mds", "allow *")];
        self.entity(&mut all, EntityName::client("admin"), &admin, Some(&self.layout.admin_keyring()))?;
        for id in 0..self.options.osds {
            let name = EntityName::osd(OsdId(id as i32));
            let file = self.layout.data(&name.to_string()).join("keyring");
            let caps = [("mon", "allow profile osd"), ("osd", "allow *"), ("mgr", "allow profile osd")];
            self.entity(&mut all, name, &caps, Some(&file))?;
        }
        self.save(&all, &self.layout.mon_keyring())
    }

    fn entity(
        &self,
        all: &mut Keyring,
        name: EntityName,
        caps: &[(&str, &str)],
        own_file: Option<&Path>,
    ) -> Result<(), ClusterError> {
        let key = CryptoKey::generate(self.options.key_type, UTime::now(), &mut rand::rng());
        let caps: BTreeMap<_, _> = caps.iter().map(|(s, c)| ((*s).to_owned(), (*c).to_owned())).collect();
        let entry = KeyringEntry::new(key, caps);
        if let Some(file) = own_file {
            let mut own = Keyring::new();
            own.insert(name.clone(), entry.clone());
            self.save(&own, file)?;
        }
        all.insert(name, entry);
        Ok(())
    }

    fn save(&self, keyring: &Keyring, path: &Path) -> Result<(), ClusterError> {
        Ok(keyring.save(path)?)
    }

    /// Takes back what was made for a cluster that did not come up, so that the next start makes a new one.
    /// Logs stay, for whoever asks why.
    pub(crate) fn undo(&self) {
        // Errors here would hide the one that counts.
        for osd in 0..self.options.osds {
            let _ = fs::remove_dir_all(self.layout.data(&format!("osd.{osd}")));
        }
        let _ = fs::remove_dir_all(self.layout.data("mon.a"));
        for file in [self.layout.admin_keyring(), self.layout.mon_keyring(), self.layout.conf()] {
            let _ = fs::remove_file(file);
        }
    }

    /// Writes ceph.conf; before the monitor is up its address is the port to bind.
    pub(crate) fn write(&self, mon_addrs: Option<&EntityAddrVec>) -> Result<(), ClusterError> {
        let dir = self.layout.dir().display();
        let method = match self.options.auth {
            Auth::Cephx => "cephx",
            Auth::None => "none",
        };
        let chosen = SocketAddr::from(([127, 0, 0, 1], self.options.port));
        let mon_host = mon_addrs.cloned().unwrap_or_else(|| EntityAddr::msgr2(chosen, 0).into());
        let mut conf = String::from("[global]\n");
        let mut line = |option: &str, value: &dyn std::fmt::Display| {
            writeln!(conf, "\t{option} = {value}").expect("writing to a string");
        };
        line("fsid", &self.fsid);
        if mon_addrs.is_some() || self.options.port != 0 {
            let mon_host: Vec<String> = mon_host.0.iter().map(ToString::to_string).collect();
            line("mon host", &format_args!("[{}]", mon_host.join(",")));
        }
        for scope in ["cluster", "service", "client"] {
            line(&format!("auth {scope} required"), &method);
        }
        for scope in ["cluster", "service", "client", "mon cluster", "mon service", "mon client"] {
            line(&format!("ms {scope} mode"), &self.mode);
        }
        line("auth allow insecure global id reclaim", &"false");
        line("mon allow pool delete", &"true");
        // The default is a benchmark's worth of seconds.
        let chosen = |(option, _): &(String, String)| option_name(option) == "memstore_device_bytes";
        if !self.options.settings.iter().any(chosen) {
            line("memstore device bytes", &capacity::of_each_osd(self.options.osds));
        }
        for (option, value) in &self.options.settings {
            line(option, value);
        }
        line("keyring", &format_args!("{dir}/$cluster.$name.keyring"));
        write!(
            conf,
            "[mon]\n\tkeyring = {dir}/ceph.mon.keyring\n\tmon data = {dir}/$name\n\tadmin socket = {dir}/run/$name.asok\n\
             [osd]\n\tadmin socket = {dir}/run/$name.asok\n\tkeyring = {dir}/$name/keyring\n\tosd data = {dir}/$name\n\tosd objectstore = {}\n",
            self.options.store
        )
        .expect("writing to a string");
        let path = self.layout.conf();
        fs::write(&path, conf).map_err(ClusterError::file(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_that_was_chosen_is_the_only_one() {
        let written = |options: ClusterOptions| {
            let layout = Layout::new(&options.dir).unwrap();
            Provision::new(&options, &layout).unwrap().write(None).unwrap();
            fs::read_to_string(layout.conf()).unwrap()
        };
        let dir = tempfile::tempdir().unwrap();
        let conf = written(ClusterOptions::new(dir.path()).setting("memstore_device_bytes", "1234"));
        assert!(conf.contains("memstore_device_bytes = 1234") && !conf.contains("memstore device"), "{conf}");
        let conf = written(ClusterOptions::new(dir.path()).osds(2));
        let shared = format!("memstore device bytes = {}\n", capacity::of_each_osd(2));
        assert!(conf.contains(&shared), "{conf}");
    }

    #[test]
    fn what_was_made_for_a_cluster_that_did_not_come_up_goes_and_logs_stay() {
        let dir = tempfile::tempdir().unwrap();
        let options = ClusterOptions::new(dir.path()).osds(2).port(3300);
        let layout = Layout::new(dir.path()).unwrap();
        let provision = Provision::new(&options, &layout).unwrap();
        provision.write(None).unwrap();
        let conf = fs::read_to_string(layout.conf()).unwrap();
        assert!(conf.contains("mon host = [v2:127.0.0.1:3300/0]\n"), "{conf}");
        provision.undo();
        let mut left: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["log", "run"]);
    }
}
