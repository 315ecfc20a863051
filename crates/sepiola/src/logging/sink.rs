//! Where lines go: `log_file`, standard error, or both.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use sepiola_config::Config;

use crate::failure::Failure;

/// The process's log.
#[derive(Debug)]
pub struct Sink {
    path: Option<PathBuf>,
    file: Mutex<Option<File>>,
    to_file: AtomicBool,
    to_stderr: AtomicBool,
}

impl Sink {
    /// Opens `log_file`, if there is one.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        let path = config.text("log_file").map(PathBuf::from);
        let file = path.as_deref().map(open).transpose();
        let file = file.map_err(|e| {
            Failure::new(format!("log_file {}: {e}", path.as_deref().unwrap_or(Path::new("")).display()))
        })?;
        let sink = Sink {
            path,
            file: Mutex::new(file),
            to_file: AtomicBool::default(),
            to_stderr: AtomicBool::default(),
        };
        sink.apply(config);
        Ok(sink)
    }

    /// Follows `log_to_file` and `log_to_stderr`. Another `log_file` needs another start.
    pub fn apply(&self, config: &Config) {
        let to_file = self.path.is_some() && config.bool("log_to_file").unwrap_or(true);
        let to_stderr = self.path.is_none() || config.bool("log_to_stderr").unwrap_or(false);
        self.to_file.store(to_file, Ordering::Relaxed);
        self.to_stderr.store(to_stderr, Ordering::Relaxed);
    }

    /// Opens the file anew. If that fails, the old one is kept.
    pub fn reopen(&self) -> io::Result<()> {
        if let Some(path) = &self.path {
            *self.file() = Some(open(path)?);
        }
        Ok(())
    }

    /// For one line.
    pub fn lines(&self) -> Lines<'_> {
        Lines(self)
    }

    fn file(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

/// Writes whole lines.
pub struct Lines<'a>(&'a Sink);

impl Write for Lines<'_> {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        let line = &*one_line(written);
        if self.0.to_stderr.load(Ordering::Relaxed) {
            let _ = io::stderr().write_all(line);
        }
        if self.0.to_file.load(Ordering::Relaxed)
            && let Some(file) = &mut *self.0.file()
        {
            file.write_all(line)?;
        }
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// As long as a line may be, with its end.
const MAX_LINE: usize = 4 << 10;

/// What is written of a line. The formatter lets the line breaks of a value through, which may be a peer's: they
/// are escaped, as are all control characters, so that no value looks like a line of its own.
fn one_line(written: &[u8]) -> Vec<u8> {
    const CUT: &str = "...";
    let text = String::from_utf8_lossy(written.strip_suffix(b"\n").unwrap_or(written));
    let mut line = String::with_capacity(text.len().min(MAX_LINE) + 1);
    for c in text.chars() {
        let before = line.len();
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        if line.len() + CUT.len() + 1 > MAX_LINE {
            line.truncate(before);
            line.push_str(CUT);
            break;
        }
    }
    line.push('\n');
    line.into_bytes()
}

#[cfg(test)]
mod tests {
    use sepiola_config::Layer;
    use sepiola_wire::EntityName;

    use super::*;

    #[test]
    fn a_file_that_was_moved_away_is_left_alone_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let (path, moved) = (dir.path().join("log"), dir.path().join("log.1"));
        let mut config = Config::new(EntityName::client("x"));
        config.set(Layer::File, "log_file", path.to_string_lossy());
        let sink = Sink::open(&config).unwrap();
        let write = |text: &str| sink.lines().write_all(text.as_bytes()).unwrap();
        write("one\n");
        std::fs::rename(&path, &moved).unwrap();
        write("two\n");
        sink.reopen().unwrap();
        write("three\n");
        config.set(Layer::Runtime, "log_to_file", "false");
        sink.apply(&config);
        write("four\n");
        assert_eq!(std::fs::read_to_string(&moved).unwrap(), "one\ntwo\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three\n");
    }

    #[test]
    fn a_value_neither_starts_a_line_nor_fills_the_disk() {
        let forged = b"WARN from=a\nERROR \x1b[2J \xc2\x9b1m \xff\r\n";
        assert_eq!(
            String::from_utf8(one_line(forged)).unwrap(),
            "WARN from=a\\nERROR \\u{1b}[2J \\u{9b}1m \u{fffd}\\r\n"
        );
        assert_eq!(one_line(b"plain \xc3\xa9\n"), b"plain \xc3\xa9\n");
        for long in ["x".repeat(1 << 20), "\u{e9}".repeat(1 << 20), "\u{1b}".repeat(1 << 20)] {
            let line = String::from_utf8(one_line(long.as_bytes())).unwrap();
            assert!(
                (MAX_LINE - 8..=MAX_LINE).contains(&line.len()) && line.ends_with("...\n"),
                "{}",
                line.len()
            );
        }
    }
}
