//! `sepiola rados`: the verbs, flags and exit codes of `rados`.

mod object;
mod omap;
mod pool;
mod xattr;

use std::path::PathBuf;

use clap::Args;
use sepiola_client::{IoCtx, Rados};
use sepiola_wire::Errno;

use crate::{
    cli::{ConnectArgs, Format},
    connect::{ConfigOptions, runtime},
    failure::{CmdResult, Failure},
};

const VERBS: &str = "\
Pools:    lspools, mkpool NAME [PGS], rmpool NAME NAME --yes-i-really-really-mean-it, df
Objects:  ls, put OBJ FILE [--offset N], get OBJ FILE, append OBJ FILE, truncate OBJ LENGTH, create OBJ,
          rm OBJ..., stat OBJ, stat2 OBJ, set-alloc-hint OBJ SIZE WRITE_SIZE
Xattrs:   listxattr OBJ, getxattr OBJ ATTR, setxattr OBJ ATTR VALUE, rmxattr OBJ ATTR
Omap:     listomapkeys OBJ, listomapvals OBJ, getomapval OBJ KEY [FILE], setomapval OBJ KEY VALUE,
          rmomapkey OBJ KEY, getomapheader OBJ [FILE], setomapheader OBJ VALUE, clearomap OBJ...
Bench:    bench SECONDS write|seq|rand, cleanup
FILE may be - for standard input or output.";

/// Flags of `rados`.
#[derive(Debug, Args)]
#[command(after_help = VERBS)]
pub struct RadosArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// The pool.
    #[arg(short = 'p', long = "pool")]
    pub pool: Option<String>,
    /// The namespace; default if not given.
    #[arg(short = 'N', long = "namespace")]
    pub namespace: Option<String>,
    /// The placement key, instead of the object's name.
    #[arg(long = "object-locator")]
    pub locator: Option<String>,
    /// With ls: objects of all namespaces.
    #[arg(long)]
    pub all: bool,
    /// Bytes of one operation of put, get and bench.
    #[arg(short = 'b', value_name = "BYTES", default_value = "4194304", value_parser = crate::cmd::bench::size)]
    pub op_size: u64,
    /// Bytes of one object of bench; as -b if not given.
    #[arg(short = 'O', value_name = "BYTES", value_parser = crate::cmd::bench::size)]
    pub object_size: Option<u64>,
    /// Operations of bench in flight.
    #[arg(short = 't', long = "concurrent-ios", default_value_t = 16)]
    pub concurrent: usize,
    /// Where put starts to write.
    #[arg(long, default_value_t = 0)]
    pub offset: u64,
    /// Read the value of setxattr and setomapval from a file.
    #[arg(long = "input-file")]
    pub input_file: Option<PathBuf>,
    /// Keep the objects of a write bench.
    #[arg(long)]
    pub no_cleanup: bool,
    /// The object that remembers a bench run.
    #[arg(long, default_value = crate::bench::DEFAULT_RUN_NAME)]
    pub run_name: String,
    /// Do not send allocation hints in a write bench.
    #[arg(long)]
    pub no_hints: bool,
    /// Do not compare what a read bench reads.
    #[arg(long)]
    pub no_verify: bool,
    /// Objects after which a write bench stops; 0 is no limit.
    #[arg(long, default_value_t = 0)]
    pub max_objects: u64,
    /// Confirms rmpool.
    #[arg(long)]
    pub yes_i_really_really_mean_it: bool,
    /// The form of output.
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
    /// A verb and its arguments.
    #[arg(required = true, value_name = "VERB")]
    pub command: Vec<String>,
}

/// Runs one verb. As with the stock tool, the exit status of every failure is 1.
pub fn run(args: RadosArgs, options: ConfigOptions) -> CmdResult {
    run_verb(args, options).map_err(Failure::with_status_one)
}

fn run_verb(args: RadosArgs, options: ConfigOptions) -> CmdResult {
    let verb: Vec<&str> = args.command.iter().map(String::as_str).collect();
    if let ["bench", seconds, workload] = verb[..] {
        return crate::cmd::bench::run_rados(&args, seconds, workload, options);
    }
    runtime()?.block_on(async {
        let rados = args.connect.connect(&options).await?;
        dispatch(&rados, &args, &verb).await
    })
}

