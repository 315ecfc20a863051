//! Peers that lie, stop, flood or tamper during a handshake with a running monitor or OSD: each ends its own
//! connection, nothing else. A client that does nothing wrong works all the while, and afterwards.

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use sepiola_cephx::{
    AuthEnv, AuthError, AuthMethod, ClientAuthDone, ClientAuthenticator, ConMode, Keyring, ServiceSet,
    TicketKeeper,
};
use sepiola_cluster::MsMode;
use sepiola_crypto::{CryptoKey, KeyType};
use sepiola_msgr2::{
    ClientConfig, Denial, Error, Handshake, Misbehaviour, Progress, ReadBuffer,
    frame::{FrameEncoder, PREAMBLE_LEN, Preamble, Tag},
};
use sepiola_tests::{Bystander, MiniCluster, Tool, test_pool};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, EntityType, Errno, GlobalId, Put, UTime, crc32c};

/// The servers' deadline for a handshake is 10 s; the rest is for a busy machine.
const CLOSED_WITHIN: Duration = Duration::from_secs(25);
const BANNER: &[u8] = b"ceph v2\n\x10\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
const TARGETS: [&str; 2] = ["mon.a", "osd.0"];

/// What a client sends, step by step.
const STEPS: [Option<Tag>; 6] = [
    None, // the banner
    Some(Tag::Hello),
    Some(Tag::AuthRequest),
    Some(Tag::AuthRequestMore),
    Some(Tag::AuthSignature),
    Some(Tag::ClientIdent),
];
const AUTH_REQUEST: usize = 2;
const AUTH_REQUEST_MORE: usize = 3;
const AUTH_SIGNATURE: usize = 4;

/// What becomes of the bytes of a step.
enum Say {
    /// They are sent.
    Bytes(Vec<u8>),
    /// They are sent, and the client closes its side.
    Last(Vec<u8>),
    /// They are sent, and the client falls silent.
    Silence(Vec<u8>),
}

/// How a handshake ended.
#[derive(Debug)]
enum End {
    /// With a session on this connection.
    Ready(TcpStream),
    /// The server closed the connection.
    Closed,
    /// The server refused, or said something that the client does not believe; the connection is open.
    Failed(Error, TcpStream),
}

impl End {
    fn ready(self) -> TcpStream {
        match self {
            End::Ready(stream) => stream,
            other => panic!("no session: {other:?}"),
        }
    }

    /// Waits until the server has closed the connection, if it has not yet.
    fn closed(self, what: &str) {
        match self {
            End::Ready(_) => panic!("{what}: a session"),
            End::Closed => {}
            // The server has not been lied to: it received what the signature covers. It is the client that
            // knows better, and leaves.
            End::Failed(Error::PeerMisbehaved(Misbehaviour::BadSignature), _) => {}
            End::Failed(_, mut stream) => {
                read_to_end(&mut stream, what);
            }
        }
    }
}

/// Runs a client's handshake over a socket. `change` sees the bytes of every step before they leave.
fn handshake(mut client: Handshake, to: SocketAddr, mut change: impl FnMut(usize, Vec<u8>) -> Say) -> End {
    let mut stream = connect(to);
    let (mut received, mut input) = (VecDeque::new(), ReadBuffer::new());
    let mut step = 0;
    loop {
        let output = std::mem::take(client.output());
        if !output.is_empty() {
            let (bytes, last, shut) = match change(step, output) {
                Say::Bytes(bytes) => (bytes, false, false),
                Say::Silence(bytes) => (bytes, true, false),
                Say::Last(bytes) => (bytes, true, true),
            };
            step += 1;
            // A server that has closed already is found out by reading.
            let _ = stream.write_all(&bytes);
            if shut {
                let _ = stream.shutdown(Shutdown::Write);
            }
            if last {
                read_to_end(&mut stream, "after its last word");
                return End::Closed;
            }
        }
        if received.is_empty() {
            match read(&mut stream, "in a handshake") {
                bytes if bytes.is_empty() => return End::Closed,
                bytes => received.extend(bytes),
            }
        }
        // Byte by byte, so that every step's output is seen by itself.
        while let Some(byte) = received.pop_front() {
            input.extend(&[byte]);
            match client.advance(&mut input, UTime::now(), &mut rand::rng()) {
                Ok(Progress::Ready) => return End::Ready(stream),
                Ok(_) if client.output().is_empty() => {}
                Ok(_) => break,
                Err(error) => return End::Failed(error, stream),
            }
        }
    }
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(CLOSED_WITHIN)).unwrap();
    stream.set_write_timeout(Some(CLOSED_WITHIN)).unwrap();
    stream
}

