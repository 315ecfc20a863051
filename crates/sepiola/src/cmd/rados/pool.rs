//! lspools, mkpool, rmpool, ls and df.

use std::io::Write;

use futures_util::StreamExt;
use sepiola_client::{IoCtx, Namespace, Rados};

use super::{RadosArgs, open_output};
use crate::{
    cli::Format,
    failure::{CmdResult, Failure},
    number::human_bytes,
};

pub async fn list(rados: &Rados, format: Format) -> CmdResult {
    let pools = rados.list_pools().await?;
    if format.is_json() {
        format.print(&serde_json::json!(pools.iter().map(|p| &p.name).collect::<Vec<_>>()));
        return Ok(());
    }
    for pool in pools {
        println!("{}", pool.name);
    }
    Ok(())
}

pub async fn create(rados: &Rados, name: &str, pgs: Option<u32>) -> CmdResult {
    rados
        .create_pool(name, pgs)
        .await
        .map_err(|e| Failure::from(e).context(format_args!("error creating pool {name}")))?;
    println!("successfully created pool {name}");
    Ok(())
}

pub async fn remove(rados: &Rados, name: &str) -> CmdResult {
    rados
        .delete_pool(name)
        .await
        .map_err(|e| Failure::from(e).context(format_args!("error deleting pool {name}")))?;
    println!("successfully deleted pool {name}");
    Ok(())
}

/// One name a line; with a namespace column where all are listed, and the key where there is one.
pub async fn objects(io: &IoCtx, args: &RadosArgs, file: &str) -> CmdResult {
    let io = if args.all { io.clone().with_listing(Namespace::All) } else { io.clone() };
    let mut out = std::io::BufWriter::new(open_output(file)?);
    let mut objects = std::pin::pin!(io.list_objects());
    let mut items = Vec::new();
    while let Some(object) = objects.next().await {
        let object = object?;
        if args.format.is_json() {
            items.push(serde_json::json!({
                "namespace": String::from_utf8_lossy(&object.nspace),
                "name": String::from_utf8_lossy(&object.name),
            }));
            continue;
        }
        if args.all {
            out.write_all(&object.nspace)?;
            out.write_all(b"\t")?;
        }
        out.write_all(&object.name)?;
        if !object.locator.is_empty() {
            out.write_all(b"\t")?;
            out.write_all(&object.locator)?;
        }
        out.write_all(b"\n")?;
    }
    if args.format.is_json() {
        writeln!(out, "{}", serde_json::Value::from(items))?;
    }
    Ok(out.flush()?)
}

/// Usage of every pool and of the cluster.
pub async fn usage(rados: &Rados, format: Format) -> CmdResult {
    let pools = rados.pool_stats().await?;
    let cluster = rados.cluster_stat().await?;
    if format.is_json() {
        let rows: Vec<_> = pools
            .iter()
            .map(|p| {
                serde_json::json!({
                    "name": p.name, "id": p.id.0.to_string(), "size_bytes": p.bytes.to_string(),
                    "size_kb": p.bytes.div_ceil(1024).to_string(), "num_objects": p.objects.to_string(),
                    "num_object_clones": "0", "num_object_copies": p.copies.to_string(),
                    "num_objects_missing_on_primary": "0", "num_objects_unfound": "0", "num_objects_degraded": "0",
                    "read_ops": p.reads.to_string(), "read_bytes": (p.read_kb * 1024).to_string(),
                    "write_ops": p.writes.to_string(), "write_bytes": (p.written_kb * 1024).to_string(),
                })
            })
            .collect();
        format.print(&serde_json::json!({
            "pools": rows,
            "total_objects": cluster.objects.to_string(), "total_used": cluster.kb_used.to_string(),
            "total_avail": cluster.kb_avail.to_string(), "total_space": cluster.kb.to_string(),
        }));
        return Ok(());
    }
    let header = [
        "POOL_NAME", "USED", "OBJECTS", "CLONES", "COPIES", "MISSING_ON_PRIMARY", "UNFOUND", "DEGRADED", "RD_OPS",
        "RD", "WR_OPS", "WR", "USED COMPR", "UNDER COMPR",
    ];
    let rows = pools.iter().map(|p| {
        vec![
            p.name.clone(),
            human_bytes(p.bytes),
            p.objects.to_string(),
            "0".into(),
            p.copies.to_string(),
            "0".into(),
            "0".into(),
            "0".into(),
            p.reads.to_string(),
            human_bytes(p.read_kb * 1024),
            p.writes.to_string(),
            human_bytes(p.written_kb * 1024),
            "0 B".into(),
            "0 B".into(),
        ]
    });
    print_table(&header, &rows.collect::<Vec<_>>());
    println!("\ntotal_objects    {}", cluster.objects);
    println!("total_used       {}", human_bytes(cluster.kb_used * 1024));
    println!("total_avail      {}", human_bytes(cluster.kb_avail * 1024));
    println!("total_space      {}", human_bytes(cluster.kb * 1024));
    Ok(())
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
            .map(|(i, (cell, width))| if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") })
            .collect::<Vec<_>>()
            .join("  ")
    };
    println!("{}", line(header));
    for row in rows {
        println!("{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}
