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
    /// How many OSDs; 1 if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub osds: Option<u32>,
    /// Where OSDs keep objects: mem.
    #[arg(long)]
    pub store: Option<Store>,
    /// Connection mode of every connection: secure or crc; secure unless --auth none.
    #[arg(long)]
    pub ms_mode: Option<MsMode>,
    /// cephx, which is the default, or none for no authentication at all.
    #[arg(long)]
    pub auth: Option<Auth>,
    /// Cipher of every key: aes, the default, for all clients, aes256k for 19.2.6, 20.2.4 and newer.
    #[arg(long)]
    pub key_type: Option<KeyType>,
    /// The monitor's port, 3300 if not given; 0 lets the system choose.
    #[arg(long)]
    pub port: Option<u16>,
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

impl UpArgs {
    fn has_settings_of_new_clusters(&self) -> bool {
        self.osds.is_some()
            || self.store.is_some()
            || self.ms_mode.is_some()
            || self.auth.is_some()
            || self.key_type.is_some()
            || self.port.is_some()
    }
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
        .osds(up.osds.unwrap_or(1))
        .store(up.store.unwrap_or_default())
        .auth(up.auth.unwrap_or_default())
        .key_type(up.key_type.unwrap_or(KeyType::Aes))
        .port(up.port.unwrap_or(3300));
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
    if RunningCluster::open(&args.dir).is_ok() {
        if up.has_settings_of_new_clusters() {
            eprintln!("note: this cluster was made before and starts as it was; only --pool counts");
        }
    } else if up.auth == Some(Auth::None) {
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
        let Some(mut cluster) = cluster else { return Ok(()) };
        tokio::select! {
            asked = interrupted => Ok(asked?),
            ended = cluster.daemon_ended() => Err(ended.into()),
        }
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
    say!("cluster is up: {conf}");
    if pools.is_empty() {
        say!("  sepiola rados -c {conf} mkpool POOL");
    }
    say!("  sepiola rados -c {conf} -p {pool} put greeting /etc/hostname");
    say!("  rados -c {conf} -p {pool} ls");
    say!("  ceph -c {conf} -s");
    if up.foreground {
        say!("stop it: Ctrl-C");
    } else {
        say!("stop it: sepiola cluster down --dir {}", layout.dir().display());
    }
}

fn pool_names(up: &UpArgs) -> Vec<String> {
    up.pools.iter().map(|p| p.split(':').next().unwrap_or_default().to_owned()).collect()
}

fn stop(args: &ClusterArgs, purge: bool) -> CmdResult {
    let cluster = RunningCluster::open(&args.dir)?;
    let stopped = cluster.stop()?;
    if purge {
        cluster.layout().remove()?;
    }
    if args.format.is_json() {
        args.format.print(&serde_json::json!({ "stopped": stopped, "purged": purge }));
    } else {
        say!("stopped {stopped} daemon{}", if stopped == 1 { "" } else { "s" });
    }
    Ok(())
}

fn status(args: &ClusterArgs) -> CmdResult {
    let cluster = RunningCluster::open(&args.dir)?;
    let daemons = cluster.daemons();
    if args.format.is_json() {
        args.format.print(&serde_json::json!({ "conf": cluster.layout().conf(), "daemons": daemons }));
    } else {
        say!("{}", cluster.layout().conf().display());
        for daemon in &daemons {
            let state = if daemon.running { "running" } else { "not running" };
            say!("{:<8}{state:<12}{:<8}{}", daemon.name, daemon.pid, daemon.addr.as_deref().unwrap_or("-"));
        }
    }
    let dir = cluster.layout().dir().display();
    if daemons.iter().all(|d| !d.running) {
        Err(Failure::new(format!("the cluster is stopped: start it with `sepiola cluster up --dir {dir}`")))
    } else if daemons.iter().all(|d| d.running) {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "not every daemon is running: see {dir}/log, or start anew with `cluster down` and `cluster up`"
        )))
    }
}
