//! The file format: a fixed header, then sections.
//!
//! A section is a header with its type and length, as many bytes, and, unless it has none, a footer. Everything
//! is encoded as Ceph encodes it on the wire. The bytes come from wherever the user got them: lengths are
//! bounded, and nothing is reserved before the bytes are there.

use std::io::{self, Read, Write};

use bytes::Bytes;
use sepiola_wire::{DecodeError, Encode, Features, HObject, Put, Reader, SnapId};
use thiserror::Error;

const MAGIC: u32 = 0xffce_ffce;
const SECTION_MAGIC: u16 = 0xffce;
const END_MAGIC: u32 = 0xecff_ffce;
/// The newest version of files that is known.
const VERSION: u32 = 2;
/// Encoded length of a section's header and footer.
const HEADER_LEN: u32 = 18;
const FOOTER_LEN: u32 = 10;
/// Longer headers or footers are none.
const MAX_FRAMING: u32 = 4096;
/// No section is longer: the longest that exporters write hold 512 omap values, or the log of a pg.
const MAX_SECTION: i64 = 1 << 30;

/// What a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    PgBegin,
    PgEnd,
    ObjectBegin,
    ObjectEnd,
    Data,
    Attrs,
    OmapHeader,
    Omap,
    PgMetadata,
    PoolBegin,
    PoolEnd,
    /// Of a newer version: to be skipped.
    Unknown,
}

impl Kind {
    const NUMBERED: [(u8, Kind); 11] = [
        (1, Kind::PgBegin),
        (2, Kind::PgEnd),
        (3, Kind::ObjectBegin),
        (4, Kind::ObjectEnd),
        (5, Kind::Data),
        (6, Kind::Attrs),
        (7, Kind::OmapHeader),
        (8, Kind::Omap),
        (9, Kind::PgMetadata),
        (10, Kind::PoolBegin),
        (11, Kind::PoolEnd),
    ];

    fn from_number(number: u8) -> Self {
        Self::NUMBERED.iter().find(|(n, _)| *n == number).map_or(Kind::Unknown, |(_, kind)| *kind)
    }

    fn number(self) -> u8 {
        Self::NUMBERED.iter().find(|(_, kind)| *kind == self).map_or(0, |(n, _)| *n)
    }
}

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub enum DumpError {
    /// It ends too early, or cannot be read at all.
    #[error("the file ends too early")]
    Truncated,
    /// It is no such file.
    #[error("the file is no export: it begins with {0:#x} instead of {MAGIC:#x}")]
    Magic(u32),
    /// It is from the future.
    #[error("the file is an export of version {0}, which is not known here")]
    Version(u32),
    /// A length or a mark is wrong.
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    /// A section's content cannot be decoded.
    #[error("the file is damaged: {0}")]
    Decode(#[from] DecodeError),
    /// The system refused.
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for DumpError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => DumpError::Truncated,
            _ => DumpError::Io(error),
        }
    }
}

/// Writes a file.
pub struct Writer<W> {
    out: W,
    body: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the file's header.
    pub fn new(mut out: W) -> io::Result<Self> {
        let mut head = Vec::new();
        for number in [MAGIC, VERSION, HEADER_LEN, FOOTER_LEN] {
            head.put_u32(number);
        }
        out.write_all(&head)?;
        Ok(Writer { out, body: Vec::new() })
    }

    /// A section without content.
    pub fn mark(&mut self, kind: Kind) -> io::Result<()> {
        self.head(kind, 0)
    }

    /// A section whose content is a versioned struct.
    pub fn section(&mut self, kind: Kind, version: u8, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        body.put_versioned(version, 1, fill);
        self.head(kind, body.len())?;
        self.out.write_all(&body)?;
        self.body = body;
        let mut footer = Vec::new();
        footer.put_versioned(1, 1, |out| out.put_u32(END_MAGIC));
        self.out.write_all(&footer)
    }

