//! Reading and comparing omap entries. Like data, they are those from before the message.

use std::cmp::Ordering;

use bytes::Bytes;
use sepiola_messages::osd_op::{
    OpRef,
    input::{self, OmapList},
    output::ListWriter,
};
use sepiola_objectstore::{OmapPage, OmapQuery};
use sepiola_wire::{DecodeError, Errno, Put};

use super::{Execution, Failure, OpResult};

/// Input that does not parse is the client's mistake.
pub(super) fn invalid(_: DecodeError) -> Failure {
    Errno::EINVAL.into()
}

fn page(x: &Execution<'_, '_>, list: OmapList<'_>, keys_only: bool) -> Result<OmapPage, Failure> {
    let max_entries = usize::try_from(list.max).unwrap_or(usize::MAX).min(x.limits.max_omap_entries);
    let max_bytes = x.limits.max_omap_bytes.min(x.limits.max_reply / 2);
    let query = OmapQuery { after: list.start_after, prefix: list.prefix, max_entries, max_bytes, keys_only };
    let page = x.stored(|store, pg, object| store.omap_range(pg, object, query))?;
    x.reserve_output(encoded_size(&page.entries))?;
    Ok(page)
}

/// An upper bound of what entries take in a reply.
fn encoded_size(entries: &[(Bytes, Bytes)]) -> u64 {
    entries.iter().map(|(key, value)| (key.len() + value.len() + 8) as u64).sum()
}

pub(super) fn keys<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let list = input::omap_get_keys(op).map_err(invalid)?;
    x.require()?;
    let page = page(x, list, true)?;
    x.out.encode(|out| {
        let mut list = ListWriter::new(out);
        page.entries.iter().for_each(|(key, _)| list.key(key));
        list.finish_with_more(page.more);
    });
    Ok(0)
}

pub(super) fn values<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let list = input::omap_get_vals(op).map_err(invalid)?;
    x.require()?;
    let page = page(x, list, false)?;
    x.out.encode(|out| {
        let mut list = ListWriter::new(out);
        page.entries.iter().for_each(|(key, value)| list.entry(key, value));
        list.finish_with_more(page.more);
    });
    Ok(0)
}

pub(super) fn values_by_keys<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    let mut keys: Vec<&[u8]> = input::omap_keys(op).map_err(invalid)?.collect();
    x.require()?;
    // A set on the wire; sorting and deduplicating also holds for clients that send a list.
    keys.sort_unstable();
    keys.dedup();
    let mut found = Vec::new();
    for key in keys {
        if let Some(value) = x.stored(|store, pg, object| store.omap_get(pg, object, key))? {
            found.push((Bytes::copy_from_slice(key), value));
        }
    }
    x.reserve_output(encoded_size(&found))?;
    x.out.encode(|out| {
        let mut list = ListWriter::new(out);
        found.iter().for_each(|(key, value)| list.entry(key, value));
        list.finish();
    });
    Ok(0)
}

pub(super) fn header(x: &mut Execution<'_, '_>) -> OpResult {
    x.require()?;
    let header = x.stored(|store, pg, object| store.omap_header(pg, object))?;
    x.reserve_output(header.len() as u64)?;
    x.out.encode(|out| out.put(&header));
    Ok(0)
}

/// Every assertion `stored OP operand` must hold; a missing key compares as empty.
pub(super) fn compare<'a>(x: &mut Execution<'a, '_>, op: &OpRef<'a>) -> OpResult {
    x.require()?;
    for (key, operand, comparison) in input::omap_cmp(op).map_err(invalid)? {
        let wanted = match comparison {
            1 => Ordering::Equal,
            3 => Ordering::Greater,
            5 => Ordering::Less,
            _ => return Err(Errno::EINVAL.into()),
        };
        let stored = x.stored(|store, pg, object| store.omap_get(pg, object, key))?.unwrap_or_default();
        if stored.as_ref().cmp(operand) != wanted {
            return Err(Errno::ECANCELED.into());
        }
    }
    Ok(0)
}
