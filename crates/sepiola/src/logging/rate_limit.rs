//! A limit on lines of one kind. Peers can provoke some as often as they like - handshakes that are refused,
//! messages that nobody knows - and must not fill the disk with them.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tracing::{Event, Level, Metadata, callsite::Identifier};
use tracing_subscriber::layer::{Context, Filter};

/// Lines of one kind in each window. More than any daemon has to say about itself.
const LINES: u32 = 30;
const WINDOW: Duration = Duration::from_secs(30);

/// Counts lines by the place in the program that they come from.
#[derive(Debug, Default)]
pub struct RateLimit(Mutex<HashMap<Identifier, Place>>);

#[derive(Debug)]
struct Place {
    name: &'static str,
    since: Instant,
    lines: u32,
    held_back: u64,
}

impl RateLimit {
    /// Whether a line from `place` may be written now.
    fn admit(&self, place: &Metadata<'static>, now: Instant) -> bool {
        let mut places = self.places();
        let fresh = || Place { name: place.name(), since: now, lines: 0, held_back: 0 };
        let place = places.entry(place.callsite()).or_insert_with(fresh);
        // A window with lines that nobody was told of lasts until somebody is.
        if now.duration_since(place.since) >= WINDOW && place.held_back == 0 {
            (place.since, place.lines) = (now, 0);
        }
        if place.lines < LINES {
            place.lines += 1;
            return true;
        }
        place.held_back += 1;
        false
    }

    /// The places whose window is over and lost lines, with how many they were.
    pub fn held_back(&self, now: Instant) -> Vec<(&'static str, u64)> {
        let mut places = self.places();
        let over = places.values_mut().filter(|p| p.held_back > 0 && now.duration_since(p.since) >= WINDOW);
        over.map(|place| {
            (place.since, place.lines) = (now, 0);
            (place.name, std::mem::take(&mut place.held_back))
        })
        .collect()
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Identifier, Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies a limit to what is logged unasked. Who raises a level with `debug_*` gets every line of it.
pub struct Limited(pub &'static RateLimit);

impl<S> Filter<S> for Limited {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let place = event.metadata();
        *place.level() > Level::INFO || self.0.admit(place, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> [&'static Metadata<'static>; 2] {
        use tracing::{Callsite, callsite, metadata::Kind};
        fn metadata(callsite: &'static dyn Callsite) -> &'static Metadata<'static> {
            callsite.metadata()
        }
        [
            metadata(callsite! { name: "first", kind: Kind::EVENT, fields: message }),
            metadata(callsite! { name: "second", kind: Kind::EVENT, fields: message }),
        ]
    }

    #[test]
    fn a_flood_is_cut_off_and_counted_and_others_go_on() {
        let [flood, other] = places();
        let (limit, start) = (RateLimit::default(), Instant::now());
        let written = (0..1000).filter(|_| limit.admit(flood, start)).count();
        assert_eq!(written, LINES as usize);
        assert!(limit.admit(other, start));
        assert_eq!(limit.held_back(start), [], "the window is not over");
        let later = start + WINDOW;
        assert!(!limit.admit(flood, later), "nobody was told yet");
        assert_eq!(limit.held_back(later), [("first", 1001 - u64::from(LINES))]);
        assert!(limit.admit(flood, later));
    }

    #[test]
    fn lines_that_come_now_and_then_are_all_written() {
        let [place, _] = places();
        let (limit, start) = (RateLimit::default(), Instant::now());
        for n in 0..200 {
            assert!(limit.admit(place, start + WINDOW / LINES * n));
        }
        assert_eq!(limit.held_back(start + WINDOW * 100), []);
    }
}
