//! Frames of both layouts: raw bytes as the crc layout, and plaintexts that a peer with the key has sealed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sepiola_crypto::{ConnectionSecret, CryptoOptions, FrameSealer, Role, frame_keys};
use sepiola_fuzz::choice;
use sepiola_msgr2::frame::{FrameDecoder, PREAMBLE_LEN};
use sepiola_msgr2::{Limits, ReadBuffer};
use sepiola_wire::crc32c;

/// Bytes of plaintext in the first sealed part of a frame.
const FIRST: usize = 80;

fn fix_preamble(frame: &mut [u8]) {
    if let Some(preamble) = frame.first_chunk_mut::<PREAMBLE_LEN>() {
        let sum = crc32c(0, &preamble[..28]);
        preamble[28..].copy_from_slice(&sum.to_le_bytes());
    }
}

fn seal(sealer: &mut FrameSealer, plain: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(plain);
    let tag = sealer.seal_in_place(&mut out[at..]).expect("nonces left");
    out.extend_from_slice(&tag);
}

/// Seals the parts of one frame as its preamble announces them, as far as the input reaches.
fn seal_frame(sealer: &mut FrameSealer, plain: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
    if plain.len() < FIRST {
        return false;
    }
    fix_preamble(plain);
    let len = |i: usize| {
        let at = 2 + 6 * i;
        let len = u32::from_le_bytes(plain[at..at + 4].try_into().expect("four bytes"));
        (len as usize).next_multiple_of(16)
    };
    let segments = usize::from(plain[1]).clamp(1, 4);
    let parts = [
        FIRST,
        len(0).saturating_sub(48),
        if segments > 1 { (1..segments).map(len).sum::<usize>() + 16 } else { 0 },
    ];
    for part in parts.into_iter().filter(|&part| part > 0) {
        let part = part.min(plain.len());
        seal(sealer, &plain[..part], out);
        plain.drain(..part);
    }
    true
}

fuzz_target!(|bytes: &[u8]| {
    let (chosen, bytes) = choice(bytes);
    let limits = Limits::default();
    let limits = if chosen & 2 == 0 { limits.established() } else { limits.handshake() };
    let mut wire = Vec::new();
    let mut decoder = if chosen & 1 == 0 {
        wire.extend_from_slice(bytes);
        fix_preamble(&mut wire);
        FrameDecoder::crc(limits)
    } else {
        let secret = ConnectionSecret::from_bytes(&[7; 40]);
        let keys = |role| frame_keys(&secret, role, CryptoOptions::default()).expect("a whole secret");
        let (mut sealer, _) = keys(Role::Client);
        let (_, opener) = keys(Role::Server);
        let mut plain = bytes.to_vec();
        while seal_frame(&mut sealer, &mut plain, &mut wire) {}
        FrameDecoder::secure(opener, limits)
    };
    let mut buffer = ReadBuffer::new();
    let mut rest = &wire[..];
    while !rest.is_empty() {
        let taken = buffer.extend(rest);
        assert!(taken > 0, "a full buffer, and no frame comes out of it");
        rest = &rest[taken..];
        loop {
            match decoder.poll(&mut buffer) {
                Ok(Some(frame)) => {
                    let (front, middle, data) = frame.body(&buffer);
                    assert!(front.len() + middle.len() + data.len() <= wire.len());
                    assert!(frame.first(&buffer).len() <= wire.len());
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
});
