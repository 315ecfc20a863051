//! Which OSDs still answer: beacons missed and failures reported.
//!
//! Not replicated: after a restart every OSD gets the time to find the monitor again, so that a monitor's
//! own absence is never held against the OSDs.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use sepiola_wire::OsdId;

/// When OSDs count as dead.
#[derive(Debug, Clone, Copy)]
pub struct LivenessRules {
    /// An OSD without a beacon for this long is down.
    pub beacon_grace: Duration,
    /// An OSD that has lost its session, and sends no beacon on a new one for this long, is down: what a
    /// crash looks like, since the kernel closes a dead process's connections at once.
    pub reconnect_grace: Duration,
    /// What an OSD that is up in the map gets to be heard for the first time, when the monitor has just
    /// started: OSDs try again at growing intervals.
    pub first_grace: Duration,
    /// A report older than this no longer counts.
    pub report_age: Duration,
    /// How many other OSDs must complain, where that many others are up.
    pub min_reporters: usize,
}

impl Default for LivenessRules {
    /// Beacons come once a second; four missed ones and the tick together stay below five seconds.
    fn default() -> Self {
        LivenessRules {
            beacon_grace: Duration::from_secs(4),
            reconnect_grace: Duration::from_secs(2),
            first_grace: Duration::from_secs(15),
            report_age: Duration::from_secs(20),
            min_reporters: 2,
        }
    }
}

/// Beacons and failure reports by OSD.
#[derive(Debug, Default)]
pub struct Liveness {
    heard: BTreeMap<OsdId, Instant>,
    /// Since when an OSD has no session.
    left: BTreeMap<OsdId, Instant>,
    reports: BTreeMap<OsdId, BTreeMap<OsdId, Instant>>,
    condemned: BTreeSet<OsdId>,
}

impl Liveness {
    /// An OSD booted or sent a beacon: what others said of it before is void.
    pub fn heard_from(&mut self, osd: OsdId, now: Instant) {
        self.heard.insert(osd, now);
        self.left.remove(&osd);
        self.reports.remove(&osd);
        self.condemned.remove(&osd);
    }

    /// The OSD's session has ended; it may come back with another.
    pub fn session_lost(&mut self, osd: OsdId, now: Instant) {
        self.left.entry(osd).or_insert(now);
    }

    /// An OSD whose process is certainly gone.
    pub fn condemn(&mut self, osd: OsdId) {
        self.condemned.insert(osd);
    }

    /// Another OSD says that `failed` does not answer.
    pub fn report(&mut self, failed: OsdId, reporter: OsdId, now: Instant) {
        self.reports.entry(failed).or_default().insert(reporter, now);
    }

    /// The reporter takes it back.
    pub fn withdraw(&mut self, failed: OsdId, reporter: OsdId) {
        if let Some(reporters) = self.reports.get_mut(&failed) {
            reporters.remove(&reporter);
        }
    }

    /// Forgets an OSD that is down or gone.
    pub fn forget(&mut self, osd: OsdId) {
        self.heard.remove(&osd);
        self.left.remove(&osd);
        self.reports.remove(&osd);
        self.condemned.remove(&osd);
        for reporters in self.reports.values_mut() {
            reporters.remove(&osd);
        }
    }

