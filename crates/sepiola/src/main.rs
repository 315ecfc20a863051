//! The `sepiola` program: one file per subcommand under `cmd/`.

fn main() {}
