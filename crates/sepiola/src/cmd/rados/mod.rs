//! `sepiola rados`: the verbs, flags and exit codes of `rados`. Names of objects, keys and values are bytes.

mod args;
mod copy;
mod dump;
mod lock;
mod object;
mod omap;
mod pool;
mod text;
mod verbs;
mod xattr;

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use sepiola_client::{IoCtx, Rados};
use sepiola_wire::{Errno, PgId};

pub use args::{BenchFlags, RadosArgs};

use crate::{
    connect::{ConfigOptions, runtime},
    failure::{CmdResult, Failure},
};

/// Bytes of one operation, unless the command line says otherwise.
const OP_SIZE: u64 = 4 << 20;

impl RadosArgs {
    /// Bytes of one operation.
    pub fn op_size(&self) -> u64 {
        self.op_size.unwrap_or(OP_SIZE)
    }
}

/// Runs one verb. As with the stock tool, the exit status of every failure is 1.
pub fn run(args: RadosArgs, options: ConfigOptions) -> CmdResult {
    run_verb(args, options).map_err(Failure::with_status_one)
}

fn run_verb(args: RadosArgs, options: ConfigOptions) -> CmdResult {
    if args.version {
        say!("{}", crate::cli::version());
        return Ok(());
    }
    let (name, key) = (read_name(args.obj_name_file.as_deref())?, read_name(args.omap_key_file.as_deref())?);
    let mut verb: Vec<&[u8]> = args.command.iter().map(|word| word.as_bytes()).collect();
    if verb.is_empty() {
        return Err(Failure::errno(Errno::EINVAL, "rados: you must give an action. Try --help"));
    }
    if let Some(name) = &name {
        verb.insert(1, name);
    }
    if let Some(key) = &key {
        verb.insert(verb.len().min(2), key);
    }
    if let [b"bench", ref bench @ ..] = verb[..] {
        return crate::cmd::bench::run_rados(&args, bench, options);
    }
    // A verb that is not here needs no cluster to say so.
    let word = String::from_utf8_lossy(verb[0]);
    if !VERBS.contains(&&*word) {
        return Err(verbs::unknown(&word, false));
    }
    runtime()?.block_on(async {
        let rados =
            args.connect.connect(&options).await.map_err(|e| e.context("couldn't connect to cluster"))?;
        dispatch(&rados, &args, &verb).await
    })
}

/// Everything that [`dispatch`] knows, and bench.
const VERBS: [&str; 35] = [
    "append",
    "bench",
    "cleanup",
    "clearomap",
    "cp",
    "cppool",
    "create",
    "df",
    "export",
    "get",
    "getomapheader",
    "getomapval",
    "getxattr",
    "import",
    "listomapkeys",
    "listomapvals",
    "listxattr",
    "lock",
    "ls",
    "lspools",
    "mkpool",
    "purge",
    "put",
    "rm",
    "rmomapkey",
    "rmpool",
    "rmxattr",
    "set-alloc-hint",
    "setomapheader",
    "setomapval",
    "setxattr",
    "stat",
    "stat2",
    "touch",
    "truncate",
];

