//! The options that Sepiola honours. Names and meanings are Ceph's; a default that differs says why.

/// What a value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionKind {
    /// Any text.
    Text,
    /// Text that is shown to nobody.
    Secret,
    /// true or false.
    Bool,
    /// A count or a size in bytes.
    UInt,
    /// Seconds.
    Seconds,
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    /// The name with underscores.
    pub name: &'static str,
    /// The form of its value.
    pub kind: OptionKind,
    /// The built-in value.
    pub default: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// True if a running process follows a change; others note it for their next start.
    pub runtime: bool,
}

use OptionKind::{Bool, Seconds, Secret, Text, UInt};

const fn option(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    about: &'static str,
) -> OptionInfo {
    OptionInfo { name, kind, default, about, runtime: false }
}

/// An option that running processes follow.
const fn live(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    about: &'static str,
) -> OptionInfo {
    OptionInfo { name, kind, default, about, runtime: true }
}

/// Every option, sorted by name.
pub const OPTIONS: &[OptionInfo] = &[
    option("admin_socket", Text, "", "where the daemon answers `ceph daemon`; nowhere if empty"),
    option(
        "auth_allow_insecure_global_id_reclaim",
        Bool,
        "false",
        "never honoured: reclaim needs the old ticket",
    ),
    option("auth_client_required", Text, "cephx", "methods that clients offer and accept"),
    option("auth_cluster_required", Text, "cephx", "methods between daemons"),
    option("auth_mon_ticket_ttl", Seconds, "259200", "life of the monitors' own tickets"),
    option("auth_service_required", Text, "cephx", "methods that services ask of clients"),
    option("auth_service_ticket_ttl", Seconds, "3600", "life of service tickets"),
    option("client_mount_timeout", Seconds, "10", "limit on connecting; Ceph's 300 reads as a hang"),
    option("crypto_engine", Text, "auto", "auto, aws-lc, ring or rustcrypto"),
    live("debug_auth", Text, "1/5", "log level of authentication, 0 to 20"),
    option("debug_crypto_context", Text, "cached", "cached, or per-message to show what caching is worth"),
    live("debug_mon", Text, "1/5", "log level of the monitor, 0 to 20"),
    live("debug_monc", Text, "1/5", "log level of monitor sessions, 0 to 20"),
    live("debug_ms", Text, "0/0", "log level of the messenger, 0 to 20"),
    live("debug_objecter", Text, "1/5", "log level of the client, 0 to 20"),
    live("debug_objectstore", Text, "1/5", "log level of the object store, 0 to 20"),
    live("debug_osd", Text, "1/5", "log level of the OSD, 0 to 20"),
    option("fsid", Text, "", "the cluster's UUID"),
    option("host", Text, "", "the short host name"),
    option("key", Secret, "", "the key itself, in base64; before keyfile and keyring"),
    option("keyfile", Text, "", "a file that holds nothing but the key; before keyring"),
    option(
        "keyring",
        Text,
        "/etc/ceph/$cluster.$name.keyring,/etc/ceph/$cluster.keyring,/etc/ceph/keyring,/etc/ceph/keyring.bin",
        "where keys are looked for; the first file that exists wins",
    ),
    option("log_file", Text, "", "where logs go; standard error if empty"),
    live("log_to_file", Bool, "true", "whether log_file is written"),
    live("log_to_stderr", Bool, "false", "whether logs go to standard error although there is a log_file"),
    option("memstore_device_bytes", UInt, "1073741824", "bytes that the OSD's store in memory may hold"),
    live("mon_allow_pool_delete", Bool, "false", "whether pools may be deleted"),
    option("mon_client_hunt_interval", Seconds, "3", "time given to one round of monitors"),
    option("mon_client_ping_interval", Seconds, "10", "time between keepalives to the monitor"),
    option("mon_client_ping_timeout", Seconds, "30", "silence after which a monitor is dropped"),
    option("mon_data", Text, "/var/lib/ceph/mon/$cluster-$id", "the monitor's folder"),
    option("mon_globalid_prealloc", UInt, "10000", "global ids that the monitor reserves at a time"),
    option("mon_host", Text, "", "the monitors' addresses"),
    option("mon_max_pool_pg_num", UInt, "65536", "the most placement groups that a pool may have"),
    live(
        "mon_osd_min_down_reporters",
        UInt,
        "2",
        "how many OSDs must report one that does not answer, where that many others are up",
    ),
    live(
        "mon_osd_report_timeout",
        Seconds,
        "4",
        "silence after which an OSD is down; beacons come each second",
    ),
    option("ms_client_mode", Text, "crc secure", "connection modes, clients with other daemons"),
    option("ms_cluster_mode", Text, "crc secure", "connection modes between daemons"),
    option("ms_connection_ready_timeout", Seconds, "10", "limit on a client's handshake with an OSD"),
    option("ms_mon_client_mode", Text, "secure crc", "connection modes, clients with monitors"),
    option("ms_mon_cluster_mode", Text, "secure crc", "connection modes, daemons with monitors"),
    option("ms_mon_service_mode", Text, "secure crc", "connection modes that monitors offer to others"),
    option("ms_service_mode", Text, "crc secure", "connection modes that services allow clients"),
    option("objecter_inflight_op_bytes", UInt, "104857600", "payload bytes a client keeps in flight"),
    option("objecter_inflight_ops", UInt, "1024", "operations a client keeps in flight"),
    live(
        "osd_beacon_report_interval",
        Seconds,
        "1",
        "time between an OSD's signs of life; Ceph's 300 hide a death",
    ),
    option(
        "osd_client_message_cap",
        UInt,
        "10000",
        "requests that wait in an OSD before it reads no further",
    ),
    option(
        "osd_client_message_size_cap",
        UInt,
        "524288000",
        "bytes of requests that wait in an OSD before it reads no further",
    ),
    option(
        "osd_data",
        Text,
        "/var/lib/ceph/osd/$cluster-$id",
        "the OSD's folder, which a store in memory leaves empty",
    ),
    option("osd_failsafe_full_ratio", Text, "0.97", "part of its store that an OSD fills at most"),
    option("osd_max_attr_name_len", UInt, "100", "bytes of an attribute's name"),
    option("osd_max_attr_size", UInt, "0", "bytes of an attribute's value; 0 for no limit"),
    option("osd_max_object_name_len", UInt, "2048", "bytes of an object's name"),
    option("osd_max_object_namespace_len", UInt, "256", "bytes of a namespace"),
    option("osd_max_object_size", UInt, "134217728", "bytes of an object"),
    option("osd_max_omap_bytes_per_request", UInt, "1073741824", "omap bytes in one answer"),
    option("osd_max_omap_entries_per_request", UInt, "1024", "omap entries in one answer"),
    option("osd_max_pgls", UInt, "1024", "objects in one page of a listing"),
    option("osd_max_write_size", UInt, "90", "MiB that one request may write"),
    live("osd_mon_report_interval", Seconds, "1", "time between an OSD's statistics"),
    option("osd_objectstore", Text, "mem", "the store behind an OSD"),
    option("osd_op_complaint_time", Seconds, "30", "how long an operation waits before the log says so"),
    live("osd_pool_default_pg_num", UInt, "32", "placement groups of a new pool"),
    option("osd_pool_default_size", UInt, "1", "copies of a new pool; more than 1 is refused so far"),
    option(
        "prometheus_addr",
        Text,
        "",
        "IP:PORT where a daemon serves /metrics; port 0 takes a free one; nowhere if empty",
    ),
    option("public_addr", Text, "", "the address a daemon binds; loopback if empty"),
    live("rados_mon_op_timeout", Seconds, "10", "limit on a monitor command; 0 waits for ever"),
    live("rados_osd_op_timeout", Seconds, "30", "limit on an object operation; 0 waits for ever"),
    option("run_dir", Text, "/var/run/ceph", "folder of sockets, for other options to name"),
    option("spin_us", UInt, "0", "microseconds to spin on a socket before sleeping"),
];

/// The option with this name, in its underscore form.
pub fn option_info(name: &str) -> Option<&'static OptionInfo> {
    OPTIONS.binary_search_by(|o| o.name.cmp(name)).ok().map(|i| &OPTIONS[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_so_that_lookup_works() {
        assert!(OPTIONS.is_sorted_by(|a, b| a.name < b.name));
        for o in OPTIONS {
            assert_eq!(option_info(o.name).map(|i| i.name), Some(o.name));
        }
    }
}
