//! A monitor's state without the monitor, for tests.

use std::collections::BTreeMap;

use rand::{SeedableRng, rngs::StdRng};
use sepiola_cephx::{Keyring, PeerCaps};
use sepiola_config::Layer;
use sepiola_messages::{
    MonMap, pg_state,
    proto::{ObjectSums, OsdStats, PgStats, StoreStatfs},
};
use sepiola_messenger::VERSION;
use sepiola_osdmap::OsdBoot;
use sepiola_proto::{MonChange, MonEntry};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityType, Epoch, GlobalId, OsdId, UTime, Uuid};
use serde_json::Value;

use crate::{
    MkfsOptions, MonOptions,
    caller::Caller,
    command::{self, Reply, Request, Surroundings},
    mkfs::first_entry,
    service::{config, osd_step, sessions::Sessions, stats::ClusterStats},
    state::MonState,
};

pub(crate) const START: UTime = UTime::from_secs(1_796_057_635);

/// A state, and what commands need besides.
pub(crate) struct TestMon {
    pub state: MonState,
    pub stats: ClusterStats,
    pub options: MonOptions,
    pub now: UTime,
    rng: StdRng,
}

pub(crate) fn monmap() -> MonMap {
    let mut map = MonMap::new(Uuid::from_bytes([0x5d; 16]), START);
    let addr: EntityAddr = "v2:127.0.0.1:3300/0".parse().unwrap();
    map.add("a", addr.into());
    map
}

pub(crate) fn caller(name: &str, caps: &str) -> Caller {
    let caps = PeerCaps::parse(EntityType::Mon, caps).unwrap();
    Caller {
        name: name.parse().unwrap(),
        caps,
        addr: None,
        addrs: EntityAddrVec::default(),
        global_id: GlobalId(4100),
    }
}

/// What the monitor says about itself.
fn metadata() -> BTreeMap<String, String> {
    let facts = [("hostname", "h1"), ("ceph_version", VERSION)];
    facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

impl TestMon {
    /// A new cluster with one entity, `client.admin`.
    pub fn new() -> Self {
        let keyring =
            "[client.admin]\n\tkey = AQAE0Q1rmTTaBBAA227/EuwzXMJYQ4qyTX35HA==\n\tcaps mon = \"allow *\"\n";
        let options = MkfsOptions::new("", monmap(), Keyring::parse(keyring).unwrap());
        let mon_options = MonOptions::new("a", "");
        mon_options.config.update(|config| config.set(Layer::File, "mon_allow_pool_delete", "true"));
        TestMon {
            state: MonState::first(&first_entry(&options)).unwrap(),
            stats: ClusterStats::default(),
            options: mon_options,
            now: START,
            rng: StdRng::seed_from_u64(1),
        }
    }

    /// Applies changes as one entry.
    pub fn apply(&mut self, changes: Vec<MonChange>) {
        if !changes.is_empty() {
            let entry = MonEntry { index: self.state.applied() + 1, changes };
            self.state.apply(&entry).unwrap();
            config::follow(&self.state, &self.options);
        }
    }

    /// Brings an OSD up on host `h1`.
    pub fn boot(&mut self, id: i32) {
        let map = self.state.osdmap().clone();
        let addr: EntityAddr = format!("v2:127.0.0.1:{}/7", 6800 + id).parse().unwrap();
        let boot = OsdBoot {
            id: OsdId(id),
            uuid: Uuid::from_bytes([id as u8; 16]),
            client_addrs: addr.into(),
            cluster_addrs: addr.into(),
            features: 0,
            last_clean: (Epoch(0), Epoch(0)),
        };
        let mut crush = map.crush().clone();
        crush.set_device(id, 511, "h1").unwrap();
        let change = osd_step::step(&map, self.now, |inc| {
            inc.boot_osd(&map, &boot);
            inc.set_crush(&crush);
        });
        self.apply(vec![change.unwrap()]);
    }

    /// A report from an OSD with 8 GiB that is the primary of all pgs of pool 1 up to `pgs`.
    pub fn report(&mut self, id: i32, pgs: u32, sums: ObjectSums) {
        let one = |ps: u32| PgStats {
            pool: 1,
            ps,
            state: pg_state::ACTIVE | pg_state::CLEAN,
            up: vec![id],
            acting: vec![id],
            sums: Some(if ps == 0 { sums } else { ObjectSums::default() }),
            ..PgStats::default()
        };
        let report = OsdStats {
            osd_id: id,
            seq: 1,
            statfs: Some(StoreStatfs { total: 8 << 30, available: 8_589_918_544, ..StoreStatfs::default() }),
            pgs: (0..pgs).map(one).collect(),
            complete: true,
            ..OsdStats::default()
        };
        self.stats.accept(report, self.now);
    }

    /// Runs a command as its sender, and applies what it changes.
    pub fn run_as(&mut self, caller: &Caller, command: &Value, input: &[u8]) -> Reply {
        let request = Request { words: vec![command.to_string()], input: input.to_vec().into() };
        let checked = match command::check(request, caller) {
            Ok(checked) => checked,
            Err(reply) => return reply,
        };
        let at = Surroundings {
            state: &self.state,
            stats: &self.stats,
            sessions: &Sessions::default(),
            options: &self.options,
            metadata: &metadata(),
            started: START,
            now: self.now,
        };
        let proposal = checked.run(at, caller, &mut self.rng);
        assert!(!checked.is_read() || proposal.changes.is_empty());
        self.apply(proposal.changes);
        proposal.reply
    }

    /// Runs a command as the administrator.
    pub fn run(&mut self, command: Value) -> Reply {
        self.run_as(&caller("client.admin", "allow *"), &command, b"")
    }

    /// Runs a command that must succeed; its output as text.
    pub fn output(&mut self, command: Value) -> String {
        let reply = self.run(command);
        assert_eq!(reply.result, 0, "{}", reply.status);
        String::from_utf8(reply.output.to_vec()).unwrap()
    }

    /// The entities' caps, for comparing.
    pub fn caps(&self, name: &str) -> Option<BTreeMap<String, String>> {
        self.state.entity(&name.parse().unwrap()).map(|e| e.caps.clone())
    }
}
