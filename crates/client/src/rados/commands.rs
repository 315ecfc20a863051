//! Commands to monitors and OSDs.

use std::time::Duration;

use bytes::Bytes;
use sepiola_wire::{AddrType, EntityAddr, Errno, OsdId, PgId};
use serde_json::json;

use super::Rados;
use crate::{Error, Result};

/// What a monitor answered to a command that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// A line of explanation, which tools print to stderr.
    pub status: String,
    /// The output, which tools print to stdout.
    pub output: Bytes,
}

impl Rados {
    /// Runs a monitor command: a JSON object such as `{"prefix": "osd pool ls", "format": "json"}`, and
    /// input for those that take some.
    ///
    /// # Errors
    /// [`Error::Command`] if it fails; when there is no answer in time it may have been executed.
    pub async fn mon_command(
        &self,
        command: impl Into<String>,
        input: impl Into<Bytes>,
    ) -> Result<CommandOutput> {
        let reply = self.mon().command(command, input, self.mon_timeout()).await?;
        outcome(reply.code, reply.status, reply.output)
    }

    /// Runs a command on one OSD, as `ceph tell osd.N` does.
    ///
    /// # Errors
    /// [`Error::Command`] if it fails, ENXIO if the OSD is down; when there is no answer in time it may have
    /// been executed.
    pub async fn osd_command(
        &self,
        osd: OsdId,
        command: impl Into<String>,
        input: impl Into<Bytes>,
    ) -> Result<CommandOutput> {
        let reply = self.objecter().osd_command(osd, command.into(), input.into()).await?;
        outcome(reply.result, reply.status, reply.output)
    }

    /// Runs a command on the OSD that serves a pg, as `ceph tell PG` does.
    ///
    /// # Errors
    /// As [`Rados::osd_command`], and ENOENT if there is no such pg.
    pub async fn pg_command(
        &self,
        pg: PgId,
        command: impl Into<String>,
        input: impl Into<Bytes>,
    ) -> Result<CommandOutput> {
        let reply = self.objecter().pg_command(pg, command.into(), input.into()).await?;
        outcome(reply.result, reply.status, reply.output)
    }

    /// Asks one monitor, by its name in the monitor map (`a`), how it is: a JSON object with the cluster's
    /// health and the monitor's status. It need not be the one that this handle has a session with.
    ///
    /// # Errors
    /// ENOENT if there is no monitor of that name; when it does not answer in time.
    pub async fn ping_monitor(&self, name: &str) -> Result<String> {
        Ok(self.mon().ping(name, self.mon_timeout()).await?)
    }

    /// Keeps the client with this address from reaching OSDs, for a time or, if none is given, for as long
    /// as the cluster does by default (an hour). Another handle's address is its [`Rados::address`]; a
    /// lock's holder has it in [`Locker::addr`](crate::Locker::addr). When this returns, this client knows
    /// the map that says so; what is written through it afterwards, the blocked client cannot overwrite.
    ///
    /// # Errors
    /// When no monitor answers in time, or without the right to do so.
    pub async fn blocklist_add(&self, addr: EntityAddr, time: Option<Duration>) -> Result<()> {
        // Without a kind it stands for the client whatever protocol it speaks.
        let addr = EntityAddr { kind: AddrType::Any, ..addr };
        let mut command = json!({"prefix": "osd blocklist", "blocklistop": "add", "addr": addr.to_string()});
        if let Some(time) = time {
            command["expire"] = time.as_secs_f64().into();
        }
        self.mon_command(command.to_string(), "").await?;
        self.wait_for_latest_osdmap().await?;
        Ok(())
    }
}

fn outcome(code: i32, status: String, output: Bytes) -> Result<CommandOutput> {
    match Errno::from_wire(code) {
        Ok(_) => Ok(CommandOutput { status, output }),
        Err(errno) => Err(Error::Command { errno, status, output }),
    }
}
