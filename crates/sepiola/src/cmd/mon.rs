//! `sepiola mon`: one monitor in the foreground.

use std::sync::Arc;

use clap::Args;
use sepiola_cluster::daemon_options::{make_mon_store, mon_options};
use sepiola_wire::{EntityName, EntityType};

use crate::{
    admin::{Admin, Daemon},
    cli::ConnectArgs,
    connect::ConfigOptions,
    daemon,
    failure::CmdResult,
    logging,
};

/// Flags of `sepiola mon`.
#[derive(Debug, Args)]
pub struct MonArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Which monitor.
    #[arg(short = 'i', value_name = "ID")]
    pub mon_id: String,
    /// Make the store of a new cluster first, if there is none, from fsid, mon_host and the keyring.
    #[arg(long)]
    pub mkfs: bool,
    #[command(flatten)]
    pub daemon: daemon::DaemonArgs,
}

/// Runs the monitor until it is asked to end.
pub fn run(args: MonArgs, options: ConfigOptions) -> CmdResult {
    let name = EntityName::new(EntityType::Mon, &args.mon_id);
    let config = args.connect.config_for(name, &options)?;
    logging::start(&config)?;
    if args.mkfs {
        make_mon_store(&config)?;
    }
    let mut mon = mon_options(&config)?;
    mon.ready_file = args.daemon.ready_file.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let config = mon.config.clone();
    let admin = Arc::new(Admin::new(config.clone(), Daemon::Mon(mon.handle.clone())));
    mon.commands = Some(admin.clone());
    runtime.block_on(daemon::until_asked(&args.daemon, &config, admin, |shutdown| {
        sepiola_mon::run(mon, shutdown)
    }))?;
    if args.daemon.exit_with_stdin {
        // The parent may have been killed, and then nobody else removes the folder that was its own.
        sepiola_cluster::remove_abandoned();
    }
    Ok(())
}
