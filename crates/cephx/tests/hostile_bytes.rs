//! Frames that are cut, stretched or made up.

mod support;

use sepiola_cephx::{AuthEnv, ServerAuthenticator};
use sepiola_crypto::KeyType;
use sepiola_wire::EntityType;
use support::attack::*;
use support::{Frame, START};

#[test]
fn truncated_and_stretched_frames_end_in_errors() {
    each_type(|mut cluster, keeper| {
        for frame in [Frame::Request, Frame::ReplyMore, Frame::RequestMore, Frame::Done] {
            for change in [-9_i32, -1, 1, 7] {
                let resize = |f: Frame, bytes: &mut Vec<u8>| {
                    if f == frame {
                        let len = (bytes.len() as i32 + change).max(0) as usize;
                        bytes.resize(len, 0);
                    }
                };
                assert!(to_mon(&mut cluster, &keeper, resize).is_err(), "mon {frame:?} {change}");
                if keeper.global_id().0 == 0 || !keeper.can_reach(EntityType::Osd, START) {
                    cluster.open_mon(&keeper, START).unwrap();
                }
                assert!(to_osd(&mut cluster, &keeper, resize).is_err(), "osd {frame:?} {change}");
                cluster.open_mon(&keeper, START).unwrap();
            }
        }
    });
}

#[test]
fn extra_tickets_that_break_off_leave_the_others() {
    let (mut cluster, keeper) = settled(KeyType::Aes256k);
    // The list of extra tickets ends the payload: raise its count and cut nothing, as real monitors do for
    // a service they have no secrets for.
    keeper.forget_identity();
    to_mon(&mut cluster, &keeper, |frame, bytes| {
        if frame == Frame::Done {
            let list = last_blob(bytes);
            let count = u32::from_le_bytes(bytes[list + 1..list + 5].try_into().unwrap());
            bytes[list + 1..list + 5].copy_from_slice(&(count + 1).to_le_bytes());
        }
    })
    .unwrap();
    for service in [EntityType::Mon, EntityType::Osd, EntityType::Mgr] {
        assert!(keeper.can_reach(service, START), "{service}");
    }
}

/// Where the content of the blob starts that ends `bytes`.
fn last_blob(bytes: &[u8]) -> usize {
    let is_last = |at: &usize| {
        let len = u32::from_le_bytes(bytes[*at..at + 4].try_into().unwrap()) as usize;
        at + 4 + len == bytes.len() && bytes[at + 4] == 1 && bytes[at + 5] == 3
    };
    (0..bytes.len() - 6).find(is_last).unwrap() + 4
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_server_panic_or_let_anybody_in(
        request in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        answer in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        mode in proptest::prop_oneof![proptest::strategy::Just(1u8), proptest::strategy::Just(10u8)],
    ) {
        let (mut cluster, _) = settled(KeyType::Aes);
        let mut request = request;
        request.insert(0, mode);
        let (mut mon, mut osd) = (cluster.mon(), cluster.osd());
        for server in [&mut mon as &mut dyn ServerAuthenticator, &mut osd] {
            let mut env = AuthEnv::new(START, &mut cluster.rng);
            let _ = server.request(CLIENT, CEPHX, SECURE, &request, &mut env);
            proptest::prop_assert!(server.request_more(&answer, &mut env).is_err());
            proptest::prop_assert!(server.mauth(&answer, &mut env).is_err());
        }
        // A believable claim, and any answer to the challenge.
        let mut mon = cluster.mon();
        let mut env = AuthEnv::new(START, &mut cluster.rng);
        mon.request(CLIENT, CEPHX, SECURE, &claim("client.admin", 0), &mut env).unwrap();
        proptest::prop_assert!(mon.request_more(&[&[0, 1, 3], &answer[..]].concat(), &mut env).is_err());
    }

    #[test]
    fn no_bytes_make_a_client_panic(payload in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let (mut cluster, keeper) = settled(KeyType::Aes);
        let mut env = AuthEnv::new(START, &mut cluster.rng);
        for mut client in [
            keeper.mon_authenticator(),
            keeper.service_authenticator(EntityType::Osd, START).unwrap(),
        ] {
            client.request(&mut env).unwrap();
            let _ = client.reply_more(&payload, &mut env);
            proptest::prop_assert!(client.done(keeper.global_id(), SECURE, &payload, &mut env).is_err());
        }
        for request in [0x100u16, 0x200, 0x400] {
            let answer = [&request.to_le_bytes()[..], &[0; 4], &payload].concat();
            let _ = keeper.handle_auth_reply(0, keeper.global_id(), &answer, START);
        }
    }
}