    fn head(&mut self, kind: Kind, len: usize) -> io::Result<()> {
        let number = u32::from(kind.number());
        let mut head = Vec::new();
        head.put_versioned(1, 1, |out: &mut Vec<u8>| {
            out.put_u32(number << 24 | number << 16 | u32::from(SECTION_MAGIC));
            out.put_u64(len as u64);
        });
        self.out.write_all(&head)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a file.
pub struct Sections<R> {
    input: R,
    header_len: usize,
    footer_len: usize,
}

impl<R: Read> Sections<R> {
    /// Reads and checks the file's header.
    pub fn new(mut input: R) -> Result<Self, DumpError> {
        let mut head = [0; 16];
        input.read_exact(&mut head)?;
        let mut r = Reader::new(&head);
        let (magic, version, header, footer) = (r.u32()?, r.u32()?, r.u32()?, r.u32()?);
        if magic != MAGIC {
            return Err(DumpError::Magic(magic));
        }
        if version > VERSION {
            return Err(DumpError::Version(version));
        }
        if header > MAX_FRAMING || footer > MAX_FRAMING {
            return Err(DumpError::Damaged("impossible lengths in the header"));
        }
        Ok(Sections { input, header_len: header as usize, footer_len: footer as usize })
    }

    /// The next section.
    pub fn next(&mut self) -> Result<(Kind, Vec<u8>), DumpError> {
        let mut head = vec![0; self.header_len];
        self.input.read_exact(&mut head)?;
        let mut s = Reader::new(&head).versioned("section header", 1)?;
        let (mark, len) = (s.body.u32()?, s.body.i64()?);
        let [low, high, number, again] = mark.to_le_bytes();
        if u16::from_le_bytes([low, high]) != SECTION_MAGIC || number != again {
            return Err(DumpError::Damaged("no section where one should begin"));
        }
        if !(0..=MAX_SECTION).contains(&len) {
            return Err(DumpError::Damaged("impossible length of a section"));
        }
        let mut body = Vec::new();
        // Grows with what is there.
        (&mut self.input).take(len as u64).read_to_end(&mut body)?;
        if body.len() as i64 != len {
            return Err(DumpError::Truncated);
        }
        if len > 0 {
            let mut footer = vec![0; self.footer_len];
            self.input.read_exact(&mut footer)?;
            if Reader::new(&footer).versioned("section footer", 1)?.body.u32()? != END_MAGIC {
                return Err(DumpError::Damaged("a section does not end where it should"));
            }
        }
        Ok((Kind::from_number(number), body))
    }
}

/// The name of an object, as sections hold it: of a head, without pool and hash.
pub fn put_object(out: &mut Vec<u8>, namespace: &Bytes, key: &Bytes, name: &Bytes) {
    let object = HObject {
        oid: name.clone(),
        key: key.clone(),
        nspace: namespace.clone(),
        snap: SnapId::HEAD,
        ..HObject::min()
    };
    object.encode(out, Features::SUPPORTED);
    out.put_u64(u64::MAX); // no generation
    out.put_u8(u8::MAX); // no shard
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out).unwrap();
        writer.mark(Kind::PoolBegin).unwrap();
        writer.section(Kind::OmapHeader, 1, |out| out.put_blob(b"header")).unwrap();
        writer.mark(Kind::PoolEnd).unwrap();
        out
    }

    /// What the stock tool writes for an empty pool.
    #[test]
    fn framing_is_the_stock_tools() {
        let head = "ceffceff02000000120000000a000000";
        let begin = "01010c000000ceff0a0a0000000000000000";
        assert_eq!(hex(&file()[..34]), format!("{head}{begin}"));
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn sections_come_back() {
        let file = file();
        let mut sections = Sections::new(&file[..]).unwrap();
        assert_eq!(sections.next().unwrap().0, Kind::PoolBegin);
        let (kind, body) = sections.next().unwrap();
        assert_eq!(kind, Kind::OmapHeader);
        let mut s = Reader::new(&body).versioned("header", 1).unwrap();
        assert_eq!(s.body.blob().unwrap(), b"header");
        assert_eq!(sections.next().unwrap().0, Kind::PoolEnd);
        assert!(matches!(sections.next(), Err(DumpError::Truncated)));
    }

    /// Every file that ends too early, and every changed byte of the framing, is an error or another section,
    /// never a panic or a huge allocation.
    #[test]
    fn damage_is_noticed() {
        let file = file();
        let read = |bytes: &[u8]| -> Result<(), DumpError> {
            let mut sections = Sections::new(bytes)?;
            for _ in 0..3 {
                sections.next()?;
            }
            Ok(())
        };
        for len in 0..file.len() {
            assert!(read(&file[..len]).is_err(), "{len} bytes");
        }
        for at in 0..file.len() {
            for bit in [1, 0x80] {
                let mut damaged = file.clone();
                damaged[at] ^= bit;
                let _ = read(&damaged);
            }
        }
        let mut long = file.clone();
        long[34 + 10..34 + 18].copy_from_slice(&i64::MAX.to_le_bytes());
        assert!(matches!(read(&long), Err(DumpError::Damaged(_))));
    }
}
