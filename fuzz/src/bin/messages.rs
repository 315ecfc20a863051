//! Every message that a peer may send, read as far as a daemon or client reads it.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use sepiola_messages::osd_op::{OsdOpReplyRef, OsdOpRequest, input, output};
use sepiola_messages::{proto::*, *};
use sepiola_wire::{Decode, Features, Reader};

/// What is read must be readable again after it was written.
fn typed<M: WireMessage>(version: u16, front: &[u8], data: &[u8]) {
    let Ok(message) = M::decode(version, front, data) else { return };
    let mut written = Vec::new();
    message.encode_front(&mut written, Features::SUPPORTED);
    let data = message.data().to_vec();
    M::decode(M::VERSION, &written, &data).map(drop).expect("what was written can be read");
}

fn request(version: u16, front: &[u8], data: &[u8]) {
    let Ok(request) = OsdOpRequest::decode(version, front, data) else { return };
    for op in request.ops() {
        let _ = (input::xattr(&op), input::xattr_name(&op), input::call(&op), input::list_cursor(&op));
        let _ = (input::omap_get_keys(&op), input::omap_get_vals(&op), input::omap_rm_range(&op));
        let _ = (input::notify(&op), input::notify_ack(&op), input::copy_from(&op));
        let _ = input::omap_keys(&op).map(|items| assert_eq!(items.len(), items.count()));
        let _ = input::omap_entries(&op).map(|items| assert_eq!(items.len(), items.count()));
        let _ = input::omap_cmp(&op).map(|items| assert_eq!(items.len(), items.count()));
        let _ = (op.code.to_string(), op.args.watch(), op.args.copy_from());
    }
    request.to_owned(None);
}

fn reply(version: u16, front: &[u8], data: &[u8]) {
    let Ok(reply) = OsdOpReplyRef::decode(version, front, data) else { return };
    for op in reply.ops() {
        let shared = Bytes::copy_from_slice(op.output);
        let _ = (output::SparseRead::decode(&shared), output::OmapKeys::decode(&shared));
        let _ = (output::OmapVals::decode(&shared), output::decode_entries(&shared));
        let r = Reader::new(op.output);
        let _ = (output::Watchers::decode(&mut r.clone()), output::SnapSet::decode(&mut r.clone()));
        let _ = (output::Listing::decode(&mut r.clone()), output::Stat::decode(&mut r.clone()));
    }
}

fuzz_target!(|bytes: &[u8]| {
    // type, version, length of the front, front, data
    let Some((head, body)) = bytes.split_first_chunk::<6>() else { return };
    let [kind, version, split] = [0, 2, 4].map(|at| u16::from_le_bytes([head[at], head[at + 1]]));
    let (front, data) = body.split_at(usize::from(split).min(body.len()));
    match kind {
        kind::OSD_OP => request(version, front, data),
        kind::OSD_OPREPLY => reply(version, front, data),
        kind::PING => typed::<Ping>(version, front, data),
        kind::MON_GET_MAP => typed::<MonGetMap>(version, front, data),
        kind::MON_MAP => {
            typed::<MonMapMessage>(version, front, data);
            let _ = MonMapMessage::decode(version, front, data).map(|m| m.map().map(drop));
        }
        kind::STATFS => typed::<Statfs>(version, front, data),
        kind::STATFS_REPLY => typed::<StatfsReply>(version, front, data),
        kind::MON_SUBSCRIBE => typed::<MonSubscribe>(version, front, data),
        kind::MON_SUBSCRIBE_ACK => typed::<MonSubscribeAck>(version, front, data),
        kind::AUTH => typed::<Auth>(version, front, data),
        kind::AUTH_REPLY => typed::<AuthReply>(version, front, data),
        kind::MON_GET_VERSION => typed::<MonGetVersion>(version, front, data),
        kind::MON_GET_VERSION_REPLY => typed::<MonGetVersionReply>(version, front, data),
        kind::OSD_MAP => typed::<OsdMapMessage>(version, front, data),
        kind::WATCH_NOTIFY => {
            typed::<WatchNotify>(version, front, data);
            let _ = WatchNotify::decode(version, front, data)
                .map(|w| sepiola_wire::decode_all::<NotifyResult>(&w.result));
        }
        kind::POOLOP => typed::<PoolOp>(version, front, data),
        kind::POOLOP_REPLY => {
            typed::<PoolOpReply>(version, front, data);
            let _ = PoolOpReply::decode(version, front, data).map(|p| p.snap_id());
        }
        kind::MON_COMMAND => typed::<MonCommand>(version, front, data),
        kind::MON_COMMAND_ACK => typed::<MonCommandAck>(version, front, data),
        kind::GET_POOL_STATS => typed::<GetPoolStats>(version, front, data),
        kind::GET_POOL_STATS_REPLY => typed::<GetPoolStatsReply>(version, front, data),
        kind::OSD_BACKOFF => typed::<OsdBackoff>(version, front, data),
        kind::CONFIG => typed::<Config>(version, front, data),
        kind::COMMAND => typed::<Command>(version, front, data),
        kind::COMMAND_REPLY => typed::<CommandReply>(version, front, data),
        kind::MGR_MAP => typed::<MgrMap>(version, front, data),
        kind::SEPIOLA_OSD_BOOT => typed::<OsdBoot>(version, front, data),
        kind::SEPIOLA_OSD_STATS => typed::<OsdStats>(version, front, data),
        kind::SEPIOLA_OSD_FAILURE => typed::<OsdFailureReport>(version, front, data),
        _ => {}
    }
});
