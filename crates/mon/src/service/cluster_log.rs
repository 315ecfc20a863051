//! The cluster log: what happened in the cluster, for people.
//!
//! A line is a change like others and is mostly written with the change that it tells of, so it is durable
//! when that is and costs no flush of its own. The newest lines are kept, see
//! [`KEPT_LINES`](crate::state::KEPT_LINES).

use sepiola_messages::{Log, LogEntry, LogLevel, PaxosHeader, Subscription};
use sepiola_messenger::OutMessage;
use sepiola_proto::MonChange;
use sepiola_wire::{EntityName, EntityNum, EntityType, Features, Tid, UTime};

use crate::{
    MonOptions,
    state::{MonState, change},
};

/// The channel of everything that is not said otherwise.
pub(crate) const CLUSTER: &str = "cluster";

/// A line has at most this many bytes, so that the kept ones have a bound.
const MAX_TEXT: usize = 1024;

/// A line that this monitor writes.
pub(crate) fn line(
    state: &MonState,
    options: &MonOptions,
    now: UTime,
    level: LogLevel,
    text: &str,
) -> MonChange {
    let monmap = state.monmap();
    let rank = monmap.rank_of(&options.name).unwrap_or(0);
    let entry = LogEntry {
        name: EntityName::new(EntityType::Mon, &options.name),
        rank: EntityNum { kind: EntityType::Mon as u8, num: rank as i64 },
        addrs: monmap.mons.get(&options.name).map(|mon| mon.addrs.clone()).unwrap_or_default(),
        stamp: now,
        seq: 0,
        level,
        text: shortened(text),
        channel: CLUSTER.to_owned(),
    };
    change::cluster_log(&entry)
}

