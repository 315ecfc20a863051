//! `sepiola cluster`: a mini-cluster of processes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sepiola_cluster::{Auth, Cluster, ClusterError, ClusterOptions, Layout, MsMode, RunningCluster, Store};
use sepiola_crypto::KeyType;

use crate::{
    cli::Format,
    failure::{CmdResult, Failure},
};

/// Flags and actions of `sepiola cluster`.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// The cluster's folder.
    #[arg(long, default_value = "./sepiola-cluster", global = true)]
    pub dir: PathBuf,
    /// The form of output.
    #[arg(short = 'f', long, value_enum, default_value_t, global = true)]
    pub format: Format,
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with it.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Start a cluster, or one that was stopped.
    Up(UpArgs),
    /// Stop the cluster.
    Down {
        /// Remove its folder as well, and all that was stored.
        #[arg(long)]
        purge: bool,
    },
    /// Show its daemons.
    Status,
}

/// Settings of a new cluster.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// How many OSDs.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub osds: u32,
    /// Where OSDs keep objects.
    #[arg(long, default_value_t)]
    pub store: Store,
    /// Connection mode of every connection: secure or crc; secure unless --auth none.
    #[arg(long)]
    pub ms_mode: Option<MsMode>,
    /// cephx, or none for no authentication at all.
    #[arg(long, default_value_t)]
    pub auth: Auth,
    /// Cipher of every key: aes for all clients, aes256k for 19.2.6, 20.2.4 and newer.
    #[arg(long, default_value = "aes")]
    pub key_type: KeyType,
    /// The monitor's port; 0 lets the system choose.
    #[arg(long, default_value_t = 3300)]
    pub port: u16,
    /// A pool to create; may be given several times.
    #[arg(long = "pool", value_name = "NAME[:PGS]")]
    pub pools: Vec<String>,
    /// Monitors of the cluster; more than one needs consensus, which is not there yet.
    #[arg(long, default_value_t = 1)]
    pub mons: u32,
    /// Stay until interrupted, then stop the cluster.
    #[arg(long)]
    pub foreground: bool,
}

/// Runs the action.
pub fn run(args: ClusterArgs) -> CmdResult {
    match &args.action {
        Action::Up(up) => start(&args, up),
        Action::Down { purge } => stop(&args, *purge),
        Action::Status => status(&args),
    }
}

fn start(args: &ClusterArgs, up: &UpArgs) -> CmdResult {
    if up.mons != 1 {
        return Err(Failure::new(
            "--mons: one monitor is all there can be until consensus between monitors exists",
        ));
    }
    let mut options = ClusterOptions::new(&args.dir)
        .program(std::env::current_exe()?)
        .osds(up.osds)
        .store(up.store)
        .auth(up.auth)
        .key_type(up.key_type)
        .port(up.port);
    if let Some(mode) = up.ms_mode {
        options = options.ms_mode(mode);
    }
    for pool in &up.pools {
        options = match pool.split_once(':') {
            None => options.pool(pool),
            Some((name, pgs)) => {
                let pgs =
                    pgs.parse().map_err(|_| Failure::new(format!("--pool {pool}: expected NAME[:PGS]")))?;
                options.pool_with_pgs(name, pgs)
            }
        };
    }
    if up.auth == Auth::None {
        eprintln!(
            "note: --auth none: no authentication, and crc connections, since there is no key to encrypt with"
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupted = std::pin::pin!(crate::daemon::interrupted());
        let starting = async {
            if up.foreground {
                let cluster = options.start().await?;
                print_up(cluster.layout(), up, args.format);
                return Ok(Some(cluster));
            }
            let layout = Cluster::start_detached(options).await?;
            print_up(&layout, up, args.format);
            Ok(None)
        };
        // The signals are polled first, so that they are caught from here on: who interrupts a start finds
        // it undone, and one that comes right behind the last line stops the cluster.
        let cluster = tokio::select! {
            biased;
            asked = &mut interrupted => {
                asked?;
                return Err(Failure::new("interrupted before the cluster was up"));
            }
            started = starting => started.map_err(|e: ClusterError| Failure::from(e))?,
        };
        if let Some(cluster) = cluster {
            interrupted.await?;
            drop(cluster);
        }
        Ok(())
    })
}

fn print_up(layout: &Layout, up: &UpArgs, format: Format) {
    let conf = layout.conf();
    if format.is_json() {
        format.print(&serde_json::json!({
            "dir": layout.dir(), "conf": conf, "keyring": layout.admin_keyring(), "pools": pool_names(up),
        }));
        return;
    }
    let conf = conf.display();
    let pools = pool_names(up);
    let pool = pools.first().map_or("POOL", String::as_str);
    println!("cluster is up: {conf}");
    if pools.is_empty() {
        println!("  sepiola rados -c {conf} mkpool POOL");
    }
    println!("  sepiola rados -c {conf} -p {pool} put greeting /etc/hostname");
    println!("  rados -c {conf} -p {pool} ls");
    println!("  ceph -c {conf} -s");
    println!("stop it: sepiola cluster down --dir {}", layout.dir().display());
}

fn pool_names(up: &UpArgs) -> Vec<String> {
    up.pools.iter().map(|p| p.split(':').next().unwrap_or_default().to_owned()).collect()
}

fn stop(args: &ClusterArgs, purge: bool) -> CmdResult {
    let cluster = RunningCluster::open(&args.dir)?;
    let stopped = cluster.stop()?;
    if purge {
        std::fs::remove_dir_all(cluster.layout().dir())?;
    }
    if args.format.is_json() {
        args.format.print(&serde_json::json!({ "stopped": stopped, "purged": purge }));
    } else {
        println!("stopped {stopped} daemons");
    }
    Ok(())
}

fn status(args: &ClusterArgs) -> CmdResult {
    let cluster = RunningCluster::open(&args.dir)?;
    let daemons = cluster.daemons();
    if args.format.is_json() {
        args.format.print(&serde_json::json!({ "conf": cluster.layout().conf(), "daemons": daemons }));
    } else {
        println!("{}", cluster.layout().conf().display());
        for daemon in &daemons {
            let state = if daemon.running { "running" } else { "not running" };
            println!(
                "{:<8}{state:<12}{:<8}{}",
                daemon.name,
                daemon.pid,
                daemon.addr.as_deref().unwrap_or("-")
            );
        }
    }
    if !daemons.is_empty() && daemons.iter().all(|d| d.running) {
        Ok(())
    } else {
        Err(Failure::new("not every daemon is running: see the log folder, or start again with `cluster up`"))
    }
}
