//! Message type numbers.

macro_rules! kinds {
    ($($name:ident = $value:literal, $doc:literal;)*) => {
        $(#[doc = $doc] pub const $name: u16 = $value;)*

        /// The name of a message type, for logs; `"unknown"` for types that Sepiola does not speak.
        pub fn name(kind: u16) -> &'static str {
            match kind { $($value => stringify!($name),)* _ => "unknown" }
        }
    };
}

kinds! {
    PING = 2, "Client and monitor: are you there, outside any session.";
    MON_MAP = 4, "Monitor to client: the monitor map.";
    MON_GET_MAP = 5, "Client to monitor: send the monitor map.";
    STATFS = 13, "Client to monitor: cluster or pool usage.";
    STATFS_REPLY = 14, "Monitor to client.";
    MON_SUBSCRIBE = 15, "Client to monitor: send these maps, now and as they change.";
    MON_SUBSCRIBE_ACK = 16, "Monitor to old clients.";
    AUTH = 17, "Client to monitor: renew tickets on an open session.";
    AUTH_REPLY = 18, "Monitor to client.";
    MON_GET_VERSION = 19, "Client to monitor: newest version of a map.";
    MON_GET_VERSION_REPLY = 20, "Monitor to client.";
    OSD_MAP = 41, "Monitor or OSD to anyone: OSD maps.";
    OSD_OP = 42, "Client to OSD: an operation on an object.";
    OSD_OPREPLY = 43, "OSD to client.";
    WATCH_NOTIFY = 44, "OSD to client: a notification on a watched object.";
    POOLOP_REPLY = 48, "Monitor to client.";
    POOLOP = 49, "Client to monitor: create or delete pools and snapshots.";
    MON_COMMAND = 50, "Client to monitor: a command.";
    MON_COMMAND_ACK = 51, "Monitor to client.";
    LOG = 52, "Monitor to subscribers: lines of the cluster log.";
    GET_POOL_STATS = 58, "Client to monitor: statistics of pools.";
    GET_POOL_STATS_REPLY = 59, "Monitor to client.";
    OSD_BACKOFF = 61, "OSD and client: stop or resume sending to a range.";
    CONFIG = 62, "Monitor to client: options from the cluster's configuration.";
    COMMAND = 97, "Client to a daemon: a command for just this daemon.";
    COMMAND_REPLY = 98, "Daemon to client.";
    MGR_MAP = 0x704, "Monitor to client: the manager map.";
    SEPIOLA_OSD_BOOT = 0xE001, "Sepiola's OSD to its monitor: started.";
    SEPIOLA_OSD_BEACON = 0xE002, "Sepiola's OSD to its monitor: alive.";
    SEPIOLA_OSD_STATS = 0xE003, "Sepiola's OSD to its monitor: statistics.";
    SEPIOLA_OSD_STATS_ACK = 0xE004, "Sepiola's monitor to its OSD.";
    SEPIOLA_OSD_FAILURE = 0xE005, "Sepiola's OSD to its monitor: another OSD does not answer.";
    SEPIOLA_OSD_DOWN = 0xE006, "Sepiola's OSD to its monitor: shutting down.";
    SEPIOLA_OSD_DOWN_ACK = 0xE007, "Sepiola's monitor to its OSD.";
    SEPIOLA_OSD_ALIVE = 0xE008, "Sepiola's OSD to its monitor: up_thru wanted.";
}
