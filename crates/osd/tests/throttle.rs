//! Over its limits an OSD stops reading, whoever sends, and goes on when there is room: nothing fails.

mod common;

use std::{sync::Arc, time::Duration};

use common::{Request, map, next_map, osd};
use sepiola_cephx::{AllowedAuth, AuthMethod, ConMode, NoneAuthenticator, ServiceSecrets};
use sepiola_crypto::CryptoOptions;
use sepiola_messages::{
    kind,
    osd_op::{OpSpec, OsdOpReplyRef, REQUEST_COMPAT, REQUEST_VERSION},
};
use sepiola_messenger::{
    Connection, DialOptions, Receiver, Sender, ServeOptions, Shutdown, ShutdownTrigger, Throttle, listen,
    serve,
};
use sepiola_msgr2::{ClientConfig, Message, MessageHeader};
use sepiola_osd::{Network, NetworkConfig, Osd};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, EntityType, Epoch, GlobalId, Tid};
use tokio::sync::mpsc;

struct Server {
    osd: Arc<Osd>,
    addr: EntityAddr,
    _stop: ShutdownTrigger,
}

fn start(throttle: Throttle) -> Server {
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = EntityAddr::msgr2(listener.local_addr().unwrap(), 7);
    let osd = Arc::new(osd());
    let network = Network::new(
        osd.clone(),
        NetworkConfig {
            addrs: addr.into(),
            keys: Arc::new(ServiceSecrets::new()),
            allowed: Arc::new(AllowedAuth::uniform(&[AuthMethod::None], &[ConMode::Crc])),
            crypto: CryptoOptions::default(),
            throttle: throttle.clone(),
        },
    );
    let mut options = ServeOptions::default();
    options.throttle = Some(throttle);
    let (stop, shutdown) = Shutdown::new();
    tokio::spawn(serve(listener, Arc::new(network), options, shutdown));
    Server { osd, addr, _stop: stop }
}

impl Server {
    async fn client(&self, id: u64) -> (Sender, mpsc::UnboundedReceiver<(Tid, i32)>) {
        let own = EntityAddr::client([127, 0, 0, 1].into(), id as u32);
        let mut config =
            ClientConfig::new(EntityType::Client, EntityAddrVec(vec![own]), EntityType::Osd, self.addr);
        config.modes = vec![ConMode::Crc];
        let auth = NoneAuthenticator::to_service(EntityName::client("admin"), GlobalId(id));
        let socket = self.addr.socket.unwrap();
        let dialled = Connection::dial(socket, config, Box::new(auth), DialOptions::default()).await;
        let (sender, receiver): (Sender, Receiver) = dialled.unwrap();
        let (got, replies) = mpsc::unbounded_channel();
        tokio::spawn(receiver.run(move |message: Message<'_>, _: &Sender| {
            if message.header.kind == kind::OSD_OPREPLY {
                let data = &message.data;
                let reply = OsdOpReplyRef::decode(message.header.version, message.front, data).unwrap();
                let _ = got.send((message.header.tid, reply.result));
            }
            Ok(())
        }));
        (sender, replies)
    }

    /// Waits until nothing more is taken, and says how much was.
    async fn settled(&self) -> usize {
        let mut before = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = self.osd.ops_in_flight(Duration::ZERO, 0).1;
            if now == before && now > 0 {
                return now;
            }
            before = now;
        }
    }
}

/// Requests ahead of the OSD's map: they wait.
fn send(sender: &Sender, tids: std::ops::Range<u64>, bytes: usize) {
    for tid in tids {
        let request =
            Request::on("x", [OpSpec::append(vec![1; bytes])]).with(|head| head.map_epoch = Epoch(9));
        let (front, data) = request.encoded();
        let header = MessageHeader {
            tid: Tid(tid),
            ..MessageHeader::new(kind::OSD_OP, REQUEST_VERSION, REQUEST_COMPAT)
        };
        sender.send(&header, |out| out.extend_from_slice(&front), &[&data]).unwrap();
    }
}

/// Two clients send ten requests each; returns how many the OSD took of them before it could answer.
async fn taken(throttle: Throttle, bytes: usize) -> usize {
    let server = start(throttle);
    let (one, mut replies_to_one) = server.client(1).await;
    let (two, mut replies_to_two) = server.client(2).await;
    send(&one, 0..10, bytes);
    send(&two, 0..10, bytes);
    let taken = server.settled().await;
    server.osd.apply_map(next_map(&map(), |_| {})).unwrap();
    for replies in [&mut replies_to_one, &mut replies_to_two] {
        // Those that waited are answered from elsewhere than those that come now.
        let mut answered = Vec::new();
        while answered.len() < 10 {
            answered.push(replies.recv().await.unwrap());
        }
        answered.sort();
        assert_eq!(answered, (0..10).map(|tid| (Tid(tid), 0)).collect::<Vec<_>>());
    }
    taken
}

#[tokio::test]
async fn the_number_of_requests_is_limited_over_all_clients() {
    assert_eq!(taken(Throttle::new(4, u64::MAX), 1).await, 4);
}

#[tokio::test]
async fn so_are_their_bytes() {
    assert_eq!(taken(Throttle::new(u64::MAX, 100_000), 40_000).await, 3);
}

#[tokio::test]
async fn without_reaching_a_limit_all_are_taken() {
    assert_eq!(taken(Throttle::new(1000, u64::MAX), 40_000).await, 20);
}