/// Some bytes; none when the server has closed the connection.
fn read(stream: &mut TcpStream, what: &str) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    match stream.read(&mut bytes) {
        Ok(n) => bytes.truncate(n),
        Err(e) if e.kind() == ErrorKind::ConnectionReset => bytes.clear(),
        Err(e) => panic!("{what}: the server neither answers nor closes: {e}"),
    }
    bytes
}

fn read_to_end(stream: &mut TcpStream, what: &str) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match read(stream, what) {
            bytes if bytes.is_empty() => return all,
            bytes => all.extend(bytes),
        }
    }
}

fn plain(_: usize, bytes: Vec<u8>) -> Say {
    Say::Bytes(bytes)
}

fn con_mode(mode: MsMode) -> ConMode {
    if mode == MsMode::Secure { ConMode::Secure } else { ConMode::Crc }
}

/// A cluster under attack, with somebody at work on it.
struct Scene {
    cluster: MiniCluster,
    bystander: Bystander,
    admin: CryptoKey,
    mode: ConMode,
}

impl Scene {
    fn new(mode: MsMode) -> Self {
        let cluster = MiniCluster::start(|options| options.ms_mode(mode));
        let keyring = Keyring::load(cluster.admin_keyring()).unwrap();
        let admin = keyring.key(&EntityName::client("admin")).unwrap().clone();
        Scene { bystander: Bystander::start(&cluster), cluster, admin, mode: con_mode(mode) }
    }

    /// Everybody else is well.
    fn over(self) {
        self.bystander.finish();
        for tool in [Tool::Sepiola, Tool::Stock] {
            let listed = self.cluster.run(tool, "rados", &["-p", test_pool(), "ls"]).success().unwrap();
            listed.prints("bystander-0").unwrap();
            self.cluster.run(tool, "ceph", &["-s"]).success().unwrap().prints("1 up").unwrap();
        }
    }

    fn addr(&self, target: &str) -> EntityAddr {
        self.cluster.address(target).parse().unwrap()
    }

    fn socket(&self, target: &str) -> SocketAddr {
        self.addr(target).socket.unwrap()
    }

    fn config(&self, target: &str) -> ClientConfig {
        let kind = if target.starts_with("mon") { EntityType::Mon } else { EntityType::Osd };
        let own = EntityAddr::client([127, 0, 0, 1].into(), rand::random());
        let mut config = ClientConfig::new(EntityType::Client, own.into(), kind, self.addr(target));
        config.modes = vec![self.mode];
        config
    }

    fn keeper_with(&self, key: &CryptoKey) -> TicketKeeper {
        TicketKeeper::new(EntityName::client("admin"), key.clone(), ServiceSet::CLIENT)
    }

    /// The administrator, with tickets: everyone who does nothing wrong gets some.
    fn settled(&self) -> TicketKeeper {
        let keeper = self.keeper_with(&self.admin);
        let client = Handshake::client(self.config("mon.a"), keeper.mon_authenticator());
        handshake(client, self.socket("mon.a"), plain).ready();
        keeper
    }

    fn client(&self, target: &str, keeper: &TicketKeeper) -> Handshake {
        let auth = match target.starts_with("mon") {
            true => keeper.mon_authenticator(),
            false => keeper.service_authenticator(EntityType::Osd, UTime::now()).unwrap(),
        };
        Handshake::client(self.config(target), auth)
    }

    /// A client with the right key that knows how to behave, but for `change`.
    fn attack(&self, target: &str, change: impl FnMut(usize, Vec<u8>) -> Say) -> End {
        let keeper = match target.starts_with("mon") {
            true => self.keeper_with(&self.admin),
            false => self.settled(),
        };
        handshake(self.client(target, &keeper), self.socket(target), change)
    }

    /// What a client that behaves sends until it is authenticated.
    fn recorded(&self, target: &str) -> Vec<u8> {
        let mut recorded = Vec::new();
        let record = |step, bytes: Vec<u8>| {
            if step <= AUTH_REQUEST_MORE {
                recorded.extend_from_slice(&bytes);
            }
            Say::Bytes(bytes)
        };
        self.attack(target, record).ready();
        recorded
    }
}

