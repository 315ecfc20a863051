//! Compiles `proto/*.proto` with protox, so that no protoc binary is needed.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let mut files: Vec<_> =
        std::fs::read_dir(&root)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|p| p.extension().is_some_and(|e| e == "proto"));
    files.sort();
    println!("cargo:rerun-if-changed={}", root.display());
    let descriptors = protox::compile(&files, [&root])?;
    prost_build::Config::new()
        .bytes(["."])
        // Messages with secrets get a Debug without them; see src/redacted.rs.
        .skip_debug([".sepiola.MonEntity", ".sepiola.MonRotating", ".sepiola.MonConfigKey"])
        .compile_fds(descriptors)?;
    Ok(())
}
