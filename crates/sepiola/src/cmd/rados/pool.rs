//! lspools, mkpool, rmpool, ls and df.

use std::{io::Write, os::unix::ffi::OsStrExt};

use sepiola_client::{IoCtx, ListedObject, PoolStat, Rados};
use sepiola_config::units;
use sepiola_wire::{HObject, PgId};

use super::{RadosArgs, open_output, pgid};
use crate::{
    cli::Format,
    failure::{CmdResult, Failure},
};

pub async fn list(rados: &Rados, format: Format) -> CmdResult {
    let pools = rados.list_pools().await?;
    if format.is_json() {
        format.print(&serde_json::json!(pools.iter().map(|p| &p.name).collect::<Vec<_>>()));
        return Ok(());
    }
    for pool in pools {
        say!("{}", pool.name);
    }
    Ok(())
}

pub async fn create(rados: &Rados, name: &str, pgs: Option<u32>) -> CmdResult {
    let created = match pgs {
        None => rados.create_pool(name).await.map(drop),
        Some(pgs) => {
            let command = serde_json::json!({ "prefix": "osd pool create", "pool": name, "pg_num": pgs });
            rados.mon_command(command.to_string(), "").await.map(drop)
        }
    };
    created.map_err(|e| Failure::from(e).context(format_args!("error creating pool {name}")))?;
    say!("successfully created pool {name}");
    Ok(())
}

pub async fn remove(rados: &Rados, name: &str) -> CmdResult {
    rados
        .delete_pool(name)
        .await
        .map_err(|e| Failure::from(e).context(format_args!("error deleting pool {name}")))?;
    say!("successfully deleted pool {name}");
    Ok(())
}

/// The namespace that stands for all of them in listings.
const ALL_NAMESPACES: &[u8] = b"\x01";

/// One name a line; with a namespace column where all are listed, and the key where there is one.
pub async fn objects(io: &IoCtx, args: &RadosArgs) -> CmdResult {
    let mut out = std::io::BufWriter::new(match &args.output {
        Some(file) => open_output(file.as_os_str().as_bytes())?,
        None => open_output(b"-")?,
    });
    let all = args.all && !args.default && args.namespace.is_none();
    let mut listed = io.clone();
    if all {
        listed.set_namespace(ALL_NAMESPACES);
    }
    let pgid = pgid(args)?;
    let mut objects = match pgid {
        // A pg's objects stand together in the order of listings, behind the smallest hash that falls into it.
        Some(pg) => listed.list_from(HObject { hash: pg.ps, pool: pg.pool, ..HObject::min() }),
        None => listed.list(),
    };
    let mut items = Vec::new();
    while let Some(object) = objects.next().await? {
        if let Some(pg) = pgid
            && place_of(io, &object) != Some(pg)
        {
            break;
        }
        if args.format.is_json() {
            let mut item = serde_json::json!({
                "namespace": String::from_utf8_lossy(&object.namespace),
                "name": String::from_utf8_lossy(&object.name),
            });
            if !object.locator_key.is_empty() {
                item["locator"] = String::from_utf8_lossy(&object.locator_key).into();
            }
            items.push(item);
            continue;
        }
        if all {
            out.write_all(&object.namespace)?;
            out.write_all(b"\t")?;
        }
        out.write_all(&object.name)?;
        if !object.locator_key.is_empty() {
            out.write_all(b"\t")?;
            out.write_all(&object.locator_key)?;
        }
        out.write_all(b"\n")?;
    }
    if args.format.is_json() {
        writeln!(out, "{}", args.format.text(&items.into()))?;
    }
    Ok(out.flush()?)
}

/// The pg that an object is in.
fn place_of(io: &IoCtx, object: &ListedObject) -> Option<PgId> {
    let map = io.rados().osdmap();
    map.object_to_pg(io.pool_id(), &object.name, &object.locator_key, &object.namespace)
}

