//! Inputs of operations as an OSD reads them: views of the message's data segment. Every function takes the
//! operation and fails with [`DecodeError`] if the input is not what the operation's code promises, which an
//! OSD answers with EINVAL.

use bytes::Bytes;
use sepiola_wire::{Cookie, Decode, DecodeError, HObject, ObjectLocator, Reader};

use super::OpRef;

/// Name and value of an xattr operation.
pub fn xattr<'a>(op: &OpRef<'a>) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
    let args = op.args.xattr();
    let r = &mut Reader::new(op.input);
    Ok((r.bytes(args.name_len as usize)?, r.bytes(args.value_len as usize)?))
}

/// The name of a getxattr or rmxattr, whose value length means nothing.
pub fn xattr_name<'a>(op: &OpRef<'a>) -> Result<&'a [u8], DecodeError> {
    Reader::new(op.input).bytes(op.args.xattr().name_len as usize)
}

/// A method call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClsCall<'a> {
    /// The class.
    pub class: &'a [u8],
    /// The method.
    pub method: &'a [u8],
    /// Its argument.
    pub input: &'a [u8],
}

/// The parts of a call.
pub fn call<'a>(op: &OpRef<'a>) -> Result<ClsCall<'a>, DecodeError> {
    let args = op.args.cls();
    let r = &mut Reader::new(op.input);
    Ok(ClsCall {
        class: r.bytes(args.class_len.into())?,
        method: r.bytes(args.method_len.into())?,
        input: r.bytes(args.input_len as usize)?,
    })
}

/// What an omap listing asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OmapList<'a> {
    /// Keys behind this one.
    pub start_after: &'a [u8],
    /// At most so many.
    pub max: u64,
    /// Only keys with this prefix; empty when listing keys.
    pub prefix: &'a [u8],
}

/// The input of omap-get-keys.
pub fn omap_get_keys<'a>(op: &OpRef<'a>) -> Result<OmapList<'a>, DecodeError> {
    let r = &mut Reader::new(op.input);
    Ok(OmapList { start_after: r.blob()?, max: r.u64()?, prefix: &[] })
}

/// The input of omap-get-vals.
pub fn omap_get_vals<'a>(op: &OpRef<'a>) -> Result<OmapList<'a>, DecodeError> {
    let r = &mut Reader::new(op.input);
    Ok(OmapList { start_after: r.blob()?, max: r.u64()?, prefix: r.blob()? })
}

/// Reads `count` items to check them, and gives an iterator that reads them again.
fn checked<'a, T>(
    input: &'a [u8],
    min_size: usize,
    item: fn(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Items<'a, T>, DecodeError> {
    let mut r = Reader::new(input);
    let left = r.count(min_size)?;
    let items = Items { reader: r.clone(), left, item };
    for _ in 0..left {
        item(&mut r)?;
    }
    Ok(items)
}

/// Items of a list in an input. They were checked when the list was opened.
#[derive(Debug, Clone)]
pub struct Items<'a, T> {
    reader: Reader<'a>,
    left: usize,
    item: fn(&mut Reader<'a>) -> Result<T, DecodeError>,
}

impl<T> Iterator for Items<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        (self.item)(&mut self.reader).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Items<'_, T> {}

fn key<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    r.blob()
}

fn entry<'a>(r: &mut Reader<'a>) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
    Ok((r.blob()?, r.blob()?))
}

/// An omap key and its value.
pub type OmapEntry<'a> = (&'a [u8], &'a [u8]);

/// A key, the value to compare with, and the comparison's number.
pub type OmapCmp<'a> = (&'a [u8], &'a [u8], i32);

fn comparison<'a>(r: &mut Reader<'a>) -> Result<OmapCmp<'a>, DecodeError> {
    Ok((r.blob()?, r.blob()?, r.i32()?))
}

/// The keys of omap-get-vals-by-keys and omap-rm-keys.
pub fn omap_keys<'a>(op: &OpRef<'a>) -> Result<Items<'a, &'a [u8]>, DecodeError> {
    checked(op.input, 4, key)
}