fn raw_frame(tag: Tag, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameEncoder::crc().single(&mut out, tag, |out| out.extend_from_slice(payload)).unwrap();
    out
}

/// The payload of a frame of crc mode.
fn payload(frame: &[u8]) -> Vec<u8> {
    let preamble = Preamble::decode(frame.first_chunk().unwrap()).unwrap();
    frame[PREAMBLE_LEN..][..preamble.len(0)].to_vec()
}

/// A preamble that announces a segment of any length, with a right checksum.
fn announcing(tag: Tag, len: u32) -> Vec<u8> {
    let mut out = vec![tag as u8, 1];
    out.put_u32(len);
    out.extend_from_slice(&[8, 0]);
    out.resize(28, 0);
    let crc = crc32c(0, &out);
    out.put_u32(crc);
    out
}

/// The frames that a server sent in the clear.
fn tags(bytes: &[u8]) -> Vec<Tag> {
    let mut rest = bytes.get(BANNER.len()..).unwrap_or_default();
    let mut tags = Vec::new();
    while let Some(preamble) = rest.first_chunk() {
        let preamble = Preamble::decode(preamble).unwrap();
        tags.push(preamble.tag());
        rest = rest.get(PREAMBLE_LEN + preamble.len(0) + 4..).unwrap_or_default();
    }
    tags
}

#[test]
fn damage_at_every_step() {
    for mode in [MsMode::Secure, MsMode::Crc] {
        let scene = Scene::new(mode);
        for target in TARGETS {
            for (step, tag) in STEPS.into_iter().enumerate() {
                let at_step = |what: &str, by: &dyn Fn(Vec<u8>) -> Say| {
                    let mut reached = false;
                    let end = scene.attack(target, |n, bytes| {
                        reached |= n == step;
                        if n == step { by(bytes) } else { Say::Bytes(bytes) }
                    });
                    let what = format!("{mode} {target} {tag:?}: {what}");
                    assert!(reached, "{what}: never came so far");
                    end.closed(&what);
                };
                at_step("cut in half", &|mut bytes| {
                    bytes.truncate(bytes.len() / 2);
                    Say::Last(bytes)
                });
                at_step("without its last byte", &|mut bytes| {
                    bytes.pop();
                    Say::Last(bytes)
                });
                at_step("nothing at all", &|_| Say::Last(Vec::new()));
                at_step("a flipped bit", &|mut bytes| {
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 4;
                    Say::Bytes(bytes)
                });
                at_step("a flipped bit at the end", &|mut bytes| {
                    *bytes.last_mut().unwrap() ^= 0x80;
                    Say::Bytes(bytes)
                });
                at_step("garbage", &|_| Say::Bytes(vec![0xa5; 600]));
                at_step("another protocol", &|_| {
                    Say::Bytes(b"GET / HTTP/1.1\r\nHost: ceph\r\n\r\n".repeat(9))
                });
                at_step("a message", &|_| Say::Bytes(raw_frame(Tag::Message, &[0; 600])));
                for len in [16 * 1024 + 1, 1 << 30, u32::MAX] {
                    let oversized = match tag {
                        None => [&BANNER[..8], &[0xff, 0xff], &BANNER[10..]].concat(),
                        Some(tag) => [&announcing(tag, len)[..], &[0; 600]].concat(),
                    };
                    at_step("oversized", &|_| Say::Bytes(oversized.clone()));
                }
            }
        }
        scene.over();
    }
}

#[test]
fn silence_ends_at_the_deadline() {
    let scene = Scene::new(MsMode::Secure);
    thread::scope(|scope| {
        for target in TARGETS {
            for step in 0..STEPS.len() {
                for halved in [false, true] {
                    let scene = &scene;
                    scope.spawn(move || {
                        let end = scene.attack(target, |n, mut bytes| {
                            if n < step {
                                return Say::Bytes(bytes);
                            }
                            bytes.truncate(if halved { bytes.len() / 2 } else { 0 });
                            Say::Silence(bytes)
                        });
                        end.closed(&format!("{target}, silent at step {step}"));
                    });
                }
            }
        }
    });
    scene.over();
}

