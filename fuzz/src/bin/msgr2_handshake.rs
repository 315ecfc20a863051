//! A handshake of either side, and the messages behind it, against a peer that sends what the input says:
//! frames with right checksums, or raw bytes.
#![no_main]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use sepiola_cephx::{ConMode, NoneAuthenticator};
use sepiola_crypto::KeyType;
use sepiola_fuzz::{Cluster, NOW, choice, records, rng};
use sepiola_msgr2::frame::{FrameEncoder, MESSAGE_HEADER_LEN, Tag};
use sepiola_msgr2::{ClientConfig, FrameReader, Handshake, Limits, Progress, ReadBuffer, ServerConfig};
use sepiola_wire::{EntityAddr, EntityAddrVec, EntityName, EntityType, GlobalId};

static CLUSTER: LazyLock<Arc<Cluster>> =
    LazyLock::new(|| Cluster::new(EntityName::client("a"), KeyType::Aes256k));

fn server_addr() -> EntityAddr {
    EntityAddr::msgr2(SocketAddr::from((Ipv4Addr::LOCALHOST, 13300)), 0)
}

fn handshake(as_server: bool) -> Handshake {
    let socket = SocketAddr::from((Ipv4Addr::LOCALHOST, 40000));
    if as_server {
        let config = ServerConfig::new(EntityType::Mon, EntityAddrVec(vec![server_addr()]), 0, socket);
        return Handshake::server(config, Box::new(CLUSTER.mon()));
    }
    let addrs = EntityAddrVec(vec![EntityAddr::client(socket.ip(), 1)]);
    let mut config = ClientConfig::new(EntityType::Client, addrs, EntityType::Mon, server_addr());
    config.modes = vec![ConMode::Crc];
    Handshake::client(config, Box::new(NoneAuthenticator::to_mon(EntityName::client("a"), GlobalId(0))))
}

/// What the peer sends for one record of the input. Tag 0 is raw bytes.
fn peer_sends(encoder: &mut FrameEncoder, tag: u8, record: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match (Tag::from_u8(tag), record.split_first_chunk::<MESSAGE_HEADER_LEN>()) {
        (Ok(Tag::Message), Some((header, body))) => {
            let (front, data) = body.split_at(body.len() / 2);
            let front = |out: &mut Vec<u8>| out.extend_from_slice(front);
            let _ = encoder.message(&mut out, header, front, &[], &[data], &Limits::default());
        }
        (Ok(tag), _) => {
            let _ = encoder.single(&mut out, tag, |out| out.extend_from_slice(record));
        }
        (Err(_), _) => out.extend_from_slice(record),
    }
    out
}

enum Side {
    Connecting(Handshake),
    Established(FrameReader),
}

fuzz_target!(|bytes: &[u8]| {
    let (chosen, bytes) = choice(bytes);
    let mut side = Side::Connecting(handshake(chosen & 1 == 0));
    let mut encoder = FrameEncoder::crc();
    let mut input = ReadBuffer::new();
    let mut rng = rng();
    let chunk = if chosen & 2 == 0 { usize::MAX } else { 7 };
    for (tag, record) in records(bytes) {
        for chunk in peer_sends(&mut encoder, tag, record).chunks(chunk) {
            let mut rest = chunk;
            while !rest.is_empty() {
                let taken = input.extend(rest);
                assert!(taken > 0, "a full buffer, and nobody takes frames out of it");
                rest = &rest[taken..];
                if let Side::Connecting(mut handshake) = side {
                    match handshake.advance(&mut input, NOW, &mut rng) {
                        Ok(Progress::Ready) => side = Side::Established(handshake.into_established().reader),
                        Ok(_) => {
                            handshake.output().clear();
                            side = Side::Connecting(handshake);
                            continue;
                        }
                        Err(_) => return,
                    }
                }
                if let Side::Established(reader) = &mut side {
                    loop {
                        match reader.next(&mut input) {
                            Ok(Some(event)) => drop(format!("{event:?}")),
                            Ok(None) => break,
                            Err(_) => return,
                        }
                    }
                }
            }
        }
    }
});
