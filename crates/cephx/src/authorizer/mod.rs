//! Authorizers: how the owner of a ticket shows a service that it knows the ticket's session key.
//!
//! Two rounds. The first earns a challenge, sealed under the session key; the second carries the answer.
//! There is no way to be authenticated in the first round: a recorded authorizer is worth nothing
//! (CVE-2018-1128, CVE-2020-25660).

mod build;
mod verify;

pub(crate) use build::{Authorizer, open_challenge, open_reply};
pub(crate) use verify::{Presented, seal_challenge, seal_reply};

#[cfg(test)]
mod tests {
    use sepiola_crypto::{ConnectionSecret, CryptoKey, KeyType};
    use sepiola_wire::{EntityType, GlobalId, Put, UTime};

    use super::*;
    use crate::{
        test_rng::ScriptRng,
        test_vectors::{bytes, load, number},
        ticket::TicketBlob,
    };

    #[test]
    fn the_recorded_authorizer_challenge_and_reply() {
        let v = load("authorizer.json");
        let session_key =
            CryptoKey::from_secret(KeyType::Aes, UTime::ZERO, &bytes(&v["session_key"])).unwrap();
        let ticket = TicketBlob { secret_id: 7, sealed: bytes(&v["ticket_blob"]) };
        let (nonce, challenge) = (number(&v["nonce"]), number(&v["server_challenge"]));
        let rng = &mut ScriptRng::new();

        for (field, challenge) in [("first", None), ("second", Some(challenge))] {
            let authorizer = Authorizer {
                global_id: GlobalId(4242),
                service: EntityType::Osd,
                ticket: &ticket,
                session_key: &session_key,
                nonce,
                challenge,
            };
            let mut out = Vec::new();
            authorizer.encode(rng, &mut out);
            assert_eq!(out, bytes(&v[field]), "{field}");
        }

        let framed = |payload: &[u8]| {
            let mut out = Vec::new();
            out.put_blob(payload);
            out
        };
        let sealed = seal_challenge(&session_key, challenge, rng);
        assert_eq!(framed(&sealed), bytes(&v["challenge_frame_payload"]));
        assert_eq!(open_challenge(&session_key, &sealed), Ok(challenge));

        let crc = seal_reply(&session_key, nonce, None, rng);
        assert_eq!(framed(&crc), bytes(&v["reply_crc"]));
        assert!(open_reply(&session_key, nonce, &crc).unwrap().is_empty());
        assert!(open_reply(&session_key, nonce + 1, &crc).is_err(), "the answer to another nonce");

        let recorded = &bytes(&v["reply_secure"])[4..];
        let secret: ConnectionSecret = open_reply(&session_key, nonce, recorded).unwrap();
        assert_eq!(secret.len(), 64);
        assert_eq!(seal_reply(&session_key, nonce, Some(&secret), rng), recorded);
    }
}
