//! What OSDs tell: that they started, live, stop, or find another one dead; and their statistics.

use std::{sync::Arc, time::Instant};

use sepiola_messages::{
    LogLevel,
    proto::{OsdAlive, OsdBeacon, OsdBoot, OsdDown, OsdDownAck, OsdFailureReport, OsdStats, OsdStatsAck},
};
use sepiola_osdmap::{Incremental, MapFlags, OsdMap, OsdState, WEIGHT_IN};
use sepiola_proto::MonChange;
use sepiola_wire::{EntityAddrVec, Epoch, OsdId, Tid, UTime, Uuid, decode_all};
use tracing::{debug, info, warn};

use super::{cluster_log, osd_step, sessions::SessionShared, tick};
use crate::{
    caller::allowed,
    core::{Draft, Outcome},
    daemon::Monitor,
    state::{Metadata, MonState, change},
};

/// A message that only an OSD may send.
pub(crate) enum OsdMessage {
    Boot(OsdBoot),
    Beacon(OsdBeacon),
    Failure(OsdFailureReport),
    Down(OsdDown),
    Alive(OsdAlive),
    Stats(OsdStats),
}

impl OsdMessage {
    /// The OSD that the message says it is from.
    fn from(&self) -> i32 {
        match self {
            OsdMessage::Boot(m) => m.osd_id,
            OsdMessage::Beacon(m) => m.osd_id,
            OsdMessage::Failure(m) => m.reporter,
            OsdMessage::Down(m) => m.osd_id,
            OsdMessage::Alive(m) => m.osd_id,
            OsdMessage::Stats(m) => m.osd_id,
        }
    }
}

/// Ids above this would make every map large.
const MAX_OSD_ID: i32 = 9_999;

/// The OSD that a message is from: the one that the session has authenticated as, with an OSD's caps, and
/// the one that the message names.
pub(crate) fn authorize(session: &SessionShared, message: &OsdMessage) -> Result<OsdId, &'static str> {
    let id = session.osd().ok_or("only OSDs send this message")?;
    if id.0 != message.from() {
        return Err("the message names another OSD than the session's");
    }
    if id.0 > MAX_OSD_ID {
        return Err("the OSD's number is too high");
    }
    let (service, perm) = match message {
        OsdMessage::Stats(_) => ("pg", "rw"),
        _ => ("osd", "rwx"),
    };
    if allowed(&session.caller, service, None, perm) {
        Ok(id)
    } else {
        Err("the OSD's caps do not allow this")
    }
}

/// Handles a message that was authorised.
pub(crate) fn handle(
    monitor: &Monitor,
    session: &Arc<SessionShared>,
    state: &MonState,
    id: OsdId,
    message: OsdMessage,
) {
    match message {
        OsdMessage::Boot(boot) => on_boot(monitor, id, boot),
        OsdMessage::Beacon(beacon) => on_beacon(monitor, state, id, &beacon),
        OsdMessage::Failure(report) => on_failure(monitor, state, id, &report),
        OsdMessage::Down(down) => on_down(monitor, session.clone(), id, down),
        OsdMessage::Alive(alive) => on_alive(monitor, id, &alive),
        OsdMessage::Stats(stats) => {
            let seq = stats.seq;
            monitor.stats.lock().accept(stats, UTime::now());
            session.send(&OsdStatsAck { seq }, Tid(0));
        }
    }
}

fn uuid(bytes: &[u8]) -> Uuid {
    Uuid::from_slice(bytes).unwrap_or_default()
}

fn on_boot(monitor: &Monitor, id: OsdId, boot: OsdBoot) {
    let (liveness, this) = (monitor.liveness.clone(), monitor.shared());
    monitor.core.propose(Box::new(move |draft| match boot_changes(draft, id, &boot) {
        Ok(mut changes) => {
            // Before the map says that it is up, so that no tick in between finds it silent.
            liveness.lock().heard_from(id, Instant::now());
            if let Some(monitor) = this.upgrade() {
                monitor.stats.lock().restarted(id);
            }
            let metadata = metadata(&boot);
            if draft.state.osd_metadata(id) != Some(&metadata) {
                changes.push(change::osd_metadata_set(id, &metadata));
            }
            info!(osd = %id, changed = !changes.is_empty(), "OSD booted");
            if let (false, Some(monitor)) = (changes.is_empty(), this.upgrade()) {
                let addrs = decode_all::<EntityAddrVec>(&boot.client_addrs).unwrap_or_default();
                let text = format!("osd.{id} {addrs} boot");
                changes.push(cluster_log::line(
                    draft.state,
                    &monitor.options,
                    draft.now,
                    LogLevel::INFO,
                    &text,
                ));
            }
            Outcome::silent(changes)
        }
        Err(reason) => {
            warn!(osd = %id, %reason, "boot refused");
            Outcome::silent(vec![])
        }
    }));
}

