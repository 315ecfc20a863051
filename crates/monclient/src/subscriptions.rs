//! What this client wants from the monitor session, and what of it is still to be told.

use std::collections::BTreeMap;

use sepiola_messages::{MonSubscribe, SubscribeFlags, Subscription};

/// Subscriptions by name. They belong to the client, not to a session: a new session gets all of them.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    wanted: BTreeMap<String, Subscription>,
    unsent: BTreeMap<String, Subscription>,
    host: String,
}

impl Subscriptions {
    /// For a client on this host, which options may be set for.
    pub(crate) fn on_host(host: String) -> Self {
        Subscriptions { host, ..Self::default() }
    }

    /// Wants `what` from version `start` on (0: the newest, whole). A continuous subscription stays one and
    /// covers later starts.
    pub(crate) fn want(&mut self, what: &str, start: u64, flags: SubscribeFlags) {
        let mut sub = Subscription { start, flags };
        if let Some(old) = self.wanted.get(what) {
            let covered = old.start != 0 && start != 0 && old.start <= start;
            if covered && (!old.flags.is_onetime() || flags.is_onetime()) {
                return;
            }
            if !old.flags.is_onetime() {
                sub.flags = SubscribeFlags::CONTINUOUS;
            }
            if *old == sub {
                return;
            }
        }
        self.wanted.insert(what.to_owned(), sub);
        self.unsent.insert(what.to_owned(), sub);
    }

    /// Wants `what` from version `start` on although that may have been asked for: what came does not connect.
    pub(crate) fn insist(&mut self, what: &str, start: u64) {
        let flags = self.wanted.get(what).map_or(SubscribeFlags::ONETIME, |old| old.flags);
        let sub = Subscription { start, flags };
        self.wanted.insert(what.to_owned(), sub);
        self.unsent.insert(what.to_owned(), sub);
    }

    /// Version `version` of `what` has arrived.
    pub(crate) fn got(&mut self, what: &str, version: u64) {
        let Some(sub) = self.wanted.get_mut(what) else { return };
        if version < sub.start {
            return;
        }
        if sub.flags.is_onetime() {
            self.wanted.remove(what);
            self.unsent.remove(what);
        } else {
            sub.start = version + 1;
        }
    }

    /// Everything, for a new session.
    pub(crate) fn all(&mut self) -> Option<MonSubscribe> {
        self.unsent.clear();
        self.message(self.wanted.clone())
    }

    /// What has changed since the last message.
    pub(crate) fn changes(&mut self) -> Option<MonSubscribe> {
        let changes = std::mem::take(&mut self.unsent);
        self.message(changes)
    }

    fn message(&self, what: BTreeMap<String, Subscription>) -> Option<MonSubscribe> {
        (!what.is_empty()).then(|| MonSubscribe { what, hostname: self.host.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: SubscribeFlags = SubscribeFlags::ONETIME;
    const ALWAYS: SubscribeFlags = SubscribeFlags::CONTINUOUS;

    fn sent(message: Option<MonSubscribe>) -> Vec<(String, u64, bool)> {
        let what = message.map(|m| m.what).unwrap_or_default();
        what.into_iter().map(|(name, s)| (name, s.start, s.flags.is_onetime())).collect()
    }

    #[test]
    fn a_new_session_goes_on_behind_what_was_received() {
        let mut subs = Subscriptions::default();
        subs.want("monmap", 0, ALWAYS);
        subs.want("osdmap", 0, ALWAYS);
        assert_eq!(sent(subs.all()).len(), 2);
        subs.got("osdmap", 7);
        assert_eq!(sent(subs.all()), [("monmap".into(), 0, false), ("osdmap".into(), 8, false)]);
    }

    #[test]
    fn a_onetime_subscription_is_kept_until_it_is_answered() {
        let mut subs = Subscriptions::default();
        subs.want("osdmap", 8, ONCE);
        assert_eq!(sent(subs.changes()), [("osdmap".into(), 8, true)]);
        assert_eq!(sent(subs.changes()), []);
        subs.want("osdmap", 8, ONCE);
        assert_eq!(sent(subs.changes()), [], "it is armed already");
        subs.got("osdmap", 7);
        assert_eq!(sent(subs.all()).len(), 1, "an older map is no answer");
        subs.got("osdmap", 8);
        assert_eq!(sent(subs.all()), []);
    }

    #[test]
    fn a_gap_is_asked_for_whatever_was_asked_before() {
        let mut subs = Subscriptions::default();
        subs.want("osdmap", 4, ALWAYS);
        subs.changes();
        subs.insist("osdmap", 4);
        assert_eq!(sent(subs.changes()), [("osdmap".into(), 4, false)]);
        subs.insist("other", 1);
        assert_eq!(sent(subs.changes()), [("other".into(), 1, true)]);
    }

    #[test]
    fn a_continuous_subscription_covers_requests_and_can_start_over() {
        let mut subs = Subscriptions::default();
        subs.want("osdmap", 5, ALWAYS);
        subs.changes();
        subs.want("osdmap", 6, ONCE);
        assert_eq!(sent(subs.changes()), []);
        subs.want("osdmap", 0, ONCE);
        assert_eq!(sent(subs.changes()), [("osdmap".into(), 0, false)]);
        subs.got("osdmap", 20);
        assert_eq!(sent(subs.all()), [("osdmap".into(), 21, false)]);
    }
}