async fn dispatch(rados: &Rados, args: &RadosArgs, verb: &[&str]) -> CmdResult {
    match *verb {
        ["lspools"] => return pool::list(rados, args.format).await,
        ["mkpool", name] => return pool::create(rados, name, None).await,
        ["mkpool", name, pgs] => return pool::create(rados, name, Some(number(pgs, "PGS")?)).await,
        ["rmpool", name, again] if name == again && args.yes_i_really_really_mean_it => {
            return pool::remove(rados, name).await;
        }
        ["rmpool", ..] => {
            return Err(Failure::errno(
                Errno::EPERM,
                "removing a pool removes its objects for good: rmpool NAME NAME --yes-i-really-really-mean-it",
            ));
        }
        ["df"] => return pool::usage(rados, args.format).await,
        _ => {}
    }
    let io = open_pool(rados, args).await?;
    match *verb {
        ["ls"] => pool::objects(&io, args, "-").await,
        ["ls", file] => pool::objects(&io, args, file).await,
        ["put", oid, file] => object::put(&io, oid, file, args).await,
        ["get", oid, file] => object::get(&io, oid, file, args.op_size).await,
        ["append", oid, file] => object::append(&io, oid, file, args.op_size).await,
        ["truncate", oid, length] => object::truncate(&io, oid, number(length, "LENGTH")?).await,
        ["create", oid] => object::create(&io, oid).await,
        ["rm", ref oids @ ..] if !oids.is_empty() => object::remove(&io, oids).await,
        ["stat" | "stat2", oid] => object::stat(&io, oid, args).await,
        ["set-alloc-hint", oid, size, write] => {
            object::alloc_hint(&io, oid, number(size, "SIZE")?, number(write, "WRITE_SIZE")?).await
        }
        ["listxattr", oid] => xattr::list(&io, oid, args.format).await,
        ["getxattr", oid, name] => xattr::get(&io, oid, name).await,
        ["setxattr", oid, name, ref value @ ..] => xattr::set(&io, oid, name, &input(args, value)?).await,
        ["rmxattr", oid, name] => xattr::remove(&io, oid, name).await,
        ["listomapkeys", oid] => omap::list_keys(&io, oid, args.format).await,
        ["listomapvals", oid] => omap::list_values(&io, oid, args.format).await,
        ["getomapval", oid, key] => omap::get(&io, oid, key, None).await,
        ["getomapval", oid, key, file] => omap::get(&io, oid, key, Some(file)).await,
        ["setomapval", oid, key, ref value @ ..] => omap::set(&io, oid, key, &input(args, value)?).await,
        ["rmomapkey", oid, key] => omap::remove(&io, oid, key).await,
        ["getomapheader", oid] => omap::get_header(&io, oid, None).await,
        ["getomapheader", oid, file] => omap::get_header(&io, oid, Some(file)).await,
        ["setomapheader", oid, ref value @ ..] => omap::set_header(&io, oid, &input(args, value)?).await,
        ["clearomap", ref oids @ ..] if !oids.is_empty() => omap::clear(&io, oids).await,
        ["cleanup"] => crate::bench::cleanup(&io, &args.run_name, args.concurrent)
            .await
            .map(|removed| println!("Removed {removed} objects"))
            .map_err(Into::into),
        _ => Err(Failure::errno(
            Errno::EINVAL,
            format!("unknown verb or wrong arguments: {}\n{VERBS}", verb.join(" ")),
        )),
    }
}

async fn open_pool(rados: &Rados, args: &RadosArgs) -> Result<IoCtx, Failure> {
    let Some(pool) = &args.pool else {
        return Err(Failure::errno(Errno::EINVAL, "pool name was not specified: give -p POOL"));
    };
    let mut io = rados
        .open_ioctx(pool)
        .await
        .map_err(|e| Failure::from(e).context(format_args!("error opening pool {pool}")))?;
    if let Some(namespace) = &args.namespace {
        io.set_namespace(namespace.clone());
    }
    if let Some(key) = &args.locator {
        io.set_locator_key(key.clone());
    }
    Ok(io)
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::errno(Errno::EINVAL, format!("{what}: `{text}` is not a number")))
}

/// A value from the command line, from --input-file, or from standard input.
fn input(args: &RadosArgs, words: &[&str]) -> Result<Vec<u8>, Failure> {
    match (words, &args.input_file) {
        ([value], None) => Ok(value.as_bytes().to_vec()),
        ([], Some(file)) => read_file(&file.to_string_lossy()),
        ([], None) => read_file("-"),
        _ => Err(Failure::errno(Errno::EINVAL, "give one value, or --input-file FILE")),
    }
}

fn read_file(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut open_input(file)?, &mut bytes)?;
    Ok(bytes)
}

fn open_input(file: &str) -> Result<Box<dyn std::io::Read>, Failure> {
    if file == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    match std::fs::File::open(file) {
        Ok(file) => Ok(Box::new(file)),
        Err(e) => Err(Failure::errno(
            Errno::new(e.raw_os_error().unwrap_or(Errno::EIO.code())),
            format!("error reading input file {file}: {e}"),
        )),
    }
}

fn open_output(file: &str) -> Result<Box<dyn std::io::Write>, Failure> {
    if file == "-" {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    match std::fs::File::create(file) {
        Ok(file) => Ok(Box::new(file)),
        Err(e) => Err(Failure::errno(
            Errno::new(e.raw_os_error().unwrap_or(Errno::EIO.code())),
            format!("error opening {file}: {e}"),
        )),
    }
}
