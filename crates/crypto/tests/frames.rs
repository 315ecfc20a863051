//! The frames' AES-GCM, in every engine of the build.

mod common;

use common::{bytes, items};
use proptest::prelude::*;
use sepiola_crypto::{
    Algorithm, ConnectionSecret, ContextPolicy, CryptoOptions, Engine, FrameOpener, FrameSealer, KeyError,
    OpenError, Role, SealError, TAG_LEN, frame_keys,
};
use serde_json::Value;

/// Every engine of the build under both policies.
fn every_option() -> Vec<CryptoOptions> {
    let policies = [ContextPolicy::Cached, ContextPolicy::PerMessage];
    let engines = Engine::available();
    engines.iter().flat_map(|&engine| policies.map(|context| CryptoOptions { engine, context })).collect()
}

fn secret() -> ConnectionSecret {
    ConnectionSecret::generate(&mut common::rng())
}

/// What the client sends with, and what the server receives that with.
fn client_to_server(secret: &ConnectionSecret, options: CryptoOptions) -> (FrameSealer, FrameOpener) {
    let (sealer, _) = frame_keys(secret, Role::Client, options).unwrap();
    let (_, opener) = frame_keys(secret, Role::Server, options).unwrap();
    (sealer, opener)
}

fn seal(sealer: &mut FrameSealer, plain: &[u8]) -> Vec<u8> {
    let mut buf = plain.to_vec();
    let tag = sealer.seal_in_place(&mut buf).unwrap();
    buf.extend_from_slice(&tag);
    buf
}

/// Cuts a secure frame into its AES-GCM messages, by the segment lengths that the vector states.
fn gcm_messages(frame: &Value) -> Vec<Vec<u8>> {
    let padded: Vec<usize> =
        items(&frame["segments"]).iter().map(|s| bytes(s).len().next_multiple_of(16)).collect();
    let used = padded.iter().rposition(|&len| len > 0).map_or(1, |last| last + 1);
    let mut lengths = vec![32 + 48];
    if padded[0] > 48 {
        lengths.push(padded[0] - 48);
    }
    if used > 1 {
        lengths.push(padded[1..used].iter().sum::<usize>() + 16);
    }
    let wire = bytes(&frame["wire"]);
    let mut rest = &wire[..];
    let messages = lengths
        .into_iter()
        .map(|len| {
            let (message, tail) = rest.split_at(len + TAG_LEN);
            rest = tail;
            message.to_vec()
        })
        .collect();
    assert!(rest.is_empty(), "{frame}");
    messages
}

#[test]
fn every_engine_opens_and_reproduces_the_recorded_frames() {
    let file: Value = serde_json::from_str(include_str!("data/frames_rev1_secure.json")).unwrap();
    let secret = ConnectionSecret::from_bytes(&bytes(&file["connection_secret"]));
    for options in every_option() {
        // One connection: a nonce taken too often or too rarely would spoil all that follows.
        let (mut sealer, mut opener) = client_to_server(&secret, options);
        for frame in items(&file["frames"]) {
            let mut plain = Vec::new();
            for mut message in gcm_messages(frame) {
                let wire = message.clone();
                let opened = opener.open_in_place(&mut message).unwrap();
                assert_eq!(seal(&mut sealer, opened), wire, "{options:?} {}", frame["name"]);
                plain.extend_from_slice(opened);
            }
            let first = bytes(&frame["segments"][0]);
            assert_eq!(plain[32..32 + first.len()], first, "{options:?} {}", frame["name"]);
        }
    }
}

proptest! {
    #[test]
    fn engines_and_policies_make_the_same_bytes_and_open_each_others(
        secret: [u8; 40],
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..6),
    ) {
        let secret = ConnectionSecret::from_bytes(&secret);
        let mut ends: Vec<_> = every_option().into_iter().map(|o| client_to_server(&secret, o)).collect();
        for plain in &messages {
            let sealed: Vec<_> = ends.iter_mut().map(|(sealer, _)| seal(sealer, plain)).collect();
            prop_assert!(sealed.windows(2).all(|pair| pair[0] == pair[1]));
            for (_, opener) in &mut ends {
                let mut sealed = sealed[0].clone();
                prop_assert_eq!(opener.open_in_place(&mut sealed).unwrap(), &plain[..]);
            }
        }
    }

    #[test]
    fn any_changed_bit_is_noticed(plain in prop::collection::vec(any::<u8>(), 0..100), at: prop::sample::Index, bit in 0..8u8) {
        for options in every_option() {
            let (mut sealer, mut opener) = client_to_server(&secret(), options);
            let mut sealed = seal(&mut sealer, &plain);
            let at = at.index(sealed.len());
            sealed[at] ^= 1 << bit;
            prop_assert_eq!(opener.open_in_place(&mut sealed), Err(OpenError));
        }
    }
}

