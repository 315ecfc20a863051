//! A monitor in this process, and clients that speak to it over TCP.

use std::{collections::VecDeque, path::Path, time::Duration};

use sepiola_cephx::{ConMode, Keyring, ServiceSet, TicketKeeper};
use sepiola_config::Layer;
use sepiola_messages::{
    MonCommand, MonCommandAck, MonMap, MonSubscribe, OsdMapMessage, SubscribeFlags, WireMessage,
};
use sepiola_messenger::{Connection, Error, ReadyFile, Sender, Shutdown, ShutdownTrigger};
use sepiola_mon::{MkfsOptions, MonOptions, RunError, mkfs, run};
use sepiola_msgr2::{ClientConfig, Message, MessageHeader};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, Tid, UTime, Uuid};
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

/// Nothing here takes long; a test that waits longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

pub const KEYRING: &str = "\
[client.admin]
\tkey = AQAE0Q1rmTTaBBAA227/EuwzXMJYQ4qyTX35HA==
\tcaps mon = \"allow *\"
[client.reader]
\tkey = AQAS0Q1rdONNCBAAtd1jLCJjFC94XXBT7HEnlQ==
\tcaps mon = \"allow r\"
[client.nocaps]
\tkey = AQAS0Q1rdONNCBAAtd1jLCJjFC94XXBT7HEnlQ==
[client.newest]
\tkey = AgAT0g1rRIvYGSAAYxdYtON+itMlZcCQADwCUZvmu1q6lvfGjpzib0/H+Hc=
\tcaps mon = \"allow r\"
[osd.0]
\tkey = AQAE0Q1rmTTaBBAA227/EuwzXMJYQ4qyTX35HA==
\tcaps mon = \"allow profile osd\"
[osd.1]
\tkey = AQAE0Q1rmTTaBBAA227/EuwzXMJYQ4qyTX35HA==
\tcaps mon = \"allow profile osd\"
[osd.2]
\tkey = AQAE0Q1rmTTaBBAA227/EuwzXMJYQ4qyTX35HA==
\tcaps mon = \"allow r\"
";

pub fn fsid() -> Uuid {
    Uuid::from_bytes([0x11; 16])
}

/// A running monitor.
pub struct Mon {
    pub addr: EntityAddr,
    task: JoinHandle<Result<(), RunError>>,
    stop: ShutdownTrigger,
}

impl Mon {
    /// Makes a store in `dir`, which asks for a free port.
    pub fn mkfs(dir: &Path) {
        let mut map = MonMap::new(fsid(), UTime::now());
        map.add("a", "v2:127.0.0.1:0/0".parse::<EntityAddr>().unwrap().into());
        mkfs(&MkfsOptions::new(dir, map, Keyring::parse(KEYRING).unwrap())).unwrap();
    }

    /// Starts on the store in `dir`, and waits until it is ready.
    pub async fn start(dir: &Path) -> Self {
        Self::start_with(dir, |_| ()).await
    }