/// What an OSD says about itself, as far as there is room for it.
fn metadata(boot: &OsdBoot) -> Metadata {
    const MAX_ITEMS: usize = 64;
    const MAX_BYTES: usize = 1024;
    let fits = |(name, value): &(&String, &String)| name.len() <= MAX_BYTES && value.len() <= MAX_BYTES;
    let items: Metadata =
        boot.metadata.iter().filter(fits).map(|(name, value)| (name.clone(), value.clone())).collect();
    items.into_iter().take(MAX_ITEMS).collect()
}

/// One step of several.
type Edit<'a> = Box<dyn FnOnce(&mut Incremental) + 'a>;

/// The steps that bring an OSD up; none if it is up with the same addresses already.
fn boot_changes(draft: &Draft<'_>, id: OsdId, boot: &OsdBoot) -> Result<Vec<MonChange>, String> {
    let map = draft.state.osdmap();
    if uuid(&boot.fsid) != draft.state.fsid() {
        return Err("it belongs to another cluster".to_owned());
    }
    let own_flags = map.osd(id).map(|osd| osd.state).unwrap_or_default();
    if map.flags().has(MapFlags::NOUP) || own_flags.has(OsdState::NOUP) {
        return Err("the noup flag is set".to_owned());
    }
    let addrs = |bytes: &[u8], what: &str| -> Result<EntityAddrVec, String> {
        decode_all(bytes).map_err(|e| format!("its {what} addresses do not decode: {e}"))
    };
    let client_addrs = addrs(&boot.client_addrs, "client")?;
    if client_addrs.msgr2().is_none() {
        return Err("it has no messenger v2 address".to_owned());
    }
    let or_client =
        |bytes: &[u8], what| if bytes.is_empty() { Ok(client_addrs.clone()) } else { addrs(bytes, what) };
    let told = sepiola_osdmap::OsdBoot {
        id,
        uuid: uuid(&boot.osd_uuid),
        cluster_addrs: or_client(&boot.cluster_addrs, "cluster")?,
        features: boot.features,
        last_clean: (Epoch(0), Epoch(0)),
        client_addrs: client_addrs.clone(),
    };
    let heartbeats = (
        or_client(&boot.heartbeat_front_addrs, "heartbeat")?,
        or_client(&boot.heartbeat_back_addrs, "heartbeat")?,
    );
    let mut edits: Vec<Edit<'_>> = Vec::new();
    if let Some(osd) = map.osd(id).filter(|osd| osd.is_up()) {
        if osd.client_addrs == client_addrs && osd.uuid == told.uuid {
            return Ok(Vec::new());
        }
        // It restarted before anybody missed it. Clients must see that its earlier life has ended.
        edits.push(Box::new(move |inc| {
            inc.mark_down(map, id);
        }));
    }
    let crush = placed(map, id, boot)?;
    edits.push(Box::new(move |inc| {
        inc.boot_osd(map, &told);
        // A new OSD comes in unless that is forbidden; one that was there before keeps its weight.
        let announced = own_flags.has(OsdState::NEW);
        if announced || !map.exists(id) {
            let kept_out = map.flags().has(MapFlags::NOIN) || own_flags.has(OsdState::NOIN);
            inc.set_weight(id, if kept_out { 0 } else { WEIGHT_IN });
        }
        if announced {
            *inc.new_state.entry(id).or_default() |= OsdState::NEW.0;
        }
        inc.new_heartbeat_front.insert(id, heartbeats.0);
        inc.new_heartbeat_back.insert(id, heartbeats.1);
        if let Some(crush) = crush {
            inc.set_crush(&crush);
        }
    }));
    osd_step::steps(map, draft.now, edits).map_err(|e| e.to_string())
}