/// The entries of omap-set-vals.
pub fn omap_entries<'a>(op: &OpRef<'a>) -> Result<Items<'a, OmapEntry<'a>>, DecodeError> {
    checked(op.input, 8, entry)
}

/// The comparisons of omap-cmp.
pub fn omap_cmp<'a>(op: &OpRef<'a>) -> Result<Items<'a, OmapCmp<'a>>, DecodeError> {
    checked(op.input, 12, comparison)
}

/// First and (exclusive) last key of omap-rm-range.
pub fn omap_rm_range<'a>(op: &OpRef<'a>) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
    entry(&mut Reader::new(op.input))
}

/// A notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notify<'a> {
    /// Seconds that watchers have.
    pub timeout: u32,
    /// What they are told.
    pub payload: &'a [u8],
}

/// The input of notify.
pub fn notify<'a>(op: &OpRef<'a>) -> Result<Notify<'a>, DecodeError> {
    let r = &mut Reader::new(op.input);
    r.u32()?;
    Ok(Notify { timeout: r.u32()?, payload: r.blob()? })
}

/// An answer to a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotifyAck<'a> {
    /// The notification.
    pub notify_id: u64,
    /// The watch.
    pub cookie: Cookie,
    /// The answer.
    pub reply: &'a [u8],
}

/// The input of notify-ack.
pub fn notify_ack<'a>(op: &OpRef<'a>) -> Result<NotifyAck<'a>, DecodeError> {
    let r = &mut Reader::new(op.input);
    let (notify_id, cookie) = (r.u64()?, Cookie(r.u64()?));
    // Old clients leave the answer out.
    let reply = if r.is_empty() { &[] } else { r.blob()? };
    Ok(NotifyAck { notify_id, cookie, reply })
}

/// The cursor of pgls and pgnls.
pub fn list_cursor(op: &OpRef<'_>) -> Result<HObject, DecodeError> {
    HObject::decode(&mut Reader::new(op.input))
}

/// Which objects a filtered listing is about: those with this attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListFilter<'a> {
    /// The filter's name: `plain`, or `CLASS.NAME` of one that a class brings along.
    pub kind: &'a [u8],
    /// The attribute as OSDs store it: `_` and the name that clients know.
    pub attribute: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
}

/// The filter and the cursor of pgls-filter and pgnls-filter, for filters that compare an attribute.
pub fn list_filter<'a>(op: &OpRef<'a>) -> Result<(ListFilter<'a>, HObject), DecodeError> {
    let r = &mut Reader::new(op.input);
    // A class and a method, as if it were a call; always these.
    if (r.blob()?, r.blob()?) != (b"pg", b"filter") {
        return Err(DecodeError::Invalid("not a listing filter"));
    }
    let filter = ListFilter { kind: r.blob()?, attribute: r.blob()?, value: r.blob()? };
    Ok((filter, HObject::decode(r)?))
}

/// The source of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopySource {
    /// Its name.
    pub oid: Bytes,
    /// Its place.
    pub locator: ObjectLocator,
    /// Truncation (sequence, size) that copy-from2 may carry.
    pub truncate: Option<(u32, u64)>,
}

/// Flag of copy-from2: the input ends with a truncation.
const COPY_FROM_TRUNCATE_SEQ: u8 = 0x20;

/// The input of copy-from and copy-from2.
pub fn copy_from(op: &OpRef<'_>) -> Result<CopySource, DecodeError> {
    let r = &mut Reader::new(op.input);
    let (oid, locator) = (Bytes::decode(r)?, ObjectLocator::decode(r)?);
    let truncate = if op.args.copy_from().flags & COPY_FROM_TRUNCATE_SEQ != 0 {
        Some((r.u32()?, r.u64()?))
    } else {
        None
    };
    Ok(CopySource { oid, locator, truncate })
}