    pub async fn start_with(dir: &Path, edit: impl FnOnce(&mut MonOptions)) -> Self {
        let ready = dir.join("ready");
        let _ = std::fs::remove_file(&ready);
        let mut options = MonOptions::new("a", dir);
        options.ready_file = Some(ready.clone());
        options.config.update(|config| config.set(Layer::File, "mon_allow_pool_delete", "true"));
        edit(&mut options);
        let (stop, shutdown) = Shutdown::new();
        let task = tokio::spawn(run(options, shutdown));
        let read = async {
            loop {
                if let Ok(ready) = ReadyFile::read(&ready) {
                    return ready;
                }
                assert!(!task.is_finished(), "the monitor ended before it was ready");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let ready = timeout(PATIENCE, read).await.unwrap();
        Mon { addr: ready.addrs.0[0], task, stop }
    }

    /// Ends it in order.
    pub async fn stop(self) {
        self.stop.raise();
        self.task.await.unwrap().unwrap();
    }

    /// Drops everything where it stands, as a kill does.
    pub async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
        // A killed process has closed its sockets; tasks do so when they next run.
        let free = async {
            while std::net::TcpListener::bind(self.addr.socket.unwrap()).is_err() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(PATIENCE, free).await.unwrap();
    }
}

/// A session with a monitor.
pub struct Client {
    sender: Sender,
    arrived: mpsc::UnboundedReceiver<Arrived>,
    /// What arrived while something else was waited for.
    kept: VecDeque<Arrived>,
    pub keeper: TicketKeeper,
    next_tid: u64,
}

struct Arrived {
    header: MessageHeader,
    front: Vec<u8>,
    data: Vec<u8>,
}

impl Client {
    pub async fn connect(mon: &Mon, name: &str) -> Self {
        Self::try_connect(mon, name).await.unwrap()
    }

    pub async fn try_connect(mon: &Mon, name: &str) -> Result<Self, Error> {
        let name: EntityName = name.parse().unwrap();
        let keyring = Keyring::parse(KEYRING).unwrap();
        let key = keyring.get(&name).unwrap().key.clone().unwrap();
        Self::with_keeper(mon, TicketKeeper::new(name, key, ServiceSet::CLIENT), &[ConMode::Secure]).await
    }

    pub async fn with_keeper(mon: &Mon, keeper: TicketKeeper, modes: &[ConMode]) -> Result<Self, Error> {
        let own = EntityAddr::client("127.0.0.1".parse().unwrap(), 1);
        let mut config = ClientConfig::new(
            keeper.name().kind,
            EntityAddrVec::from(own),
            sepiola_wire::EntityType::Mon,
            mon.addr,
        );
        config.modes = modes.to_vec();
        let socket = mon.addr.socket.unwrap();
        let (sender, receiver) =
            Connection::dial(socket, config, keeper.mon_authenticator(), PATIENCE).await?;
        let (deliver, arrived) = mpsc::unbounded_channel();
        tokio::spawn(receiver.run(move |message: Message<'_>, _: &Sender| {
            let (front, data) = (message.front.to_vec(), message.data.to_vec());
            let _ = deliver.send(Arrived { header: message.header, front, data });
            Ok(())
        }));
        Ok(Client { sender, arrived, kept: VecDeque::new(), keeper, next_tid: 1 })
    }

    /// Sends a message; its tid.
    pub fn send<M: WireMessage>(&mut self, message: &M) -> Tid {
        let tid = Tid(self.next_tid);
        self.next_tid += 1;
        self.sender.send_typed(message, tid).unwrap();
        tid
    }

    /// The next message of a type; others are kept.
    pub async fn receive<M: WireMessage>(&mut self) -> (Tid, M) {
        let at = self.kept.iter().position(|m| m.header.kind == M::TYPE);
        let found = match at.and_then(|at| self.kept.remove(at)) {
            Some(found) => found,
            None => loop {
                let next = timeout(PATIENCE, self.arrived.recv()).await.expect("nothing arrives");
                let next = next.expect("the session was closed");
                if next.header.kind == M::TYPE {
                    break next;
                }
                self.kept.push_back(next);
            },
        };
        (found.header.tid, M::decode(found.header.version, &found.front, &found.data).unwrap())
    }

    /// The types that have arrived before an answer to something sent last.
    pub async fn kinds_before<M: WireMessage>(&mut self) -> Vec<u16> {
        self.receive::<M>().await;
        self.kept.drain(..).map(|m| m.header.kind).collect()
    }

    /// Waits until the monitor closes the session.
    pub async fn closed(&mut self) {
        let end = async { while self.arrived.recv().await.is_some() {} };
        timeout(PATIENCE, end).await.expect("the session stays open");
    }

    /// Runs a command.
    pub async fn command(&mut self, command: Value) -> MonCommandAck {
        let request = MonCommand { fsid: fsid(), cmd: vec![command.to_string()], ..MonCommand::default() };
        let tid = self.send(&request);
        let (answered, ack) = self.receive::<MonCommandAck>().await;
        assert_eq!(answered, tid);
        ack
    }

    /// A command's output, which must succeed.
    pub async fn output(&mut self, command: Value) -> String {
        let ack = self.command(command).await;
        assert_eq!(ack.result, 0, "{}", ack.status);
        String::from_utf8(ack.output.to_vec()).unwrap()
    }

    /// Asks for an epoch of the OSD map and waits for it.
    pub async fn osdmap(&mut self, start: u64) -> OsdMapMessage {
        self.send(&MonSubscribe::one("osdmap", start, SubscribeFlags::ONETIME));
        self.receive::<OsdMapMessage>().await.1
    }
}