/// Usage of every pool and of the cluster.
pub async fn usage(rados: &Rados, args: &RadosArgs) -> CmdResult {
    let format = args.format;
    let cluster = rados.cluster_stat().await?;
    let mut rows = Vec::new();
    let mut pools = rados.list_pools().await?;
    pools.sort_by(|a, b| a.name.cmp(&b.name));
    for pool in pools.into_iter().filter(|p| args.pool.as_ref().is_none_or(|only| *only == p.name)) {
        // A cluster without a manager has no statistics to show.
        let stat = match rados.pool_stat(&pool.name).await {
            Ok(stat) => stat,
            Err(sepiola_client::Error::NoSuchPool(_)) => continue,
            Err(other) => return Err(other.into()),
        };
        let (sum, used) = (&stat.sum, used(&stat));
        let bytes = |kib: i64| units::bytes(kib.max(0) as u64 * 1024);
        rows.push(if format.is_json() {
            Row::Json(serde_json::json!({
                "name": pool.name, "id": pool.id.0, "size_bytes": used,
                "size_kb": used.div_ceil(1024),
                "num_objects": sum.num_objects, "num_object_clones": sum.num_object_clones,
                "num_object_copies": sum.num_object_copies,
                "num_objects_missing_on_primary": sum.num_objects_missing_on_primary,
                "num_objects_unfound": sum.num_objects_unfound,
                "num_objects_degraded": sum.num_objects_degraded,
                "read_ops": sum.num_rd, "read_bytes": sum.num_rd_kb * 1024,
                "write_ops": sum.num_wr, "write_bytes": sum.num_wr_kb * 1024,
                "compress_bytes_used": 0, "compress_under_bytes": 0,
            }))
        } else {
            Row::Plain(vec![
                pool.name,
                units::bytes(used),
                sum.num_objects.to_string(),
                sum.num_object_clones.to_string(),
                sum.num_object_copies.to_string(),
                sum.num_objects_missing_on_primary.to_string(),
                sum.num_objects_unfound.to_string(),
                sum.num_objects_degraded.to_string(),
                sum.num_rd.to_string(),
                bytes(sum.num_rd_kb),
                sum.num_wr.to_string(),
                bytes(sum.num_wr_kb),
                "0 B".to_owned(),
                "0 B".to_owned(),
            ])
        });
    }
    if format.is_json() {
        let pools: Vec<_> =
            rows.into_iter().filter_map(|r| if let Row::Json(v) = r { Some(v) } else { None }).collect();
        format.print(&serde_json::json!({
            "pools": pools, "total_objects": cluster.num_objects,
            "total_used": cluster.kb_used, "total_avail": cluster.kb_avail,
            "total_space": cluster.kb,
        }));
        return Ok(());
    }
    let rows: Vec<_> =
        rows.into_iter().filter_map(|r| if let Row::Plain(v) = r { Some(v) } else { None }).collect();
    let header = [
        "POOL_NAME",
        "USED",
        "OBJECTS",
        "CLONES",
        "COPIES",
        "MISSING_ON_PRIMARY",
        "UNFOUND",
        "DEGRADED",
        "RD_OPS",
        "RD",
        "WR_OPS",
        "WR",
        "USED COMPR",
        "UNDER COMPR",
    ];
    print_table(&header, &rows);
    say!("\ntotal_objects    {}", cluster.num_objects);
    say!("total_used       {}", units::bytes(cluster.kb_used * 1024));
    say!("total_avail      {}", units::bytes(cluster.kb_avail * 1024));
    say!("total_space      {}", units::bytes(cluster.kb * 1024));
    Ok(())
}

/// What a pool takes, in bytes: as its stores tell it, where they keep count by pool; else what its objects
/// hold.
fn used(stat: &PoolStat) -> u64 {
    match stat.store.allocated {
        0 => (stat.sum.num_bytes + stat.sum.num_omap_bytes).max(0) as u64,
        data => (data + stat.store.omap_allocated).max(0) as u64,
    }
}

enum Row {
    Json(serde_json::Value),
    Plain(Vec<String>),
}

/// Columns two blanks apart; the first is flush left, the others right.
fn print_table(header: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        rows.iter().map(|r| r[column].len()).chain([header[column].len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let cells = cells.iter().zip(&widths).enumerate();
        cells
            .map(
                |(i, (cell, width))| {
                    if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect::<Vec<_>>()
            .join("  ")
    };
    say!("{}", line(header));
    for row in rows {
        say!("{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}
