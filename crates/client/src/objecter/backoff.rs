//! Ranges of objects that an OSD asked to keep operations back from. They end with the OSD's word or with
//! the session.

use sepiola_messages::OsdBackoff;
use sepiola_wire::{HObject, PgId};

/// More than one OSD would ever ask for: it has one a pg, or one for each object that it cannot find.
const MAX: usize = 65536;

/// The OSD asks for more backoffs than it can have reason to.
#[derive(Debug)]
pub(crate) struct TooMany;

#[derive(Debug, Default)]
pub(crate) struct Backoffs(Vec<Backoff>);

#[derive(Debug)]
struct Backoff {
    pg: PgId,
    id: u64,
    begin: HObject,
    end: HObject,
}

impl Backoff {
    /// `[begin, end)`, or the single object `begin` when both are the same.
    fn covers(&self, pg: PgId, object: &HObject) -> bool {
        self.pg == pg
            && if self.begin == self.end {
                *object == self.begin
            } else {
                self.begin <= *object && *object < self.end
            }
    }
}

impl Backoffs {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn block(&mut self, message: &OsdBackoff) -> Result<(), TooMany> {
        self.0.retain(|b| b.id != message.id);
        if self.0.len() >= MAX {
            return Err(TooMany);
        }
        self.0.push(Backoff {
            pg: message.spg.pg,
            id: message.id,
            begin: message.begin.clone(),
            end: message.end.clone(),
        });
        Ok(())
    }

    /// True if there was such a backoff.
    pub(crate) fn unblock(&mut self, id: u64) -> bool {
        let before = self.0.len();
        self.0.retain(|b| b.id != id);
        self.0.len() != before
    }

    pub(crate) fn covers(&self, pg: PgId, object: &HObject) -> bool {
        self.0.iter().any(|b| b.covers(pg, object))
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use sepiola_messages::BackoffOp;
    use sepiola_wire::{Epoch, PoolId, SpgId};

    use super::*;

    const PG: PgId = PgId::new(PoolId(1), 0);

    fn object(name: &'static str) -> HObject {
        HObject { oid: name.into(), pool: PoolId(1), ..HObject::min() }
    }

    fn block(id: u64, begin: &'static str, end: &'static str) -> OsdBackoff {
        OsdBackoff {
            spg: SpgId::replicated(PG),
            map_epoch: Epoch(1),
            op: BackoffOp::Block,
            id,
            begin: object(begin),
            end: object(end),
        }
    }

    #[test]
    fn a_range_has_its_begin_but_not_its_end_and_a_point_is_one_object() {
        let mut backoffs = Backoffs::default();
        backoffs.block(&block(1, "b", "d")).unwrap();
        backoffs.block(&block(2, "x", "x")).unwrap();
        let covered = ["a", "b", "c", "d", "x", "y"].map(|name| backoffs.covers(PG, &object(name)));
        assert_eq!(covered, [false, true, true, false, true, false]);
        assert!(!backoffs.covers(PgId::new(PoolId(1), 1), &object("b")), "another pg");
    }

    #[test]
    fn each_is_lifted_by_its_own_number() {
        let mut backoffs = Backoffs::default();
        backoffs.block(&block(1, "a", "z")).unwrap();
        backoffs.block(&block(2, "b", "c")).unwrap();
        assert!(backoffs.unblock(1) && !backoffs.unblock(1));
        assert!(backoffs.covers(PG, &object("b")) && !backoffs.covers(PG, &object("d")));
        backoffs.clear();
        assert!(backoffs.is_empty());
    }
}
