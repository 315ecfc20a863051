//! `export`.

use std::io::{BufWriter, Write};

use bytes::Bytes;
use sepiola_client::{IoCtx, ListedObject};
use sepiola_wire::{Encode, Features, Put};

use super::{
    super::{copy::at, open_output, text::failed},
    format::{Kind, Writer, put_object},
};
use crate::{failure::CmdResult, progress::Progress};

/// Bytes of a section of data, and omap entries of one.
const CHUNK: u64 = 4 << 20;
const OMAP_PAGE: u64 = 512;

/// Writes all objects of all namespaces to `file`, or to standard output.
pub async fn export(io: &IoCtx, file: Option<&[u8]>) -> CmdResult {
    let mut out = Writer::new(BufWriter::new(open_output(file.unwrap_or(b"-"))?))?;
    out.mark(Kind::PoolBegin)?;
    let progress = Progress::counting("objects exported");
    let mut objects = io.list_all_namespaces();
    while let Some(object) = objects.next().await? {
        write_object(&mut out, &at(io, &object), &object).await?;
        progress.add(1);
    }
    progress.finish();
    out.mark(Kind::PoolEnd)?;
    Ok(out.flush()?)
}

async fn write_object<W: Write>(out: &mut Writer<W>, io: &IoCtx, object: &ListedObject) -> CmdResult {
    let oid = &object.name;
    out.section(Kind::ObjectBegin, 2, |out| put_object(out, &object.namespace, &object.locator_key, oid))?;
    let mut offset = 0;
    loop {
        let data = io.read(oid, offset..offset + CHUNK).await.map_err(failed("reading", io, oid))?;
        let len = data.len() as u64;
        if len > 0 {
            out.section(Kind::Data, 1, |out| {
                out.put_u64(offset);
                out.put_u64(len);
                out.put_blob(&data);
            })?;
        }
        offset += len;
        if len < CHUNK {
            break;
        }
    }
    let attrs = io.get_xattrs(oid).await.map_err(failed("getting xattr set", io, oid))?;
    // User attributes are told from an OSD's own ones by an underscore.
    let attrs: Vec<(Bytes, Bytes)> =
        attrs.into_iter().map(|(name, value)| ([b"_", &name[..]].concat().into(), value)).collect();
    out.section(Kind::Attrs, 1, |out| attrs.encode(out, Features::SUPPORTED))?;
    let header = io.omap_get_header(oid).await.map_err(failed("getting omap header", io, oid))?;
    out.section(Kind::OmapHeader, 1, |out| out.put_blob(&header))?;
    let mut last = Bytes::new();
    loop {
        let page = io.omap_get_page(oid, &last, b"", OMAP_PAGE).await;
        let page = page.map_err(failed("getting omap keys", io, oid))?;
        let Some((key, _)) = page.entries.last() else { break };
        last = key.clone();
        out.section(Kind::Omap, 1, |out| page.entries.encode(out, Features::SUPPORTED))?;
        if !page.more {
            break;
        }
    }
    Ok(out.mark(Kind::ObjectEnd)?)
}
