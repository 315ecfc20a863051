//! What an object has to be like. Pure: an operation's answer and the object after it follow from the object
//! before it. `librados_client.py` has the same for the other client.

use std::collections::BTreeMap;

use bytes::Bytes;
use rand::{Rng, RngExt};
use sepiola_client::Errno;

/// Objects are not written beyond this.
const MAX_SIZE: usize = 64 << 10;

/// Names and values.
pub type Entries = BTreeMap<Bytes, Bytes>;

/// An object as it should be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object {
    data: Vec<u8>,
    xattrs: Entries,
    omap: Entries,
}

/// What is known of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its OSD was restarted since, or is being.
    Unknown,
    Absent,
    Present(Object),
}

/// An operation on one object.
#[derive(Debug, Clone)]
pub enum Op {
    WriteFull(Bytes),
    Write(usize, Bytes),
    Append(Bytes),
    Truncate(usize),
    Create,
    Remove,
    Read,
    Stat,
    SetXattr(Bytes, Bytes),
    GetXattrs,
    OmapSet(Entries),
    OmapRemove(Bytes),
    OmapGet,
    /// Everything anew, with an attribute and a value in the omap, in one operation.
    Compound(Bytes),
    /// Appends if the attribute has this value, which it mostly has not.
    Guarded(Bytes, Bytes),
}

/// What an operation returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Nothing,
    Size(u64),
    Data(Bytes),
    Entries(Entries),
}

/// The attribute that guards.
pub const GUARD: &str = "guard";

impl Op {
    /// A sensible operation for an object in this state.
    pub fn choose(state: &State, rng: &mut impl Rng) -> Op {
        let object = match state {
            // What it holds can't be known before it is gone.
            State::Unknown => return Op::Remove,
            State::Absent => None,
            State::Present(object) => Some(object),
        };
        let size = object.map_or(0, |object| object.data.len());
        let bytes = |rng: &mut dyn Rng, most: usize| {
            let mut data = vec![0; rng.random_range(0..=most)];
            rng.fill_bytes(&mut data);
            Bytes::from(data)
        };
        let small = |rng: &mut dyn Rng| Bytes::from(format!("value {}", rng.random_range(0..1000)));
        match rng.random_range(0..20) {
            0 => Op::WriteFull(bytes(rng, MAX_SIZE / 2)),
            1..3 => Op::Write(rng.random_range(0..MAX_SIZE / 2), bytes(rng, 8192)),
            3..5 if size < MAX_SIZE => Op::Append(bytes(rng, 4096)),
            3..6 if object.is_some() => Op::Truncate(rng.random_range(0..MAX_SIZE / 2)),
            3..6 => Op::Create,
            6 => Op::Remove,
            7..10 => Op::Read,
            10 => Op::Stat,
            11 => Op::SetXattr(format!("x{}", rng.random_range(0..4)).into(), small(rng)),
            12 => Op::GetXattrs,
            13..15 => {
                let key = |rng: &mut dyn Rng| Bytes::from(format!("k{}", rng.random_range(0..32)));
                Op::OmapSet((0..4).map(|_| (key(rng), small(rng))).collect())
            }
            15 if object.is_some() => Op::OmapRemove(format!("k{}", rng.random_range(0..32)).into()),
            15..17 => Op::OmapGet,
            17 if object.is_some_and(|object| object.xattrs.contains_key(GUARD.as_bytes())) => {
                Op::Guarded(small(rng), bytes(rng, 100))
            }
            17 => Op::Create,
            _ => Op::Compound(bytes(rng, 4096)),
        }
    }

    /// For counting.
    pub fn name(&self) -> &'static str {
        match self {
            Op::WriteFull(_) => "write full",
            Op::Write(..) => "write",
            Op::Append(_) => "append",
            Op::Truncate(_) => "truncate",
            Op::Create => "create",
            Op::Remove => "remove",
            Op::Read => "read",
            Op::Stat => "stat",
            Op::SetXattr(..) => "set xattr",
            Op::GetXattrs => "get xattrs",
            Op::OmapSet(_) => "omap set",
            Op::OmapRemove(_) => "omap remove",
            Op::OmapGet => "omap get",
            Op::Compound(_) => "compound",
            Op::Guarded(..) => "guarded append",
        }
    }

    /// The value that a compound operation sets everywhere.
    pub fn mark(data: &Bytes) -> Bytes {
        Bytes::from(format!("value {}", data.len() % 10))
    }

    /// The answer and the object after it. The state is known.
    pub fn predict(&self, state: &State) -> (Result<Answer, Errno>, State) {
        let nothing = Ok(Answer::Nothing);
        let (there, mut object) = match state {
            State::Present(object) => (true, object.clone()),
            _ => (false, Object::default()),
        };
        let unchanged = || state.clone();
        let asked = |answer| if there { Ok(answer) } else { Err(Errno::ENOENT) };
        match self {
            Op::Create if there => return (Err(Errno::EEXIST), unchanged()),
            Op::Create => {}
            Op::Remove => return (if there { nothing } else { Err(Errno::ENOENT) }, State::Absent),
            Op::Read => return (asked(Answer::Data(object.data.into())), unchanged()),
            Op::Stat => return (asked(Answer::Size(object.data.len() as u64)), unchanged()),
            Op::GetXattrs => return (asked(Answer::Entries(object.xattrs)), unchanged()),
            Op::OmapGet => return (asked(Answer::Entries(object.omap)), unchanged()),
            Op::Guarded(value, _) if object.xattrs.get(GUARD.as_bytes()) != Some(value) => {
                return (Err(Errno::ECANCELED), unchanged());
            }
            Op::Guarded(_, data) | Op::Append(data) => object.data.extend_from_slice(data),
            Op::WriteFull(data) => object.data = data.to_vec(),
            // Also when nothing is written there: the object reaches up to the offset then.
            Op::Write(offset, data) => {
                let end = offset + data.len();
                object.data.resize(object.data.len().max(end), 0);
                object.data[*offset..end].copy_from_slice(data);
            }
            Op::Truncate(size) => object.data.resize(*size, 0),
            Op::SetXattr(name, value) => {
                object.xattrs.insert(name.clone(), value.clone());
            }
            Op::OmapSet(entries) => object.omap.extend(entries.clone()),
            Op::OmapRemove(key) => {
                object.omap.remove(key);
            }
            Op::Compound(data) => {
                object.data = data.to_vec();
                object.xattrs.insert(GUARD.into(), Op::mark(data));
                object.omap.insert(GUARD.into(), Op::mark(data));
            }
        }
        (nothing, State::Present(object))
    }
}