async fn dispatch(rados: &Rados, args: &RadosArgs, verb: &[&[u8]]) -> CmdResult {
    match *verb {
        [b"lspools"] => return pool::list(rados, args.format).await,
        [b"mkpool", name] => return pool::create(rados, text(name)?, None).await,
        [b"mkpool", name, pgs] => {
            return pool::create(rados, text(name)?, Some(number(pgs, "number of pgs")?)).await;
        }
        [b"rmpool", name, again] if name == again && args.yes_i_really_really_mean_it => {
            return pool::remove(rados, text(name)?).await;
        }
        [b"rmpool", ..] => {
            return Err(Failure::errno(
                Errno::EPERM,
                "removing a pool removes its objects for good: rmpool NAME NAME --yes-i-really-really-mean-it",
            ));
        }
        [b"purge", name] => return copy::purge(rados, text(name)?, args).await,
        [b"cppool", from, to] => return copy::pool(rados, text(from)?, text(to)?).await,
        [b"df"] => return pool::usage(rados, args).await,
        _ => {}
    }
    let io = open_pool(rados, args).await?;
    match *verb {
        [b"ls"] | [b"ls", b"-"] => pool::objects(&io, args).await,
        [b"ls", _] => Err(Failure::errno(Errno::EINVAL, "ls writes to a file with -o FILE")),
        [b"put", oid, file] => object::put(&io, oid, file, args).await,
        [b"get", oid, file] => object::get(&io, oid, file, args.op_size()).await,
        [b"append", oid, file] => object::append(&io, oid, file, args.op_size()).await,
        [b"truncate", oid, length] => object::truncate(&io, oid, length).await,
        [b"create", oid] => object::create(&io, oid).await,
        [b"touch", oid] => object::touch(&io, oid, None).await,
        [b"touch", oid, time] => object::touch(&io, oid, Some(number(time, "timestamp")?)).await,
        [b"rm", ref oids @ ..] if !oids.is_empty() => object::remove(&io, oids).await,
        [b"cp", oid] => copy::object(&io, oid, None, args).await,
        [b"cp", oid, target] => copy::object(&io, oid, Some(target), args).await,
        [b"stat", oid] => object::stat(&io, oid, true, args.format).await,
        [b"stat2", oid] => object::stat(&io, oid, false, args.format).await,
        [b"set-alloc-hint", oid, size, write] => {
            let (size, write) =
                (number(size, "expected_object_size")?, number(write, "expected_write_size")?);
            object::alloc_hint(&io, oid, size, write).await
        }
        [b"listxattr", oid] => xattr::list(&io, oid, args.format).await,
        [b"getxattr", oid, name] => xattr::get(&io, oid, name).await,
        [b"setxattr", oid, name, ref value @ ..] => xattr::set(&io, oid, name, &input(args, value)?).await,
        [b"rmxattr", oid, name] => xattr::remove(&io, oid, name).await,
        [b"listomapkeys", oid] => omap::list_keys(&io, oid, args.format).await,
        [b"listomapvals", oid] => omap::list_values(&io, oid, args.format).await,
        [b"getomapval", oid, key] => omap::get(&io, oid, key, None).await,
        [b"getomapval", oid, key, file] => omap::get(&io, oid, key, Some(file)).await,
        [b"setomapval", oid, key, ref value @ ..] => omap::set(&io, oid, key, &input(args, value)?).await,
        [b"rmomapkey", oid, key] => omap::remove(&io, oid, key).await,
        [b"getomapheader", oid] => omap::get_header(&io, oid, None).await,
        [b"getomapheader", oid, file] => omap::get_header(&io, oid, Some(file)).await,
        [b"setomapheader", oid, ref value @ ..] => omap::set_header(&io, oid, &input(args, value)?).await,
        [b"clearomap", ref oids @ ..] if !oids.is_empty() => omap::clear(&io, oids).await,
        [b"lock", ref lock @ ..] => lock::run(&io, lock, args).await,
        [b"export"] => dump::export(&io, None).await,
        [b"export", file] => dump::export(&io, Some(file)).await,
        [b"import", file] => dump::import(&io, file, args).await,
        [b"cleanup"] => cleanup(&io, args).await,
        [verb, ..] => Err(verbs::unknown(&String::from_utf8_lossy(verb), true)),
        [] => Err(verbs::unknown("", true)),
    }
}

