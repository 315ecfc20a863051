//! A task with objects of its own, which it changes and compares one operation after another.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use sepiola_client::{CmpOp, Create, Errno, Error, Exclusive, IoCtx, WriteOp};

use crate::{
    plan::{Plan, PlannedObject},
    rust_client::{
        model::{Answer, GUARD, Op, State},
        record::{Ended, Record},
    },
};

/// Between two operations; the cluster is to be busy, not the machine.
const PAUSE_US: std::ops::Range<u64> = 500..6000;

/// A worker with its objects.
pub struct Worker {
    io: IoCtx,
    objects: Vec<Tracked>,
    record: Arc<Record>,
}

struct Tracked {
    planned: PlannedObject,
    state: State,
    /// The life of its OSD that the state belongs to.
    life: Option<u64>,
}

impl Worker {
    pub fn new(io: IoCtx, objects: &[PlannedObject], record: Arc<Record>) -> Self {
        let track =
            |planned: &PlannedObject| Tracked { planned: planned.clone(), state: State::Unknown, life: None };
        Worker { io, objects: objects.iter().map(track).collect(), record }
    }

    /// Works until the end.
    pub async fn run(mut self, plan: Arc<Plan>, seed: u64) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut listed = Instant::now();
        while !self.record.is_stopping() {
            let chosen = rng.random_range(0..self.objects.len());
            self.step(chosen, &mut rng).await;
            if listed.elapsed().as_secs() >= plan.list_every_s {
                self.list().await;
                listed = Instant::now();
            }
            tokio::time::sleep(Duration::from_micros(rng.random_range(PAUSE_US))).await;
        }
    }

    async fn step(&mut self, chosen: usize, rng: &mut StdRng) {
        let object = &mut self.objects[chosen];
        let life = self.record.life(object.planned.osd);
        if life.is_none() || life != object.life {
            object.state = State::Unknown;
        }
        // While the OSD is away anything goes: its operations wait, and must end.
        let op = match life {
            Some(_) => Op::choose(&object.state, rng),
            None => Op::choose(&State::Absent, rng),
        };
        let begun = Instant::now();
        let answer = execute(&self.io, &object.planned.name, &op).await;
        let took = begun.elapsed();
        let undisturbed = life.is_some() && self.record.life(object.planned.osd) == life;
        let known = undisturbed && object.state != State::Unknown;
        let plausible = matches!(
            answer.as_ref().map_err(Error::errno),
            Ok(_) | Err(Errno::ENOENT | Errno::EEXIST | Errno::ECANCELED)
        );
        let ended = if known {
            let (expected, next) = op.predict(&object.state);
            let as_expected = match (&answer, &expected) {
                (Ok(answer), Ok(expected)) => answer == expected,
                (Err(e), Err(errno)) => e.errno() == *errno,
                _ => false,
            };
            if !as_expected {
                let name = &object.planned.name;
                let why = describe(&answer, &expected);
                self.record.problem(format!("{} of {name} at osd.{}: {why}", op.name(), object.planned.osd));
            }
            object.state = if as_expected { next } else { State::Unknown };
            if as_expected { Ended::Checked } else { Ended::Failed }
        } else if plausible {
            // A removal leaves nothing that is unknown.
            object.state = if undisturbed { State::Absent } else { State::Unknown };
            Ended::Unchecked
        } else {
            let e = answer.err().map_or_else(String::new, |e| e.to_string());
            self.record.problem(format!("{} of {}: {e}", op.name(), object.planned.name));
            object.state = State::Unknown;
            Ended::Failed
        };
        object.life = life;
        self.record.count(op.name(), took, ended);
    }

    /// Lists the namespace and compares with this worker's objects.
    async fn list(&self) {
        let lives: Vec<_> = self.objects.iter().map(|o| self.record.life(o.planned.osd)).collect();
        let begun = Instant::now();
        let mut list = self.io.list();
        let mut names = Vec::new();
        let ended = loop {
            match list.next().await {
                Ok(Some(object)) => names.push(object.name),
                Ok(None) => break Ended::Checked,
                Err(e) => {
                    self.record.problem(format!("list: {e}"));
                    break Ended::Failed;
                }
            }
        };
        let wrong = self.objects.iter().zip(lives).filter(|(object, life)| {
            let sure =
                life.is_some() && *life == self.record.life(object.planned.osd) && *life == object.life;
            let found = names.iter().filter(|name| ***name == *object.planned.name.as_bytes()).count();
            sure && match &object.state {
                State::Unknown => false,
                State::Absent => found != 0,
                State::Present(_) => found != 1,
            }
        });
        let wrong: Vec<_> = wrong.map(|(object, _)| object.planned.name.as_str()).collect();
        let ended = if ended == Ended::Checked && !wrong.is_empty() {
            self.record.problem(format!("list: wrong about {}", wrong.join(", ")));
            Ended::Failed
        } else {
            ended
        };
        self.record.count("list", begun.elapsed(), ended);
    }
}

async fn execute(io: &IoCtx, name: &str, op: &Op) -> Result<Answer, Error> {
    let nothing = |()| Answer::Nothing;
    match op.clone() {
        Op::WriteFull(data) => io.write_full(name, data).await.map(nothing),
        Op::Write(offset, data) => io.write(name, offset as u64, data).await.map(nothing),
        Op::Append(data) => io.append(name, data).await.map(nothing),
        Op::Truncate(size) => io.truncate(name, size as u64).await.map(nothing),
        Op::Create => io.create(name, Exclusive).await.map(nothing),
        Op::Remove => io.remove(name).await.map(nothing),
        Op::Read => io.read(name, ..).await.map(Answer::Data),
        Op::Stat => io.stat(name).await.map(|stat| Answer::Size(stat.size)),
        Op::SetXattr(key, value) => io.set_xattr(name, key, value).await.map(nothing),
        Op::GetXattrs => io.get_xattrs(name).await.map(Answer::Entries),
        Op::OmapSet(entries) => io.omap_set(name, entries).await.map(nothing),
        Op::OmapRemove(key) => io.omap_rm_keys(name, [key]).await.map(nothing),
        Op::OmapGet => io.omap_get_vals(name).await.map(Answer::Entries),
        Op::Compound(data) => {
            let mark = Op::mark(&data);
            let op = WriteOp::new().create(Create::Idempotent).write_full(data).set_xattr(GUARD, &mark);
            io.operate(name, op.omap_set([(GUARD, mark)])).await.map(|_| Answer::Nothing)
        }
        Op::Guarded(value, data) => {
            let op = WriteOp::new().compare_xattr(GUARD, CmpOp::Eq, value).append(data);
            io.operate(name, op).await.map(|_| Answer::Nothing)
        }
    }
}

/// What was got and what was wanted, without kilobytes of either.
fn describe(answer: &Result<Answer, Error>, expected: &Result<Answer, Errno>) -> String {
    let short = |answer: &Answer| match answer {
        Answer::Data(data) => format!("{} bytes", data.len()),
        other => format!("{other:?}"),
    };
    let got = answer.as_ref().map_or_else(ToString::to_string, short);
    let wanted = expected.as_ref().map_or_else(ToString::to_string, short);
    format!("{got} instead of {wanted}")
}