#[test]
fn half_open_connections_keep_nobody_out() {
    const MANY: usize = 300;
    let scene = Scene::new(MsMode::Secure);
    let from: SocketAddr = "127.0.0.2:0".parse().unwrap();
    let mut waiting = Vec::new();
    for to in TARGETS.map(|target| scene.socket(target)) {
        let open = || async move {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(from).unwrap();
            let stream = socket.connect(to).await.unwrap().into_std().unwrap();
            stream.set_nonblocking(false).unwrap();
            stream
        };
        waiting.extend((0..MANY).map(|_| scene.cluster.block_on(open())));
    }
    for stream in &mut waiting {
        stream.set_read_timeout(Some(CLOSED_WITHIN)).unwrap();
        // The server may have closed it, as one too many of its address.
        let _ = stream.write_all(BANNER);
    }
    // New clients from elsewhere come in.
    for target in TARGETS {
        handshake(scene.client(target, &scene.settled()), scene.socket(target), plain).ready();
    }
    scene.cluster.rados(&["ls"]);
    scene.cluster.run(Tool::Stock, "rados", &["-p", test_pool(), "ls"]).success().unwrap();
    for stream in &mut waiting {
        read_to_end(stream, "half open");
    }
    scene.over();
}

#[test]
fn a_wrong_key() {
    let scene = Scene::new(MsMode::Secure);
    for kind in [KeyType::Aes, KeyType::Aes256k] {
        let wrong = CryptoKey::generate(kind, UTime::now(), &mut rand::rng());
        let keeper = scene.keeper_with(&wrong);
        let end = handshake(scene.client("mon.a", &keeper), scene.socket("mon.a"), plain);
        let End::Failed(error, mut stream) = end else { panic!("{kind:?}: {end:?}") };
        assert!(matches!(error, Error::Denied(Denial::ByServer(_))), "{error:?}");
        assert!(read_to_end(&mut stream, "refused").is_empty());
        assert_eq!(keeper.global_id(), GlobalId(0));
    }
    scene.over();
}

/// All that a client said, said again: the server's challenge is another one.
#[test]
fn a_replayed_authorizer() {
    for mode in [MsMode::Secure, MsMode::Crc] {
        let scene = Scene::new(mode);
        for target in TARGETS {
            let recorded = scene.recorded(target);
            for _ in 0..3 {
                let mut stream = connect(scene.socket(target));
                stream.write_all(&recorded).unwrap();
                let said = tags(&read_to_end(&mut stream, target));
                assert_eq!(said, [Tag::Hello, Tag::AuthReplyMore, Tag::AuthBadMethod], "{mode} {target}");
            }
        }
        // Nor does what was said to the one help with the other.
        for (from, to) in [("mon.a", "osd.0"), ("osd.0", "mon.a")] {
            let mut stream = connect(scene.socket(to));
            stream.write_all(&scene.recorded(from)).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let said = tags(&read_to_end(&mut stream, to));
            assert!(said.contains(&Tag::AuthBadMethod) && !said.contains(&Tag::AuthDone), "{to}: {said:?}");
        }
        scene.over();
    }
}

/// An authorizer is sealed as a whole: its ticket, its global_id, its answer to the challenge.
#[test]
fn an_authorizer_with_a_changed_byte() {
    let scene = Scene::new(MsMode::Crc);
    for step in [AUTH_REQUEST, AUTH_REQUEST_MORE] {
        let mut len = 0;
        scene
            .attack("osd.0", |n, bytes| {
                if n == step {
                    len = payload(&bytes).len();
                }
                Say::Bytes(bytes)
            })
            .ready();
        assert!(len > 100);
        for at in (0..len).step_by(7) {
            let end = scene.attack("osd.0", |n, bytes| {
                if n != step {
                    return Say::Bytes(bytes);
                }
                let mut changed = payload(&bytes);
                changed[at] ^= 1;
                Say::Bytes(raw_frame(STEPS[step].unwrap(), &changed))
            });
            assert!(!matches!(end, End::Ready(_)), "step {step}, byte {at}");
        }
    }
    scene.over();
}

/// Claims another's global_id, without the ticket that would prove it.
struct Claimant {
    inner: Box<dyn ClientAuthenticator>,
    claimed: GlobalId,
}

impl ClientAuthenticator for Claimant {
    fn method(&self) -> AuthMethod {
        self.inner.method()
    }

    fn request(&mut self, env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        let mut out = self.inner.request(env)?;
        out.truncate(out.len() - 8);
        out.put_u64(self.claimed.0);
        Ok(out)
    }

