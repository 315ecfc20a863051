//! `import`.

use std::{
    fmt::Write as _,
    io::{BufReader, Read},
};

use bytes::Bytes;
use sepiola_client::{Create, IoCtx, ListedObject};
use sepiola_wire::{Decode, Errno, HObject, PgId, Reader, SnapId};

use super::{
    super::{
        RadosArgs,
        copy::at,
        open_input,
        text::{failed, plain},
    },
    format::{DumpError, Kind, Sections},
};
use crate::{
    failure::{CmdResult, Failure},
    progress::Progress,
};

/// The namespace of what OSDs keep for themselves.
const INTERNAL_NAMESPACE: &[u8] = b".ceph-internal";
/// `NONE` of a shard: the pg is not erasure-coded.
const NO_SHARD: u8 = u8::MAX;

/// Writes the objects of a file into the pool, each over what is there by its name.
pub async fn import(io: &IoCtx, file: &[u8], args: &RadosArgs) -> CmdResult {
    let mut sections = Sections::new(BufReader::with_capacity(1 << 20, open_input(file)?))?;
    let (kind, body) = sections.next()?;
    match kind {
        Kind::PoolBegin => say!("Importing pool"),
        Kind::PgBegin => say!("Importing from pgid {}", whole_pg(&body)?),
        _ => return Err(DumpError::Damaged("it begins with neither a pool nor a pg").into()),
    }
    let progress = Progress::counting("objects imported");
    let mut unknown = 0_u64;
    loop {
        let (kind, body) = sections.next()?;
        match kind {
            Kind::ObjectBegin => {
                read_object(io, &body, &mut sections, args, &progress).await?;
                progress.add(1);
            }
            // A file may consist of them: said once.
            Kind::Unknown => {
                unknown += 1;
                if unknown == 1 {
                    progress.println(format_args!("Skipping unknown section type"));
                }
            }
            // What the pg was is of no use to another pool.
            Kind::PgMetadata => {}
            Kind::PgEnd | Kind::PoolEnd => break,
            _ => return Err(DumpError::Damaged("a part of an object outside of one").into()),
        }
    }
    progress.finish();
    if unknown > 1 {
        say!("Skipped {unknown} sections of unknown type");
    }
    Ok(())
}

/// The pg that a file is of, which must hold whole objects.
fn whole_pg(body: &[u8]) -> Result<PgId, Failure> {
    let mut s = Reader::new(body).versioned("pg", 3).map_err(DumpError::from)?;
    let pg = PgId::decode(&mut s.body).map_err(DumpError::from)?;
    // Behind it comes what the OSD was; the shard is the last byte.
    if s.version > 2 && s.body.rest().last() != Some(&NO_SHARD) {
        return Err(Failure::errno(
            Errno::EOPNOTSUPP,
            "the file has one shard of an erasure-coded pg, not whole objects",
        ));
    }
    Ok(pg)
}

/// What becomes of an object.
#[derive(PartialEq)]
enum Fate {
    Write,
    Skip,
}

async fn read_object<R: Read>(
    io: &IoCtx,
    begin: &[u8],
    sections: &mut Sections<R>,
    args: &RadosArgs,
    progress: &Progress,
) -> CmdResult {
    let mut s = Reader::new(begin).versioned("object", 3).map_err(DumpError::from)?;
    let object = HObject::decode(&mut s.body).map_err(DumpError::from)?;
    let shown = shown(&object);
    let listed = ListedObject { namespace: object.nspace, name: object.oid, locator_key: object.key };
    let (io, oid) = (at(io, &listed), &listed.name);
    let fate = if listed.namespace == INTERNAL_NAMESPACE {
        progress.println(format_args!("Skipping internal object {shown}"));
        Fate::Skip
    } else if object.snap != SnapId::HEAD {
        progress.println(format_args!("Skipping non-head for {shown}"));
        Fate::Skip
    } else {
        let (fate, what) = prepare(&io, oid, args).await?;
        progress.println(format_args!("{what} {shown}"));
        fate
    };
    loop {
        let (kind, body) = sections.next()?;
        if kind == Kind::ObjectEnd {
            return Ok(());
        }
        let part = Part::decode(kind, body)?;
        if fate == Fate::Write {
            part.write(&io, oid).await?;
        }
    }
}

