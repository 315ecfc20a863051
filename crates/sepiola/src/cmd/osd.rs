//! `sepiola osd`: one OSD in the foreground.

use std::sync::Arc;

use clap::Args;
use sepiola_cluster::daemon_options::osd_options;
use sepiola_wire::{EntityName, OsdId};

use crate::{
    admin::{Admin, Daemon},
    cli::ConnectArgs,
    connect::ConfigOptions,
    daemon,
    failure::CmdResult,
    logging,
};

/// Flags of `sepiola osd`.
#[derive(Debug, Args)]
pub struct OsdArgs {
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// Which OSD.
    #[arg(short = 'i', value_name = "ID")]
    pub osd_id: u16,
    #[command(flatten)]
    pub daemon: daemon::DaemonArgs,
}

/// Runs the OSD until it is asked to end.
pub fn run(args: OsdArgs, options: ConfigOptions) -> CmdResult {
    let config = args.connect.config_for(EntityName::osd(OsdId(args.osd_id.into())), &options)?;
    logging::start(&config)?;
    let mut osd = osd_options(&config)?;
    osd.ready_file = args.daemon.ready_file.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let config = osd.monitors.config.clone();
    let admin = Arc::new(Admin::new(config.clone(), Daemon::Osd(osd.handle.clone())));
    osd.commands = Some(admin.clone());
    runtime.block_on(daemon::until_asked(&args.daemon, &config, admin, |shutdown| {
        sepiola_osd::run(osd, shutdown)
    }))?;
    Ok(())
}
