//! POOLOP: pools made and deleted by message, as librados does it.

use std::sync::Arc;

use sepiola_messages::{PaxosHeader, PoolOp, PoolOpCode, PoolOpReply};
use sepiola_wire::{Errno, Tid};

use super::{
    pools::{self, PoolRequest, Refused, RuleRef},
    sessions::SessionShared,
};
use crate::{
    MonOptions,
    core::{Draft, Outcome, Work},
    state::MonState,
};
use sepiola_proto::MonChange;

/// The reply with the epoch in which the effect is visible.
pub(crate) fn reply(state: &MonState, result: Result<(), Errno>) -> PoolOpReply {
    let epoch = state.osdmap().epoch();
    PoolOpReply {
        paxos: PaxosHeader { version: epoch.0.into() },
        fsid: state.fsid(),
        result: result.map_or_else(Errno::to_wire, |()| 0),
        epoch,
        data: None,
    }
}

/// Does the operation and answers when it is durable.
pub(crate) fn work(request: PoolOp, tid: Tid, session: Arc<SessionShared>, options: Arc<MonOptions>) -> Work {
    Box::new(move |draft| {
        let (changes, result) = match apply(&request, draft, &options) {
            Ok(changes) => (changes, Ok(())),
            Err(refused) => (vec![], Err(refused.errno)),
        };
        let then = move |state: &MonState| session.send(&reply(state, result), tid);
        Outcome { changes, then: Box::new(then) }
    })
}

fn apply(request: &PoolOp, draft: &Draft<'_>, options: &MonOptions) -> Result<Vec<MonChange>, Refused> {
    match request.op {
        PoolOpCode::CREATE => {
            let rule = u8::try_from(request.crush_rule).ok().map(RuleRef::Number);
            let wanted = PoolRequest { name: &request.name, rule, ..PoolRequest::default() };
            pools::create(draft.state, options, draft.now, &wanted)
        }
        PoolOpCode::DELETE => pools::delete(draft.state, options, draft.now, request.pool_id()),
        _ => Err(Refused { errno: Errno::EOPNOTSUPP, text: "snapshots are not supported yet".to_owned() }),
    }
}
