//! What keeping a cipher context is worth: each operation with a cached and with a rebuilt context, one
//! message after the other.
//!
//! `cargo bench -p sepiola-crypto`, or with `-- 4KiB` the group in which engines are compared. The order of
//! `Engine::available` follows that group.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sepiola_crypto::{
    ConnectionSecret, ContextPolicy, CryptoKey, CryptoOptions, Engine, KeyType, Role, Usage, frame_keys,
};
use sepiola_wire::UTime;

const POLICIES: [ContextPolicy; 2] = [ContextPolicy::Cached, ContextPolicy::PerMessage];
/// What an authorizer seals: the envelope's 9 bytes and part B's 18.
const AUTHORIZER: usize = 27;
const FRAME: usize = 4096;

fn group<'a>(c: &'a mut Criterion, name: &str, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

fn sealed_by_key(c: &mut Criterion, name: &str, kind: KeyType, len: usize) {
    let mut group = group(c, name, len);
    let mut rng = StdRng::seed_from_u64(1);
    let key = CryptoKey::generate(kind, UTime::ZERO, &mut rng);
    let plain = vec![7; len];
    for policy in POLICIES {
        let key = key.with_context_policy(policy);
        let mut sealed = Vec::with_capacity(2 * len + 64);
        group.bench_function(format!("seal/{policy}"), |b| {
            b.iter(|| {
                sealed.clear();
                key.seal(Usage::Authorizer, black_box(&plain), &mut rng, &mut sealed);
                black_box(sealed.len())
            });
        });
        group.bench_function(format!("open/{policy}"), |b| {
            b.iter(|| key.open(Usage::Authorizer, black_box(&sealed)).expect("sealed above"));
        });
    }
    group.finish();
}

fn signatures(c: &mut Criterion) {
    let mut group = group(c, "HMAC-SHA256 64 B", 64);
    let key = CryptoKey::generate(KeyType::Aes, UTime::ZERO, &mut StdRng::seed_from_u64(1));
    for policy in POLICIES {
        let key = key.with_context_policy(policy);
        group.bench_function(policy.as_str(), |b| b.iter(|| key.hmac_sha256(black_box(&[7; 64]))));
    }
    group.finish();
}

fn frames(c: &mut Criterion) {
    let mut group = group(c, "AES-128-GCM frame 4KiB", FRAME);
    let secret = ConnectionSecret::generate(&mut StdRng::seed_from_u64(1));
    for &engine in Engine::available() {
        for context in POLICIES {
            let options = CryptoOptions { engine, context };
            let keys = |role| frame_keys(&secret, role, options).expect("a whole secret, a built-in engine");
            let (mut sealer, _) = keys(Role::Client);
            let mut buf = vec![7; FRAME];
            group.bench_function(format!("seal/{engine}/{context}"), |b| {
                b.iter(|| sealer.seal_in_place(black_box(&mut buf)));
            });
            let (mut sealer, _) = keys(Role::Client);
            let (_, mut opener) = keys(Role::Server);
            group.bench_function(format!("open/{engine}/{context}"), |b| {
                // Sealed in the order in which they are opened, so that both sides count the same nonces.
                b.iter_batched_ref(
                    || {
                        let mut buf = vec![7; FRAME];
                        let tag = sealer.seal_in_place(&mut buf).expect("nonces left");
                        buf.extend_from_slice(&tag);
                        buf
                    },
                    |buf| opener.open_in_place(buf).map(|plain| plain.len()).expect("sealed above"),
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

fn all(c: &mut Criterion) {
    sealed_by_key(c, "type 1 AES-128-CBC 64 B", KeyType::Aes, 64);
    sealed_by_key(c, "type 2 RFC 8009 authorizer", KeyType::Aes256k, AUTHORIZER);
    signatures(c);
    frames(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
