//! `mgr`: there is no manager, and this is how a cluster without one answers.

use serde_json::json;

use super::{
    Command, Run,
    signature::{Kind, opt, req},
};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: "mgr stat",
        args: &[],
        help: "dump basic info about the mgr cluster state",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| {
            cx.document(&json!({"epoch": 1, "available": false, "active_name": "", "num_standby": 0}))
        }),
    },
    Command {
        words: "mgr services",
        args: &[],
        help: "list service endpoints provided by mgr modules",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!({}))),
    },
    Command {
        words: "mgr metadata",
        args: &[opt("who", Kind::Text)],
        help: "dump metadata for all daemons or a specific daemon",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!([]))),
    },
    Command {
        words: "mgr versions",
        args: &[],
        help: "check running versions of ceph-mgr daemons",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!({}))),
    },
    Command {
        words: "mgr count-metadata",
        args: &[req("property", Kind::Text)],
        help: "count ceph-mgr daemons by metadata field property",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!({}))),
    },
];
