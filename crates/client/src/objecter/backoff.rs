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