/// Makes room for an object, and says what happens to it.
async fn prepare(io: &IoCtx, oid: &Bytes, args: &RadosArgs) -> Result<(Fate, &'static str), Failure> {
    let failed = |doing: &'static str| move |e| plain(e).context(format_args!("{doing} failed"));
    if args.dry_run {
        let exists = match io.stat(oid).await {
            Ok(_) => true,
            Err(e) if e.is_not_found() => false,
            Err(e) => return Err(failed("stat")(e)),
        };
        let what = match (exists, args.no_overwrite) {
            (false, _) => "Write",
            (true, true) => "Skipping existing",
            (true, false) => "***Overwrite***",
        };
        return Ok((Fate::Skip, what));
    }
    match io.create(oid, Create::Exclusive).await {
        Ok(()) => return Ok((Fate::Write, "Write")),
        Err(e) if e.errno() != Errno::EEXIST => return Err(failed("create")(e)),
        Err(_) if args.no_overwrite => return Ok((Fate::Skip, "Skipping existing")),
        Err(_) => {}
    }
    io.remove(oid).await.map_err(failed("remove"))?;
    match io.create(oid, Create::Exclusive).await {
        Ok(()) => Ok((Fate::Write, "***Overwrite***")),
        // Somebody else made it again.
        Err(e) if e.errno() == Errno::EEXIST => Ok((Fate::Skip, "Skipping in-use object")),
        Err(e) => Err(failed("create")(e)),
    }
}

/// A part of an object.
enum Part {
    Data(u64, Bytes),
    Attrs(Vec<(Bytes, Bytes)>),
    OmapHeader(Bytes),
    Omap(Vec<(Bytes, Bytes)>),
    Nothing,
}

impl Part {
    fn decode(kind: Kind, body: Vec<u8>) -> Result<Self, DumpError> {
        let mut s = Reader::new(&body).versioned("part of an object", 1)?;
        let r = &mut s.body;
        Ok(match kind {
            Kind::Data => {
                let (offset, len) = (r.u64()?, r.u64()?);
                let data = Bytes::decode(r)?;
                if data.len() as u64 != len {
                    return Err(DumpError::Damaged("data of another length than it says"));
                }
                Part::Data(offset, data)
            }
            Kind::Attrs => Part::Attrs(Vec::decode(r)?),
            Kind::OmapHeader => Part::OmapHeader(Bytes::decode(r)?),
            Kind::Omap => Part::Omap(Vec::decode(r)?),
            Kind::Unknown => Part::Nothing,
            _ => return Err(DumpError::Damaged("an object that does not end")),
        })
    }

    async fn write(self, io: &IoCtx, oid: &Bytes) -> CmdResult {
        match self {
            Part::Data(offset, data) => io.write(oid, offset, data).await.map_err(failed("writing", io, oid)),
            Part::Attrs(attrs) => {
                for (name, value) in attrs {
                    // Others are an OSD's own.
                    if let Some(name) = name.strip_prefix(b"_").filter(|name| !name.is_empty()) {
                        io.set_xattr(oid, name, value).await.map_err(failed("setting xattr of", io, oid))?;
                    }
                }
                Ok(())
            }
            Part::OmapHeader(header) if header.is_empty() => Ok(()),
            Part::OmapHeader(header) => {
                io.omap_set_header(oid, header).await.map_err(failed("setting omap header of", io, oid))
            }
            Part::Omap(entries) => {
                io.omap_set(oid, entries).await.map_err(failed("setting omap of", io, oid))
            }
            Part::Nothing => Ok(()),
        }
    }
}

/// An object as the stock tools show it: `#POOL:HASH:NAMESPACE:KEY:NAME:SNAP#`.
fn shown(object: &HObject) -> String {
    let escaped = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, b| {
            match b {
                b'%' | b':' | b'/' | 0..32 | 127.. => {
                    let _ = write!(text, "%{b:02x}");
                }
                _ => text.push(char::from(*b)),
            }
            text
        })
    };
    let snap = match object.snap {
        SnapId::HEAD => "head".to_owned(),
        SnapId(number) => format!("{number:x}"),
    };
    format!(
        "#{}:{:08x}:{}:{}:{}:{snap}#",
        object.pool.0,
        object.hash.reverse_bits(),
        escaped(&object.nspace),
        escaped(&object.key),
        escaped(&object.oid),
    )
}

impl From<DumpError> for Failure {
    fn from(error: DumpError) -> Self {
        Failure::errno(Errno::new(EFAULT), error.to_string())
    }
}

/// Bad address: what the stock tool ends with for any damage.
const EFAULT: i32 = 14;
