//! Commands to one OSD, as `ceph tell` sends them. Each has a connection of its own, so that it neither
//! waits for operations nor holds them up; commands are rare.

use bytes::Bytes;
use sepiola_messages::{Command, CommandReply, kind};
use sepiola_messenger::{CloseReason, Sender, decode};
use sepiola_msgr2::Message;
use sepiola_wire::{Errno, OsdId, PgId, Tid};

use super::{Objecter, connect::connect, session::Session};
use crate::Error;

impl Objecter {
    /// Runs a command on the OSD that serves `pg`.
    ///
    /// # Errors
    /// As [`Objecter::osd_command`]; ENOENT without the pool, ENXIO if no OSD serves the pg.
    pub(crate) async fn pg_command(
        &self,
        pg: PgId,
        cmd: String,
        input: Bytes,
    ) -> Result<CommandReply, Error> {
        let map = self.map();
        let refused = |errno, why: &str| Error::Command {
            errno,
            status: format!("pg {pg}: {why}"),
            output: Bytes::new(),
        };
        if map.pool(pg.pool).is_none_or(|pool| pg.ps >= pool.pg_num) {
            return Err(refused(Errno::ENOENT, "there is no such pg"));
        }
        let osd = map.pg_to_up_acting(pg).acting_primary;
        self.osd_command(osd.ok_or_else(|| refused(Errno::ENXIO, "no OSD serves it"))?, cmd, input).await
    }

    /// Runs a command on an OSD. A command that fails is a reply with a negative result.
    ///
    /// # Errors
    /// ENOENT and ENXIO for an OSD that is not there or down; those of connecting; [`Error::TimedOut`] at the
    /// deadline of operations, when it may have been executed.
    pub(crate) async fn osd_command(
        &self,
        osd: OsdId,
        cmd: String,
        input: Bytes,
    ) -> Result<CommandReply, Error> {
        let work = self.run_command(osd, Command { fsid: self.map().fsid(), cmd: vec![cmd], input });
        match self.0.options.op_timeout.get() {
            None => work.await,
            Some(limit) => tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
                Err(self.0.timed_out("command", b"", format!("no answer from osd.{osd}")))
            }),
        }
    }

    async fn run_command(&self, osd: OsdId, command: Command) -> Result<CommandReply, Error> {
        let map = self.map();
        let refused = |errno, why: &str| Error::Command {
            errno,
            status: format!("osd.{osd} {why}"),
            output: Bytes::new(),
        };
        let info = map.osd(osd).ok_or_else(|| refused(Errno::ENOENT, "does not exist"))?;
        if !map.is_up(osd) {
            return Err(refused(Errno::ENXIO, "is down"));
        }
        let addr = *info.client_addrs.msgr2().ok_or_else(|| refused(Errno::ENXIO, "has no address"))?;
        let session = Session::new(osd, addr);
        let connected = match connect(&self.0, &session).await {
            // A refusal may be a stale ticket.
            Err(Error::Denied(_)) => {
                self.0.link.ticket_refused();
                connect(&self.0, &session).await
            }
            connected => connected,
        };
        let (sender, receiver, _) = connected?;
        sender.send_typed(&command, Tid(1)).map_err(|e| Error::Connect(format!("osd.{osd}: {e}")))?;
        let mut reply = None;
        let ended = receiver
            .run(|message: Message<'_>, _: &Sender| {
                if message.header.kind != kind::COMMAND_REPLY {
                    // Maps come unasked.
                    return Ok(());
                }
                reply = Some(decode::<CommandReply>(&message)?);
                Err(CloseReason::dispatch("the command was answered"))
            })
            .await;
        reply.ok_or_else(|| Error::Connect(format!("osd.{osd}: {ended}")))
    }
}