/// As much of a text as a line may have, without the line breaks and escape sequences that would make a terminal
/// or a reader take it for something else.
pub(crate) fn shortened(text: &str) -> String {
    let fits = |end: &usize| *end <= MAX_TEXT;
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(fits).last().unwrap_or(0);
    text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What a session wants to hear of the log: one level and all above it. Asking for another level replaces
/// it.
#[derive(Debug, Default)]
pub(crate) struct LogSubscription(Option<Wanted>);

#[derive(Debug)]
struct Wanted {
    level: LogLevel,
    /// The first line that was not sent yet; 0 for only the newest one.
    next: u64,
    onetime: bool,
}

impl LogSubscription {
    /// Takes a subscription if it is one of the log: `log-info` and the like.
    pub fn want(&mut self, what: &str, subscription: Subscription) -> bool {
        let Some(level) = what.strip_prefix("log-").and_then(LogLevel::from_name) else { return false };
        let onetime = subscription.flags.is_onetime();
        self.0 = Some(Wanted { level, next: subscription.start, onetime });
        true
    }

    /// The message that is owed now.
    pub fn due(&mut self, state: &MonState, features: Features) -> Option<OutMessage> {
        let (log, wanted) = (state.cluster_log(), self.0.as_mut()?);
        let heard = |line: &&LogEntry| line.level >= wanted.level;
        let mut entries: Vec<LogEntry> = match wanted.next {
            0 => log.newest().find(heard).cloned().into_iter().collect(),
            next => log.from(next).filter(heard).cloned().collect(),
        };
        // Many lines at once are for a client that was away; the newest ones say what it needs.
        entries.drain(..entries.len().saturating_sub(MAX_LINES));
        wanted.next = log.version() + 1;
        if entries.is_empty() {
            return None;
        }
        if wanted.onetime {
            self.0 = None;
        }
        let message = Log { paxos: PaxosHeader { version: log.version() }, fsid: state.fsid(), entries };
        Some(OutMessage::typed(&message, Tid(0), features))
    }
}

/// As many lines as one message has.
const MAX_LINES: usize = 200;

#[cfg(test)]
mod tests {
    use sepiola_messages::{SubscribeFlags, WireMessage};

    use super::*;
    use crate::testing::TestMon;

    fn write(mon: &mut TestMon, level: LogLevel, text: &str) {
        let change = line(&mon.state, &mon.options, mon.now, level, text);
        mon.apply(vec![change]);
    }

    fn texts(subscription: &mut LogSubscription, mon: &TestMon) -> Vec<String> {
        let due = subscription.due(&mon.state, Features::SUPPORTED);
        let logs = due.iter().map(|m| Log::decode(1, &m.front, b"").unwrap());
        logs.flat_map(|log| {
            assert_eq!(log.paxos.version, mon.state.cluster_log().version());
            log.entries.into_iter().map(|entry| entry.text)
        })
        .collect()
    }

    #[test]
    fn a_subscriber_hears_the_newest_line_and_then_every_one_of_its_level() {
        let mut mon = TestMon::new();
        write(&mut mon, LogLevel::WARN, "old");
        write(&mut mon, LogLevel::WARN, "new");
        write(&mut mon, LogLevel::DEBUG, "detail");
        let mut subscription = LogSubscription::default();
        assert!(!subscription.want("osdmap", Subscription::default()));
        assert!(!subscription.want("log-nonsense", Subscription::default()));
        assert!(subscription.want("log-info", Subscription::default()));
        assert_eq!(texts(&mut subscription, &mon), ["new"]);
        assert!(texts(&mut subscription, &mon).is_empty());
        write(&mut mon, LogLevel::DEBUG, "another detail");
        write(&mut mon, LogLevel::INFO, "a");
        write(&mut mon, LogLevel::ERROR, "b");
        assert_eq!(texts(&mut subscription, &mon), ["a", "b"]);
        // Another level takes the place of the first.
        subscription.want("log-error", Subscription::default());
        assert_eq!(texts(&mut subscription, &mon), ["b"]);
        write(&mut mon, LogLevel::INFO, "c");
        assert!(texts(&mut subscription, &mon).is_empty());
    }

    #[test]
    fn a_onetime_subscription_ends_with_its_answer() {
        let mut mon = TestMon::new();
        let mut subscription = LogSubscription::default();
        let start = mon.state.cluster_log().version() + 1;
        subscription.want("log-warn", Subscription { start, flags: SubscribeFlags::ONETIME });
        assert!(texts(&mut subscription, &mon).is_empty());
        for text in ["a", "b"] {
            write(&mut mon, LogLevel::WARN, text);
        }
        assert_eq!(texts(&mut subscription, &mon), ["a", "b"]);
        write(&mut mon, LogLevel::WARN, "c");
        assert!(texts(&mut subscription, &mon).is_empty());
    }

    #[test]
    fn nobody_makes_two_lines_of_one() {
        let mut mon = TestMon::new();
        let forged = "hello\n2026-12-01T00:00:00 mon.a (mon.0) 1 : cluster [ERR] \u{1b}[2J\u{9b}31m\r";
        mon.output(serde_json::json!({"prefix": "log", "logtext": [forged]}));
        write(&mut mon, LogLevel::INFO, forged);
        for line in mon.state.cluster_log().newest().take(2) {
            assert!(line.text.starts_with("hello 2026") && !line.text.contains(char::is_control), "{line:?}");
        }
        assert_eq!(mon.output(serde_json::json!({"prefix": "log last", "num": 2})).lines().count(), 2);
    }

    #[test]
    fn lines_and_the_log_are_bounded() {
        let mut mon = TestMon::new();
        write(&mut mon, LogLevel::INFO, &"é".repeat(MAX_TEXT));
        assert_eq!(mon.state.cluster_log().newest().next().unwrap().text.len(), MAX_TEXT);
        for i in 0..3 * crate::state::KEPT_LINES {
            write(&mut mon, LogLevel::INFO, &i.to_string());
        }
        let log = mon.state.cluster_log();
        assert!((crate::state::KEPT_LINES..=2 * crate::state::KEPT_LINES).contains(&log.newest().count()));
        assert_eq!(log.from(log.version()).map(|line| line.seq).collect::<Vec<_>>(), [log.version()]);
        assert_eq!(log.from(0).count(), log.newest().count());
    }
}
