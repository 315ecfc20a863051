//! What a session wants to be told, and what it is owed.

use std::collections::BTreeMap;

use sepiola_messages::{Config, MonMapMessage, OsdMapMessage, Subscription};
use sepiola_messenger::OutMessage;
use sepiola_wire::{EntityName, Epoch, Features, Tid};

use super::config;
use crate::{
    caller::{Caller, allowed},
    state::{MonState, OsdMaps},
};

/// No message holds more steps or bytes of them than this.
const MAX_STEPS: usize = 40;
const MAX_BYTES: usize = 10 << 20;

/// One session's subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    wanted: BTreeMap<What, Wanted>,
    /// The host that the subscriber says it is on.
    host: String,
}

/// In the order in which one request is answered, which is that of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Config,
    Monmap,
    Osdmap,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    /// The first epoch that was not sent yet; 0 for the newest map, whole.
    next: u64,
    onetime: bool,
    /// The options that were sent last.
    config: Option<BTreeMap<String, String>>,
}

/// Whether a caller may subscribe to `what`. Each name is a right of its own: what "config-key get" gives
/// may not be had by way of a subscription (CVE-2026-50152).
pub(crate) fn may_subscribe(caller: &Caller, what: &str) -> bool {
    if let Some(prefix) = what.strip_prefix("kv:") {
        let args = BTreeMap::from([("key".to_owned(), prefix.to_owned())]);
        return allowed(caller, "config-key", Some(("config-key get", &args)), "r");
    }
    match what {
        "config" | "monmap" => true,
        "osdmap" | "osd_pg_creates" => allowed(caller, "osd", None, "r"),
        "mgrmap" | "mgrdigest" => allowed(caller, "mgr", None, "r"),
        _ => allowed(caller, "mon", None, "r"),
    }
}

impl Subscriptions {
    /// Adds or replaces a subscription; unknown names are ignored, as there is nothing to tell of them.
    pub fn want(&mut self, what: &str, subscription: Subscription) {
        let what = match what {
            "config" => What::Config,
            "monmap" => What::Monmap,
            "osdmap" => What::Osdmap,
            _ => return,
        };
        let onetime = subscription.flags.is_onetime();
        self.wanted.insert(what, Wanted { next: subscription.start, onetime, config: None });
    }

    /// Takes note of the host that the subscriber says it is on.
    pub fn seen_on(&mut self, host: &str) {
        host.clone_into(&mut self.host);
    }

    /// The messages that are owed now. Called when something was subscribed and when the state has changed.
    pub fn due(&mut self, state: &MonState, entity: &EntityName, features: Features) -> Vec<OutMessage> {
        let mut messages = Vec::new();
        self.wanted.retain(|what, wanted| {
            let before = messages.len();
            match what {
                What::Config => {
                    let options = config::values_for(state, entity, &self.host);
                    changed_config(wanted, options, features, &mut messages);
                }
                What::Monmap => monmap(wanted, state, features, &mut messages),
                What::Osdmap => osdmap(wanted, state, features, &mut messages),
            }
            !(wanted.onetime && messages.len() > before)
        });
        messages
    }
}

fn changed_config(
    wanted: &mut Wanted,
    options: BTreeMap<String, String>,
    f: Features,
    out: &mut Vec<OutMessage>,
) {
    if wanted.config.as_ref() != Some(&options) {
        out.push(OutMessage::typed(&Config { options: options.clone() }, Tid(0), f));
        wanted.config = Some(options);
    }
}

fn monmap(wanted: &mut Wanted, state: &MonState, f: Features, out: &mut Vec<OutMessage>) {
    let epoch = u64::from(state.monmap().epoch.0);
    if wanted.next <= epoch {
        out.push(OutMessage::typed(&monmap_message(state, f), Tid(0), f));
        wanted.next = epoch + 1;
    }
}

/// The monitor map for a peer.
pub(crate) fn monmap_message(state: &MonState, features: Features) -> MonMapMessage {
    MonMapMessage::new(state.monmap(), features)
}

fn osdmap(wanted: &mut Wanted, state: &MonState, f: Features, out: &mut Vec<OutMessage>) {
    let maps = state.osd_maps();
    let newest = maps.epoch();
    if wanted.next > newest.0.into() {
        return;
    }
    let empty = || OsdMapMessage { fsid: state.fsid(), oldest: maps.oldest(), newest, ..Default::default() };
    let start = u32::try_from(wanted.next).map_or(newest, Epoch);
    if start.0 == 0 || start < maps.oldest() || !has_step(maps, start) {
        let full = BTreeMap::from([(newest, maps.encoded().clone())]);
        out.push(OutMessage::typed(&OsdMapMessage { full, ..empty() }, Tid(0), f));
    } else {
        let (mut message, mut bytes) = (empty(), 0);
        for (epoch, step) in maps.steps_from(start) {
            if message.incremental.len() == MAX_STEPS || (bytes > 0 && bytes + step.len() > MAX_BYTES) {
                out.push(OutMessage::typed(&std::mem::replace(&mut message, empty()), Tid(0), f));
                bytes = 0;
            }
            bytes += step.len();
            message.incremental.insert(epoch, step.clone());
        }
        out.push(OutMessage::typed(&message, Tid(0), f));
    }
    wanted.next = u64::from(newest.0) + 1;
}

/// False for the first map of a cluster, to which no step leads.
fn has_step(maps: &OsdMaps, epoch: Epoch) -> bool {
    maps.steps_from(epoch).next().is_some_and(|(first, _)| first == epoch)
}
