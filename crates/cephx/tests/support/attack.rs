//! What the attacks have in common.
#![allow(dead_code)]

use sepiola_cephx::{AuthMethod, ConMode, TicketKeeper};
use sepiola_crypto::KeyType;
use sepiola_wire::{EntityName, EntityType, Put};

use super::{Both, Cluster, Exchange, Failure, Frame, START};

pub const CLIENT: EntityType = EntityType::Client;
pub const CEPHX: AuthMethod = AuthMethod::Cephx;
pub const SECURE: ConMode = ConMode::Secure;
pub const EACCES: i32 = -13;

/// A cluster with an administrator who has tickets.
pub fn settled(kind: KeyType) -> (Cluster, TicketKeeper) {
    let mut cluster = Cluster::new(kind);
    let keeper = cluster.admin(kind);
    cluster.open_mon(&keeper, START).unwrap();
    (cluster, keeper)
}

pub fn each_type(attack: impl Fn(Cluster, TicketKeeper)) {
    for kind in [KeyType::Aes, KeyType::Aes256k] {
        let (cluster, keeper) = settled(kind);
        attack(cluster, keeper);
    }
}

pub fn to_mon(
    cluster: &mut Cluster,
    keeper: &TicketKeeper,
    tamper: impl FnMut(Frame, &mut Vec<u8>),
) -> Result<Both, Failure> {
    let mut mon = cluster.mon();
    Exchange::new(CLIENT, SECURE, START).tampering(tamper).run(
        &mut *keeper.mon_authenticator(),
        &mut mon,
        &mut cluster.rng,
    )
}

pub fn to_osd(
    cluster: &mut Cluster,
    keeper: &TicketKeeper,
    tamper: impl FnMut(Frame, &mut Vec<u8>),
) -> Result<Both, Failure> {
    let mut client = keeper.service_authenticator(EntityType::Osd, START).unwrap();
    let mut osd = cluster.osd();
    Exchange::new(CLIENT, SECURE, START).tampering(tamper).run(&mut *client, &mut osd, &mut cluster.rng)
}

/// AUTH_REQUEST of `name` with a claim to `global_id`.
pub fn claim(name: &str, global_id: u64) -> Vec<u8> {
    let name: EntityName = name.parse().unwrap();
    let mut out = vec![10];
    out.put_u32(name.kind.as_u32());
    out.put_blob(name.id.as_bytes());
    out.put_u64(global_id);
    out
}
