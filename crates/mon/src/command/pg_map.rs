//! `pg map`: where a pg is.

use sepiola_wire::{Errno, PgId, PoolId};
use serde_json::json;

use super::{
    Command, Context, Reply, Run,
    format::numbers,
    pg_list::set,
    signature::{Args, Kind, req},
};

pub(super) const COMMANDS: &[Command] = &[Command {
    words: "pg map",
    args: &[req("pgid", Kind::Pg)],
    help: "OSDs that a pg is on",
    module: "pg",
    perm: "r",
    run: Run::Read(map),
}];

fn map(cx: &Context<'_>, args: &Args) -> Reply {
    let (map, raw) = (cx.state.osdmap(), args.pg("pgid").unwrap_or(PgId::new(PoolId(-1), 0)));
    let Some(id) = map.fold_pg(raw) else {
        return Reply::error(Errno::ENOENT, format!("pg '{raw}' does not exist"));
    };
    let placed = map.pg_to_up_acting(id);
    if !cx.plain() {
        let found = json!({
            "epoch": map.epoch().0,
            "raw_pgid": raw.to_string(),
            "pgid": id.to_string(),
            "up": numbers(&placed.up),
            "acting": numbers(&placed.acting),
        });
        return cx.json(&found, true);
    }
    Reply::output(format!(
        "osdmap e{} pg {raw} ({id}) -> up {} acting {}\n",
        map.epoch(),
        set(&placed.up),
        set(&placed.acting)
    ))
}
