//! The build without C.

use std::process::Command;

#[test]
fn the_pure_rust_engine_alone_needs_no_c_compiler() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "sepiola-crypto", "--no-default-features"])
        .args(["--features", "engine-rustcrypto", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let packages: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(packages.contains(&"aes-gcm"));
    for c in ["cc", "cmake", "ring", "aws-lc-rs", "aws-lc-sys"] {
        assert!(!packages.contains(&c), "{c} is in the tree:\n{tree}");
    }
}
