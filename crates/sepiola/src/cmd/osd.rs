//! `sepiola osd`: one OSD in the foreground.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use clap::Args;
use sepiola_monclient::{MonClientOptions, method_options, mode_options};
use sepiola_objectstore::MemStore;
use sepiola_osd::OsdOptions;
use sepiola_wire::{EntityName, EntityType, OsdId};

use crate::{
    admin::PerfSource,
    cli::ConnectArgs,
    connect::ConfigOptions,
    daemon,
    failure::{CmdResult, Failure},
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
    let id = OsdId(args.osd_id.into());
    let config = args.connect.config_for(EntityName::osd(id), &options)?;
    logging::start(&config)?;
    let store = match config.text("osd_objectstore").as_deref() {
        None | Some("mem" | "memstore") => Arc::new(MemStore::new()),
        Some(other) => return Err(Failure::new(format!("osd_objectstore: `{other}` is not there: use mem"))),
    };
    let monitors = MonClientOptions::from_config(&config)?;
    let mut osd = OsdOptions::new(id, monitors, store);
    if let Some(addr) = config.text("public_addr") {
        let ip =
            addr.parse().map_err(|_| Failure::new(format!("public_addr: `{addr}` is not an IP address")))?;
        osd.listen = SocketAddr::new(ip, 0);
    }
    osd.allowed = mode_options(&config)?.allowed(EntityType::Osd, &method_options(&config)?);
    osd.spin = Duration::from_micros(config.u64("spin_us")?);
    osd.ready_file = args.daemon.ready_file.clone();
    if let Some(host) = config.text("host") {
        osd.metadata.insert("hostname".to_owned(), host);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let perf = PerfSource::Osd(osd.perf.clone());
    runtime.block_on(daemon::until_asked(&args.daemon, config, perf, |shutdown| {
        sepiola_osd::run(osd, shutdown)
    }))?;
    Ok(())
}