/// The CRUSH map with the OSD under its host, unless it has a place already.
fn placed(map: &OsdMap, id: OsdId, boot: &OsdBoot) -> Result<Option<sepiola_osdmap::CrushMap>, String> {
    if map.crush().buckets.iter().flatten().any(|bucket| bucket.items.contains(&id.0)) {
        return Ok(None);
    }
    let weight = if boot.crush_weight == 0 { WEIGHT_IN } else { boot.crush_weight };
    let named = |key: &str| boot.metadata.get(key).map(String::as_str).unwrap_or_default();
    let host: String = named("hostname")
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .take(64)
        .collect();
    let host = if host.is_empty() { "localhost".to_owned() } else { host };
    let mut crush = map.crush().clone();
    // A host may have the name of another bucket, say of the root.
    crush
        .set_device(id.0, weight, &host)
        .or_else(|_| crush.set_device(id.0, weight, &format!("host-{host}")))
        .map_err(|e| e.to_string())?;
    Ok(Some(crush))
}

fn on_beacon(monitor: &Monitor, state: &MonState, id: OsdId, beacon: &OsdBeacon) {
    let osd = state.osdmap().osd(id).filter(|osd| osd.is_up());
    // A beacon of an earlier life must not keep a new one alive, nor one that is down in the map.
    if osd.is_some_and(|osd| osd.uuid == uuid(&beacon.osd_uuid)) {
        monitor.liveness.lock().heard_from(id, Instant::now());
    } else {
        debug!(osd = %id, "beacon of an OSD that is not up");
    }
}

fn on_failure(monitor: &Monitor, state: &MonState, reporter: OsdId, report: &OsdFailureReport) {
    let (map, failed) = (state.osdmap(), OsdId(report.failed_osd));
    let Some(osd) = map.osd(failed).filter(|osd| osd.is_up()) else { return };
    // A reporter that is itself down does not know what it says; reports of an earlier life are void.
    let same_life = report.failed_addrs.is_empty()
        || decode_all::<EntityAddrVec>(&report.failed_addrs).is_ok_and(|addrs| {
            addrs == osd.client_addrs || addrs == osd.cluster_addrs || addrs == osd.heartbeat_back_addrs
        });
    if !map.is_up(reporter) || failed == reporter || !same_life {
        return;
    }
    debug!(osd = %failed, %reporter, for_ms = report.failed_for_ms, immediate = report.immediate, "failure reported");
    let mut liveness = monitor.liveness.lock();
    if report.recovered {
        liveness.withdraw(failed, reporter);
        return;
    }
    liveness.report(failed, reporter, Instant::now());
    if report.immediate {
        // Its port refuses connections: the process is gone, and a second witness would say the same.
        liveness.condemn(failed);
    }
    drop(liveness);
    monitor.core.propose(tick::liveness_work(monitor.shared()));
}

fn on_down(monitor: &Monitor, session: Arc<SessionShared>, id: OsdId, down: OsdDown) {
    let (liveness, options) = (monitor.liveness.clone(), monitor.options.clone());
    monitor.core.propose(Box::new(move |draft| {
        let map = draft.state.osdmap();
        let same_life = map.osd(id).is_some_and(|osd| osd.is_up() && osd.uuid == uuid(&down.osd_uuid));
        let mut changes = Vec::new();
        if same_life && !tick::is_kept_up(map, id) {
            changes.extend(osd_step::step(map, draft.now, |inc| {
                inc.mark_down(map, id);
            }));
            let text = format!("osd.{id} marked itself down and dead");
            changes.push(cluster_log::line(draft.state, &options, draft.now, LogLevel::INFO, &text));
        }
        liveness.lock().forget(id);
        info!(osd = %id, "OSD is stopping");
        let then = move |state: &MonState| {
            let map_epoch = state.osdmap().epoch().0;
            session.send(&OsdDownAck { osd_id: id.0, map_epoch }, Tid(0));
        };
        Outcome { changes, then: Box::new(then) }
    }));
}

fn on_alive(monitor: &Monitor, id: OsdId, alive: &OsdAlive) {
    let want = Epoch(alive.want_up_thru);
    monitor.core.propose(Box::new(move |draft| {
        let map = draft.state.osdmap();
        let later = map.osd(id).is_some_and(|osd| osd.is_up() && osd.info.up_thru < want);
        let step = || {
            osd_step::step(map, draft.now, |inc| {
                inc.new_up_thru.insert(id, want);
            })
        };
        let changes = if later && want <= map.epoch() { step().into_iter().collect() } else { vec![] };
        Outcome::silent(changes)
    }));
}
