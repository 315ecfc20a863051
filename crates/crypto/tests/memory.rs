//! What happens to memory: secrets are gone when it is freed, and sealing takes none of its own.
#![allow(unsafe_code)] // an allocator cannot be written without

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use sepiola_crypto::{
    ConnectionSecret, ContextPolicy, CryptoKey, CryptoOptions, Engine, KeyType, Role, Usage, frame_keys,
};
use sepiola_wire::UTime;

/// Looks, in memory that the current thread frees, for bytes that must not be in it any more.
struct Watcher;

#[global_allocator]
static WATCHER: Watcher = Watcher;

const MARK: usize = 16;

thread_local! {
    static SECRET: Cell<Option<[u8; MARK]>> = const { Cell::new(None) };
    static FOUND: Cell<usize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn note_allocation() {
    // A thread that is ending has no cells left; what it does then is not what is watched.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every request is passed on to `System` unchanged; the bytes read before a block is freed are
// inside that block.
unsafe impl GlobalAlloc for Watcher {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note_allocation();
        // SAFETY: the caller's promises are passed on. Zeroed, so that reading the block later is defined.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Ok(Some(secret)) = SECRET.try_with(Cell::get) {
            // SAFETY: the block is still allocated, was zeroed when allocated, and is `layout.size()` long.
            let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
            if bytes.windows(MARK).any(|window| window == secret) {
                FOUND.set(FOUND.get() + 1);
            }
        }
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(block, layout) }
    }

    // `realloc` is the trait's own: alloc, copy, dealloc, all watched.
}

/// How many freed blocks held the secret, while `work` ran on this thread.
fn freed_with(secret: [u8; MARK], work: impl FnOnce()) -> usize {
    FOUND.set(0);
    SECRET.set(Some(secret));
    work();
    SECRET.set(None);
    FOUND.get()
}

const SECRET_16: [u8; MARK] = *b"\x91wipe me, please";

fn secret_32() -> [u8; 32] {
    let mut secret = [0x5a; 32];
    secret[..MARK].copy_from_slice(&SECRET_16);
    secret
}

#[test]
fn the_watcher_finds_a_secret_that_nobody_wiped() {
    assert_eq!(freed_with(SECRET_16, || drop(SECRET_16.to_vec())), 1);
}

#[test]
fn keys_and_their_contexts_are_wiped() {
    for policy in [ContextPolicy::Cached, ContextPolicy::PerMessage] {
        let found = freed_with(SECRET_16, || {
            for (kind, secret) in [(KeyType::Aes, &SECRET_16[..]), (KeyType::Aes256k, &secret_32()[..])] {
                let key =
                    CryptoKey::from_secret(kind, UTime::ZERO, secret).unwrap().with_context_policy(policy);
                let mut sealed = Vec::new();
                key.seal(Usage::Authorizer, b"plain", &mut common::rng(), &mut sealed);
                key.open(Usage::Authorizer, &sealed).unwrap();
                key.hmac_sha256(b"data");
            }
        });
        assert_eq!(found, 0, "{policy}");
    }
}

#[test]
fn text_forms_are_wiped_even_when_they_are_wrong() {
    let key = CryptoKey::from_secret(KeyType::Aes256k, UTime::ZERO, &secret_32()).unwrap();
    let text = key.to_base64();
    let broken = format!("{}!===", &text[..text.len() - 4]);
    let found = freed_with(SECRET_16, || {
        drop(key.to_base64());
        CryptoKey::from_base64(&text).unwrap();
        CryptoKey::from_base64(&broken).unwrap_err();
    });
    assert_eq!(found, 0);
}

#[test]
fn opened_plaintext_is_wiped() {
    for kind in [KeyType::Aes, KeyType::Aes256k] {
        let key = CryptoKey::from_secret(kind, UTime::ZERO, &[1; 32]).unwrap();
        let mut sealed = Vec::new();
        key.seal(
            Usage::Plain,
            &[&b"some "[..], &SECRET_16, b" more"].concat(),
            &mut common::rng(),
            &mut sealed,
        );
        let found = freed_with(SECRET_16, || drop(key.open(Usage::Plain, &sealed).unwrap()));
        assert_eq!(found, 0, "{kind}");
    }
}

/// Engines in C allocate out of sight; what is seen here are the contexts that live in Rust's memory.
#[test]
fn connection_secrets_and_frame_keys_are_wiped() {
    for &engine in Engine::available() {
        for context in [ContextPolicy::Cached, ContextPolicy::PerMessage] {
            let options = CryptoOptions { engine, context };
            let found = freed_with(SECRET_16, || {
                let secret = ConnectionSecret::from_bytes(&[&secret_32()[..], &[0; 32]].concat());
                let (mut sealer, _opener) = frame_keys(&secret, Role::Client, options).unwrap();
                sealer.seal_in_place(&mut [0; 64]).unwrap();
            });
            // The concatenation above is this test's own unwiped copy.
            assert_eq!(found, 1, "{engine} {context}");
        }
    }
}

#[test]
fn sealing_and_opening_frames_allocates_nothing() {
    for &engine in Engine::available() {
        let options = CryptoOptions { engine, context: ContextPolicy::Cached };
        let secret = ConnectionSecret::generate(&mut common::rng());
        let (mut sealer, _) = frame_keys(&secret, Role::Client, options).unwrap();
        let (_, mut opener) = frame_keys(&secret, Role::Server, options).unwrap();
        let mut buf = vec![7; 4096 + 16];
        let before = ALLOCATIONS.get();
        for _ in 0..3 {
            let (plain, tag) = buf.split_last_chunk_mut::<16>().unwrap();
            *tag = sealer.seal_in_place(plain).unwrap();
            opener.open_in_place(&mut buf).unwrap();
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{engine}");
    }
}

#[test]
fn sealing_with_a_key_that_was_used_before_allocates_nothing() {
    for kind in [KeyType::Aes, KeyType::Aes256k] {
        let key = CryptoKey::from_secret(kind, UTime::ZERO, &[1; 32]).unwrap();
        let (mut out, mut rng) = (Vec::with_capacity(4096), common::rng());
        key.seal(Usage::Authorizer, b"once", &mut rng, &mut out);
        key.hmac_sha256(b"once");
        let before = ALLOCATIONS.get();
        for _ in 0..3 {
            out.clear();
            key.seal(Usage::Authorizer, &[5; 1000], &mut rng, &mut out);
            key.hmac_sha256(&out);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{kind}");
    }
}
