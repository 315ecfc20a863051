//! What daemons and clients have written into their logs.

use std::{fs, path::Path};

use sepiola_tests::{Failure, Result};

/// Lines that must not be there, with their file.
pub fn scan(dir: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in [dir.to_owned(), dir.join("cluster/log")] {
        for entry in fs::read_dir(&folder).map_err(Failure::file(&folder))? {
            let path = entry.map_err(Failure::file(&folder))?.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                let text =
                    String::from_utf8_lossy(&fs::read(&path).map_err(Failure::file(&path))?).into_owned();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.extend(text.lines().filter(|line| is_bad(line)).map(|line| format!("{name}: {line}")));
            }
        }
    }
    Ok(found)
}

fn is_bad(line: &str) -> bool {
    [" ERROR ", "panicked at", "Traceback", "stack overflow", "memory allocation of"]
        .iter()
        .any(|word| line.contains(word))
}