pub async fn open_pool(rados: &Rados, args: &RadosArgs) -> Result<IoCtx, Failure> {
    let opening = |pool: &str, e: sepiola_client::Error| {
        let failure = match e {
            sepiola_client::Error::NoSuchPool(_) => {
                let errno = Errno::ENOENT;
                Failure::errno(errno, errno.to_string()).hint("`sepiola rados lspools` lists the pools")
            }
            other => other.into(),
        };
        failure.context(format_args!("error opening pool {pool}"))
    };
    let pgid = pgid(args)?;
    let mut io = match (&args.pool, pgid) {
        (Some(pool), _) => {
            if args.create {
                let created = rados.create_pool(pool).await;
                created.map_err(|e| text::plain(e).context(format_args!("error creating pool {pool}")))?;
            }
            rados.open_ioctx(pool).await.map_err(|e| opening(pool, e))?
        }
        (None, Some(pg)) => {
            let opened = rados.open_ioctx_by_id(pg.pool).await;
            opened.map_err(|e| opening(&format!("with id {}", pg.pool), e))?
        }
        (None, None) => {
            return Err(Failure::errno(Errno::EINVAL, "pool name was not specified: give -p POOL"));
        }
    };
    if pgid.is_some_and(|pg| pg.pool != io.pool_id()) {
        return Err(Failure::errno(Errno::EINVAL, "invalid pgid"));
    }
    if let Some(namespace) = &args.namespace {
        io.set_namespace(namespace.as_bytes());
    }
    if let Some(key) = &args.locator {
        io.set_locator_key(key.as_bytes());
    }
    Ok(io)
}

/// The pg of `--pgid`.
fn pgid(args: &RadosArgs) -> Result<Option<PgId>, Failure> {
    let parsed = args.pgid.as_deref().map(str::parse).transpose();
    parsed.map_err(|_| Failure::errno(Errno::EINVAL, "invalid pgid"))
}

async fn cleanup(io: &IoCtx, args: &RadosArgs) -> CmdResult {
    let bench = &args.bench;
    let removed = match &args.prefix {
        None => crate::bench::cleanup(io, &bench.run_name, bench.concurrent).await?,
        Some(prefix) => {
            if !prefix.starts_with(crate::bench::ANY_RUN) {
                let why =
                    format!("objects of bench begin with {}, and so has --prefix to", crate::bench::ANY_RUN);
                return Err(Failure::errno(Errno::EINVAL, why));
            }
            let objects = if args.all { io.list_all_namespaces() } else { io.list() };
            let removed =
                crate::bench::remove_listed(io, objects, prefix.as_bytes(), bench.concurrent).await?;
            (removed > 0).then(|| {
                say!("Warning: using slow linear search");
                removed
            })
        }
    };
    if let Some(removed) = removed {
        say!("Removed {removed} objects");
    }
    Ok(())
}

fn number<T: std::str::FromStr>(word: &[u8], what: &str) -> Result<T, Failure> {
    let parsed = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    parsed.ok_or_else(|| {
        let word = String::from_utf8_lossy(word);
        Failure::errno(Errno::EINVAL, format!("Invalid value for {what}: '{word}'"))
    })
}

/// Names of pools are text.
fn text(word: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(word).map_err(|_| Failure::errno(Errno::EINVAL, "names of pools are UTF-8"))
}

/// A value from the command line, from --input-file, or from standard input.
fn input(args: &RadosArgs, words: &[&[u8]]) -> Result<Vec<u8>, Failure> {
    match (words, &args.input_file) {
        ([value], None) => Ok(value.to_vec()),
        ([], Some(file)) => read_file(file.as_os_str().as_bytes()),
        ([], None) => read_file(b"-"),
        _ => Err(Failure::errno(Errno::EINVAL, "give one value, or --input-file FILE")),
    }
}

fn read_name(file: Option<&Path>) -> Result<Option<Vec<u8>>, Failure> {
    file.map(|file| read_file(file.as_os_str().as_bytes())).transpose()
}

fn read_file(file: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut open_input(file)?, &mut bytes)?;
    Ok(bytes)
}

fn open_input(file: &[u8]) -> Result<Box<dyn std::io::Read>, Failure> {
    if file == b"-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = Path::new(OsStr::from_bytes(file));
    let opened = std::fs::File::open(file);
    let opened = opened
        .map_err(|e| text::io_error(&e).context(format_args!("error reading input file {}", file.display())));
    Ok(Box::new(opened?))
}

fn open_output(file: &[u8]) -> Result<Box<dyn std::io::Write>, Failure> {
    if file == b"-" {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    let file = Path::new(OsStr::from_bytes(file));
    let opened = std::fs::File::create(file);
    let opened =
        opened.map_err(|e| text::io_error(&e).context(format_args!("error opening {}", file.display())));
    Ok(Box::new(opened?))
}