    fn reply_more(&mut self, payload: &[u8], env: &mut AuthEnv<'_>) -> Result<Vec<u8>, AuthError> {
        self.inner.reply_more(payload, env)
    }

    fn done(
        &mut self,
        global_id: GlobalId,
        mode: ConMode,
        payload: &[u8],
        env: &mut AuthEnv<'_>,
    ) -> Result<ClientAuthDone, AuthError> {
        self.inner.done(global_id, mode, payload, env)
    }

    fn bad_method(&mut self, result: Errno) -> AuthError {
        self.inner.bad_method(result)
    }
}

#[test]
fn a_forged_global_id() {
    let scene = Scene::new(MsMode::Secure);
    let victim = scene.keeper_with(&scene.admin);
    let session = handshake(scene.client("mon.a", &victim), scene.socket("mon.a"), plain).ready();
    let number = victim.global_id();
    assert_ne!(number, GlobalId(0));

    for claimed in [number, GlobalId(1), GlobalId(number.0 + 1000), GlobalId(u64::MAX)] {
        // With the right key for the name, even.
        let thief = scene.keeper_with(&scene.admin);
        let auth = Claimant { inner: thief.mon_authenticator(), claimed };
        let client = Handshake::client(scene.config("mon.a"), Box::new(auth));
        let end = handshake(client, scene.socket("mon.a"), plain);
        let End::Failed(error, mut stream) = end else { panic!("{claimed:?}: {end:?}") };
        assert!(matches!(error, Error::Denied(_)), "{claimed:?}: {error:?}");
        read_to_end(&mut stream, "refused");
    }

    // The owner's session is still there, and who has the ticket gets the number again.
    session.set_nonblocking(true).unwrap();
    let unread = (&session).read(&mut [0; 16]).unwrap_err();
    assert_eq!(unread.kind(), ErrorKind::WouldBlock);
    handshake(scene.client("mon.a", &victim), scene.socket("mon.a"), plain).ready();
    assert_eq!(victim.global_id(), number);
    scene.over();
}

#[test]
fn a_bad_signature() {
    let scene = Scene::new(MsMode::Crc);
    for target in TARGETS {
        for at in [0, 15, 31] {
            let end = scene.attack(target, |n, bytes| {
                if n != AUTH_SIGNATURE {
                    return Say::Bytes(bytes);
                }
                let mut signature = payload(&bytes);
                assert_eq!(signature.len(), 32);
                signature[at] ^= 1;
                Say::Bytes(raw_frame(Tag::AuthSignature, &signature))
            });
            end.closed(&format!("{target}, byte {at}"));
        }
        // A frame that was changed on the way, checksum repaired: the signatures tell both sides.
        let end = scene.attack(target, |n, bytes| {
            if n != 1 {
                return Say::Bytes(bytes);
            }
            let mut hello = payload(&bytes);
            // The address that the client believes to dial: of no other use to the server.
            *hello.last_mut().unwrap() ^= 1;
            Say::Bytes(raw_frame(Tag::Hello, &hello))
        });
        let End::Failed(error, _) = end else { panic!("{target}: {end:?}") };
        assert!(matches!(error, Error::PeerMisbehaved(Misbehaviour::BadSignature)), "{target}: {error:?}");
    }
    scene.over();
}

/// A client that stole nothing but the name of another kind of entity.
#[test]
fn a_client_that_says_it_is_a_daemon() {
    let scene = Scene::new(MsMode::Secure);
    for kind in [EntityType::Osd, EntityType::Mon, EntityType::Mgr] {
        for target in TARGETS {
            let keeper = scene.settled();
            let own = EntityAddr::client([127, 0, 0, 1].into(), 7);
            let config = scene.config(target);
            let mut config =
                ClientConfig::new(kind, EntityAddrVec(vec![own]), config.target_kind, config.target);
            config.gid = Some(0);
            let auth = match target.starts_with("mon") {
                true => keeper.mon_authenticator(),
                false => keeper.service_authenticator(EntityType::Osd, UTime::now()).unwrap(),
            };
            let end = handshake(Handshake::client(config, auth), scene.socket(target), plain);
            assert!(!matches!(end, End::Ready(_)), "{kind:?} at {target}");
            if let End::Failed(error, _) = &end {
                assert!(matches!(error, Error::Denied(_)), "{kind:?} at {target}: {error:?}");
            }
        }
    }
    scene.over();
}
