//! The flags of `rados`.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::{
    cli::{ConnectArgs, Format},
    cmd::bench::size,
};

/// What `--help` says about verbs.
const VERBS: &str = "\
Pools:    lspools, df, mkpool NAME [PGS], rmpool NAME NAME --yes-i-really-really-mean-it,
          cppool POOL DEST_POOL, purge POOL --yes-i-really-really-mean-it
Objects:  ls, put OBJ FILE [--offset N], get OBJ FILE, append OBJ FILE, truncate OBJ LENGTH, create OBJ,
          touch OBJ [SECONDS], rm OBJ..., cp OBJ [TARGET], stat OBJ, stat2 OBJ,
          set-alloc-hint OBJ SIZE WRITE_SIZE
Xattrs:   listxattr OBJ, getxattr OBJ ATTR, setxattr OBJ ATTR VALUE, rmxattr OBJ ATTR
Omap:     listomapkeys OBJ, listomapvals OBJ, getomapval OBJ KEY [FILE], setomapval OBJ KEY VALUE,
          rmomapkey OBJ KEY, getomapheader OBJ [FILE], setomapheader OBJ VALUE, clearomap OBJ...
Locks:    lock list OBJ, lock info OBJ LOCK, lock get OBJ LOCK, lock break OBJ LOCK LOCKER
Files:    export [FILE], import FILE
Bench:    bench SECONDS write|seq|rand, cleanup
FILE may be - for standard input or output. A value that is left out comes from standard input.";

/// Flags of `rados`.
#[derive(Debug, Args)]
#[command(after_help = VERBS, disable_version_flag = true)]
pub struct RadosArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// The pool.
    #[arg(short = 'p', long = "pool")]
    pub pool: Option<String>,
    /// The namespace; default if not given.
    #[arg(short = 'N', long = "namespace")]
    pub namespace: Option<OsString>,
    /// The placement key, instead of the object's name.
    #[arg(long = "object-locator")]
    pub locator: Option<OsString>,
    /// With ls and cleanup: objects of all namespaces.
    #[arg(long)]
    pub all: bool,
    /// With ls: objects of the default namespace, in spite of --all.
    #[arg(long)]
    pub default: bool,
    /// With ls: objects of this pg only.
    #[arg(long, value_name = "POOL_ID.PG")]
    pub pgid: Option<String>,
    /// Create the pool first.
    #[arg(long)]
    pub create: bool,
    /// With cp: the pool of the copy.
    #[arg(long)]
    pub target_pool: Option<String>,
    /// With cp: the placement key of the copy.
    #[arg(long)]
    pub target_locator: Option<OsString>,
    /// With cp: the namespace of the copy.
    #[arg(long)]
    pub target_nspace: Option<OsString>,
    /// Read the object's name from a file.
    #[arg(long, value_name = "FILE")]
    pub obj_name_file: Option<PathBuf>,
    /// Read the omap key from a file.
    #[arg(long, value_name = "FILE")]
    pub omap_key_file: Option<PathBuf>,
    /// Read the value of setxattr, setomapval and setomapheader from a file.
    #[arg(long = "input-file", value_name = "FILE")]
    pub input_file: Option<PathBuf>,
    /// Write what ls and bench print to a file.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Bytes of one operation of put, get and bench.
    #[arg(short = 'b', long = "block-size", value_name = "BYTES", value_parser = size)]
    pub op_size: Option<u64>,
    /// Where put starts to write into what is there.
    #[arg(long)]
    pub offset: Option<u64>,
    /// Accepted for compatibility: rm works while the cluster is full.
    #[arg(long, hide = true)]
    pub force_full: bool,
    /// Confirms rmpool and purge.
    #[arg(long)]
    pub yes_i_really_really_mean_it: bool,
    /// Accepted for compatibility with cppool.
    #[arg(long, hide = true)]
    pub yes_i_really_mean_it: bool,
    /// With import: say what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// With import: leave objects alone that are there.
    #[arg(long)]
    pub no_overwrite: bool,
    /// With cleanup: the objects whose names begin so, instead of those of a run.
    #[arg(long)]
    pub prefix: Option<String>,
    #[command(flatten)]
    pub lock: LockArgs,
    #[command(flatten)]
    pub bench: BenchFlags,
    /// The form of output.
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
    /// Show the version.
    #[arg(short = 'v', long)]
    pub version: bool,
    /// A verb and its arguments. Names, keys and values are bytes.
    #[arg(value_name = "VERB", allow_negative_numbers = true)]
    pub command: Vec<OsString>,
}

/// Flags of `rados lock`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of lock")]
pub struct LockArgs {
    /// What holders of a shared lock must agree on.
    #[arg(long, value_name = "TAG")]
    pub lock_tag: Option<OsString>,
    /// Tells holders apart that are one client.
    #[arg(long, value_name = "COOKIE")]
    pub lock_cookie: Option<OsString>,
    /// What `lock info` shows to others.
    #[arg(long, value_name = "TEXT")]
    pub lock_description: Option<String>,
    /// Seconds until the lock ends by itself; 0 is never.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub lock_duration: u32,
    /// exclusive or shared.
    #[arg(long, value_name = "TYPE", default_value = "exclusive")]
    pub lock_type: String,
}

/// Flags of `rados bench`, which `sepiola bench` has as well.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of bench")]
pub struct BenchFlags {
    /// Bytes of one object; as -b if not given.
    #[arg(short = 'O', long, value_name = "BYTES", value_parser = size)]
    pub object_size: Option<u64>,
    /// Operations in flight.
    #[arg(short = 't', long = "concurrent-ios", default_value_t = 16)]
    pub concurrent: usize,
    /// Objects after which a write stops; 0 is no limit.
    #[arg(long, default_value_t = 0)]
    pub max_objects: u64,
    /// Keep the objects that were written.
    #[arg(long)]
    pub no_cleanup: bool,
    /// The object that remembers a run.
    #[arg(long, default_value = crate::bench::DEFAULT_RUN_NAME)]
    pub run_name: String,
    /// Write over the objects of an earlier run.
    #[arg(long)]
    pub reuse_bench: bool,
    /// Do not send allocation hints.
    #[arg(long)]
    pub no_hints: bool,
    /// Do not compare what is read.
    #[arg(long)]
    pub no_verify: bool,
    /// Date and time in front of what is printed.
    #[arg(long)]
    pub show_time: bool,
    /// Write the objects' data; what is written unless one of the next two says otherwise.
    #[arg(long)]
    pub write_object: bool,
    /// Write a value of the omap.
    #[arg(long)]
    pub write_omap: bool,
    /// Write an attribute.
    #[arg(long)]
    pub write_xattr: bool,
}
