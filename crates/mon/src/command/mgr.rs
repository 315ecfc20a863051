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
        help: "which manager is active; there is none",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| {
            cx.document(&json!({"epoch": 1, "available": false, "active_name": "", "num_standby": 0}))
        }),
    },
    Command {
        words: "mgr services",
        args: &[],
        help: "where managers serve; there are none",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!({}))),
    },
    Command {
        words: "mgr metadata",
        args: &[opt("who", Kind::Text)],
        help: "what managers tell of themselves; there are none",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!([]))),
    },
    Command {
        words: "mgr versions",
        args: &[],
        help: "how many managers run which version; there are none",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!({}))),
    },
    Command {
        words: "mgr count-metadata",
        args: &[req("property", Kind::Text)],
        help: "how many managers have which value of a property; there are none",
        module: "mgr",
        perm: "r",
        run: Run::Read(|cx, _| cx.document(&json!({}))),
    },
];
