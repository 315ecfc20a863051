//! This program once more, under valgrind.

use std::{
    env, fs,
    process::{self, Command, Output},
};

use sepiola_benches::Op;

/// Operations that both runs have: start and first uses of everything are in them.
const WARM: u32 = 200;
/// What the longer run has in addition.
const COUNTED: u32 = 1000;

/// Instructions of one operation, without what starting takes.
pub fn per_operation(op: Op) -> Result<u64, String> {
    let (short, long) = (collect(op, WARM)?, collect(op, WARM + COUNTED)?);
    Ok(long.saturating_sub(short) / u64::from(COUNTED))
}

/// The functions that most instructions belong to.
pub fn profile(op: Op) -> Result<String, String> {
    let file = env::temp_dir().join(format!("sepiola-callgrind-{}", process::id()));
    let report = watch(op, WARM + COUNTED, &format!("--callgrind-out-file={}", file.display()))
        .and_then(|_| output(Command::new("callgrind_annotate").arg(&file)));
    let _ = fs::remove_file(&file);
    Ok(String::from_utf8_lossy(&report?.stdout).into_owned())
}

fn collect(op: Op, count: u32) -> Result<u64, String> {
    let output = watch(op, count, "--callgrind-out-file=/dev/null")?;
    let text = String::from_utf8_lossy(&output.stderr);
    collected(&text).ok_or_else(|| format!("callgrind did not say what it collected:\n{text}"))
}

fn watch(op: Op, count: u32, out: &str) -> Result<Output, String> {
    let this = env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    output(Command::new("valgrind").args(["--tool=callgrind", out]).arg(this).args([
        "run",
        &op.to_string(),
        &count.to_string(),
    ]))
}

fn output(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|e| format!("cannot run {name}, which Debian's valgrind has: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{name} failed ({}):\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// The number in `==123== Collected : 4567`.
fn collected(text: &str) -> Option<u64> {
    let (_, number) = text.lines().find_map(|line| line.split_once("Collected :"))?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_found_among_what_valgrind_says() {
        let text = "==7== Events    : Ir\n==7== Collected : 8123456\n==7== \n==7== I   refs: 8,123,456\n";
        assert_eq!(collected(text), Some(8_123_456));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }
}
