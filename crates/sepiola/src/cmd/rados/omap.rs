//! The omap verbs.

use std::io::{self, Write};

use bytes::Bytes;
use sepiola_client::IoCtx;
use sepiola_wire::Errno;

use super::{
    open_output,
    text::{failed, failed_part, is_printable, place, shown},
};
use crate::{
    cli::Format,
    failure::{CmdResult, Failure},
};

pub async fn list_keys(io: &IoCtx, oid: &[u8], format: Format) -> CmdResult {
    let keys = io.omap_get_keys(oid).await.map_err(failed("getting omap key set", io, oid))?;
    if format.is_json() {
        let names: Vec<_> = keys.iter().map(|k| String::from_utf8_lossy(k)).collect();
        format.print(&serde_json::json!(names));
        return Ok(());
    }
    let mut out = io::stdout().lock();
    for key in &keys {
        out.write_all(key)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

pub async fn list_values(io: &IoCtx, oid: &[u8], format: Format) -> CmdResult {
    let pairs = io.omap_get_vals(oid).await.map_err(failed("getting omap keys", io, oid))?;
    if format.is_json() {
        let values: serde_json::Map<_, _> = pairs
            .iter()
            .map(|(k, v)| {
                (String::from_utf8_lossy(k).into_owned(), String::from_utf8_lossy(v).into_owned().into())
            })
            .collect();
        format.print(&values.into());
        return Ok(());
    }
    let mut out = io::stdout().lock();
    for (key, value) in &pairs {
        if is_printable(key) {
            out.write_all(key)?;
        } else {
            writeln!(out, "key ({} bytes):", key.len())?;
            hexdump(&mut out, key)?;
        }
        writeln!(out, "\nvalue ({} bytes) :", value.len())?;
        hexdump(&mut out, value)?;
        writeln!(out)?;
    }
    Ok(())
}

pub async fn get(io: &IoCtx, oid: &[u8], key: &[u8], file: Option<&[u8]>) -> CmdResult {
    let values = io.omap_get_vals_by_keys(oid, [key]).await.map_err(failed_part(
        "getting omap value",
        io,
        oid,
        key,
    ))?;
    let Some(value) = values.get(key) else {
        // The stock tool says it on standard output.
        say!("No such key: {}/{}", place(io, oid), shown(key));
        return Err(Failure::errno(Errno::ENOENT, ""));
    };
    show(value, file)
}

pub async fn set(io: &IoCtx, oid: &[u8], key: &[u8], value: &[u8]) -> CmdResult {
    io.omap_set(oid, [(key, value)]).await.map_err(failed_part("setting omap value", io, oid, key))
}

pub async fn remove(io: &IoCtx, oid: &[u8], key: &[u8]) -> CmdResult {
    io.omap_rm_keys(oid, [key]).await.map_err(failed_part("removing omap key", io, oid, key))
}

pub async fn get_header(io: &IoCtx, oid: &[u8], file: Option<&[u8]>) -> CmdResult {
    let header = io.omap_get_header(oid).await.map_err(failed("getting omap header", io, oid))?;
    match file {
        Some(_) => show(&header, file),
        None => {
            say!("header ({} bytes) :", header.len());
            hexdump(&mut io::stdout().lock(), &header)?;
            say!("");
            Ok(())
        }
    }
}

pub async fn set_header(io: &IoCtx, oid: &[u8], value: &[u8]) -> CmdResult {
    let value = Bytes::copy_from_slice(value);
    io.omap_set_header(oid, value).await.map_err(failed("setting omap value", io, oid))
}

pub async fn clear(io: &IoCtx, oids: &[&[u8]]) -> CmdResult {
    for oid in oids {
        io.omap_clear(*oid).await.map_err(failed("clearing omap keys", io, oid))?;
    }
    Ok(())
}

fn show(value: &[u8], file: Option<&[u8]>) -> CmdResult {
    match file {
        Some(file) => {
            eprintln!("Writing to {}", String::from_utf8_lossy(file));
            Ok(open_output(file)?.write_all(value)?)
        }
        None => {
            say!("value ({} bytes) :", value.len());
            hexdump(&mut io::stdout().lock(), value)?;
            say!("");
            Ok(())
        }
    }
}

/// Rows of 16 bytes with their text beside them, as `hexdump -C`.
fn hexdump(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    for (row, chunk) in bytes.chunks(16).enumerate() {
        write!(out, "{:08x} ", row * 16)?;
        for column in 0..16 {
            if column % 8 == 0 {
                write!(out, " ")?;
            }
            match chunk.get(column) {
                Some(byte) => write!(out, "{byte:02x} ")?,
                None => write!(out, "   ")?,
            }
        }
        let text: String =
            chunk.iter().map(|b| if b.is_ascii_graphic() || *b == b' ' { *b as char } else { '.' }).collect();
        writeln!(out, " |{text}|")?;
    }
    match bytes.len() {
        0 => Ok(()),
        len => writeln!(out, "{len:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The listing that the stock tool prints for one value of one byte.
    #[test]
    fn dumps_as_the_stock_tool_does() {
        let mut out = Vec::new();
        hexdump(&mut out, b"v").unwrap();
        let expected = "00000000  76                                                |v|\n00000001\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut nothing = Vec::new();
        hexdump(&mut nothing, b"").unwrap();
        assert!(nothing.is_empty());
    }
}