#[test]
fn a_buffer_shorter_than_a_tag_is_refused() {
    for options in every_option() {
        for len in 0..TAG_LEN {
            let (_, mut opener) = client_to_server(&secret(), options);
            assert_eq!(opener.open_in_place(&mut vec![0; len]), Err(OpenError));
        }
    }
}

#[test]
fn replayed_reordered_and_reflected_messages_are_refused() {
    for options in every_option() {
        let secret = secret();
        let (mut sealer, mut opener) = client_to_server(&secret, options);
        let first = seal(&mut sealer, b"first");
        let second = seal(&mut sealer, b"second");

        opener.open_in_place(&mut first.clone()).unwrap();
        assert_eq!(opener.open_in_place(&mut first.clone()), Err(OpenError), "replayed");

        let (_, mut opener) = client_to_server(&secret, options);
        assert_eq!(opener.open_in_place(&mut second.clone()), Err(OpenError), "reordered");

        let (_, mut client) = frame_keys(&secret, Role::Client, options).unwrap();
        assert_eq!(client.open_in_place(&mut first.clone()), Err(OpenError), "reflected");
    }
}

#[test]
fn both_roles_talk_both_ways() {
    for options in every_option() {
        let secret = secret();
        let (mut client_out, mut client_in) = frame_keys(&secret, Role::Client, options).unwrap();
        let (mut server_out, mut server_in) = frame_keys(&secret, Role::Server, options).unwrap();
        for round in 0..3u8 {
            assert_eq!(
                server_in.open_in_place(&mut seal(&mut client_out, &[round; 50])).unwrap(),
                [round; 50]
            );
            assert_eq!(
                client_in.open_in_place(&mut seal(&mut server_out, &[round; 70])).unwrap(),
                [round; 70]
            );
        }
    }
}

#[test]
fn sealing_stops_before_a_nonce_repeats() {
    for options in every_option() {
        let (mut sealer, mut opener) = client_to_server(&secret(), options);
        // One message, then all but the last of the 2^64 nonces.
        opener.open_in_place(&mut seal(&mut sealer, b"first")).unwrap();
        sealer.skip_nonces(u64::MAX - 1);
        opener.skip_nonces(u64::MAX - 1);
        opener.open_in_place(&mut seal(&mut sealer, b"last")).unwrap();

        let mut buf = *b"one too many";
        assert_eq!(sealer.seal_in_place(&mut buf), Err(SealError::OutOfNonces));
        assert_eq!(sealer.seal_in_place(&mut buf), Err(SealError::OutOfNonces), "for good");
        assert_eq!(opener.open_in_place(&mut [0; 40]), Err(OpenError));
    }
}

#[test]
fn a_context_is_built_once_for_each_direction_or_once_a_message() {
    for options in every_option() {
        let (mut sealer, mut opener) = client_to_server(&secret(), options);
        for _ in 0..10 {
            opener.open_in_place(&mut seal(&mut sealer, b"message")).unwrap();
        }
        let expected = if options.context == ContextPolicy::Cached { 1 } else { 10 };
        assert_eq!((sealer.contexts_built(), opener.contexts_built()), (expected, expected), "{options:?}");
    }
}

#[test]
fn a_short_connection_secret_keys_nothing() {
    for options in every_option() {
        for len in 0..40 {
            let secret = ConnectionSecret::from_bytes(&vec![1; len]);
            let error = frame_keys(&secret, Role::Client, options).unwrap_err();
            assert_eq!(error, KeyError::ConnectionSecretTooShort { needed: 40, len });
        }
        frame_keys(&ConnectionSecret::from_bytes(&[1; 40]), Role::Client, options).unwrap();
    }
}

#[test]
fn engines_are_chosen_by_name_and_refused_when_not_built_in() {
    for engine in [Engine::AwsLc, Engine::Ring, Engine::RustCrypto] {
        let built_in = Engine::available().contains(&engine);
        let expected = if built_in { Ok(engine) } else { Err(KeyError::EngineUnavailable(engine)) };
        assert_eq!(engine.as_str().parse(), expected);
        assert_eq!(engine.supports(Algorithm::Aes128Gcm), built_in);
        let keyed = frame_keys(&secret(), Role::Client, CryptoOptions { engine, ..Default::default() });
        assert_eq!(keyed.is_ok(), built_in);
    }
    assert_eq!("auto".parse(), Ok(Engine::auto()));
    assert_eq!("openssl".parse::<Engine>(), Err(KeyError::UnknownEngine));
}