    /// Of the OSDs that are up in the map, those to be marked down now.
    pub fn dead(&mut self, up: &BTreeSet<OsdId>, now: Instant, rules: &LivenessRules) -> Vec<OsdId> {
        self.heard.retain(|osd, _| up.contains(osd));
        self.left.retain(|osd, _| up.contains(osd));
        self.reports.retain(|osd, _| up.contains(osd));
        self.condemned.retain(|osd| up.contains(osd));
        for reporters in self.reports.values_mut() {
            reporters
                .retain(|osd, at| up.contains(osd) && now.saturating_duration_since(*at) <= rules.report_age);
        }
        let silent = |osd: &OsdId, heard: &BTreeMap<OsdId, Instant>| {
            heard.get(osd).is_some_and(|at| now.saturating_duration_since(*at) >= rules.beacon_grace)
        };
        let gone = |osd: &OsdId, left: &BTreeMap<OsdId, Instant>| {
            left.get(osd).is_some_and(|at| now.saturating_duration_since(*at) >= rules.reconnect_grace)
        };
        let mut dead = Vec::new();
        for osd in up {
            // An OSD that is up in the map and was never heard: this monitor has just started.
            let more = rules.first_grace.saturating_sub(rules.beacon_grace);
            self.heard.entry(*osd).or_insert(now + more);
            let others = up.len() - 1;
            let needed = rules.min_reporters.min(others).max(1);
            let blamed = self.reports.get(osd).is_some_and(|reporters| reporters.len() >= needed);
            if silent(osd, &self.heard) || gone(osd, &self.left) || blamed || self.condemned.contains(osd) {
                dead.push(*osd);
            }
        }
        dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn up(n: i32) -> BTreeSet<OsdId> {
        (0..n).map(OsdId).collect()
    }

    #[test]
    fn a_silent_osd_is_dead_after_the_grace_and_not_before() {
        let (mut l, start, rules) = (Liveness::default(), Instant::now(), LivenessRules::default());
        l.heard_from(OsdId(0), start);
        l.heard_from(OsdId(1), start);
        l.heard_from(OsdId(1), start + 3 * SECOND);
        assert_eq!(l.dead(&up(2), start + 3 * SECOND, &rules), []);
        assert_eq!(l.dead(&up(2), start + 4 * SECOND, &rules), [OsdId(0)]);
        assert!(rules.beacon_grace < 5 * SECOND);
    }

    #[test]
    fn an_osd_that_lost_its_session_is_dead_unless_it_comes_back() {
        let (mut l, start, rules) = (Liveness::default(), Instant::now(), LivenessRules::default());
        for osd in [0, 1] {
            l.heard_from(OsdId(osd), start);
            l.session_lost(OsdId(osd), start);
        }
        assert_eq!(l.dead(&up(2), start + SECOND, &rules), []);
        l.heard_from(OsdId(1), start + SECOND);
        // Losing it again does not start the wait anew.
        l.session_lost(OsdId(0), start + SECOND);
        assert_eq!(l.dead(&up(2), start + 2 * SECOND, &rules), [OsdId(0)]);
    }

    #[test]
    fn an_osd_that_was_never_heard_gets_the_time_to_come_back() {
        let (mut l, start, rules) = (Liveness::default(), Instant::now(), LivenessRules::default());
        assert_eq!(l.dead(&up(1), start + 100 * SECOND, &rules), []);
        let due = start + 100 * SECOND + rules.first_grace;
        assert_eq!(l.dead(&up(1), due - SECOND, &rules), []);
        assert_eq!(l.dead(&up(1), due, &rules), [OsdId(0)]);
        // Once it was heard, it is judged as any other.
        let mut l = Liveness::default();
        l.dead(&up(1), start, &rules);
        l.heard_from(OsdId(0), start + SECOND);
        assert_eq!(l.dead(&up(1), start + SECOND + rules.beacon_grace, &rules), [OsdId(0)]);
    }

    #[test]
    fn two_reporters_are_needed_where_there_are_two_others() {
        let (mut l, now, rules) = (Liveness::default(), Instant::now(), LivenessRules::default());
        l.dead(&up(3), now, &rules);
        l.report(OsdId(0), OsdId(1), now);
        l.report(OsdId(0), OsdId(1), now);
        assert_eq!(l.dead(&up(3), now, &rules), [], "one reporter, however often, is not two");
        assert_eq!(l.dead(&up(2), now, &rules), [OsdId(0)], "the only other OSD is enough");
        l.report(OsdId(0), OsdId(2), now);
        assert_eq!(l.dead(&up(3), now, &rules), [OsdId(0)]);
    }

    #[test]
    fn reports_age_are_withdrawn_and_are_void_after_a_sign_of_life() {
        let (mut l, now, rules) = (Liveness::default(), Instant::now(), LivenessRules::default());
        let blame = |l: &mut Liveness| {
            l.report(OsdId(0), OsdId(1), now);
            l.report(OsdId(0), OsdId(2), now);
        };
        blame(&mut l);
        l.withdraw(OsdId(0), OsdId(2));
        assert_eq!(l.dead(&up(3), now, &rules), []);
        blame(&mut l);
        l.heard_from(OsdId(0), now);
        assert_eq!(l.dead(&up(3), now, &rules), []);
        blame(&mut l);
        let later = now + rules.report_age + SECOND;
        for osd in up(3) {
            l.heard.insert(osd, later);
        }
        assert_eq!(l.dead(&up(3), later, &rules), []);
    }
}
