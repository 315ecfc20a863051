//! The admin socket: `ceph daemon NAME COMMAND` and `ceph --admin-daemon SOCKET COMMAND` ask a running daemon
//! about itself.
//!
//! A request is a command, as JSON with a `prefix` or as bare words, ended by a NUL or a newline. The answer is
//! a big-endian `u32` length and as many bytes; then the daemon closes. Whoever may open the socket's file is
//! administrator.

mod commands;
pub mod counters;
mod options;
mod perf;

use std::{
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    time::timeout,
};

use crate::places::Places;
pub use commands::{Admin, Daemon};

/// Longer requests are none.
const MAX_REQUEST: usize = 64 << 10;
/// Requests at once.
const CONNECTIONS: usize = 8;
/// A request that takes longer than this was given up by its sender.
const PATIENCE: Duration = Duration::from_secs(5);

/// A bound socket whose file goes with it.
pub struct AdminSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl AdminSocket {
    /// Binds `path`, in place of what an earlier process left there.
    ///
    /// # Errors
    /// `AddrInUse` when somebody answers there: the daemon is running already.
    pub fn bind(path: &Path) -> io::Result<Self> {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        // Bound in a folder that nobody else may enter and then moved, so that there is no moment at which
        // others could connect.
        let folder = path.with_extension("asok.new");
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let bound = Self::bind_in(&folder, path);
        let _ = std::fs::remove_dir_all(&folder);
        Ok(AdminSocket { listener: bound?, path: path.to_owned() })
    }

    fn bind_in(folder: &Path, path: &Path) -> io::Result<UnixListener> {
        let inside = folder.join("s");
        let listener = UnixListener::bind(&inside)?;
        std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&inside, path)?;
        Ok(listener)
    }

    /// Answers requests for as long as it is polled.
    pub async fn serve(self, admin: Arc<Admin>) {
        let mut places = Places::new(CONNECTIONS);
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // Out of descriptors, say; that passes.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let admin = admin.clone();
            places.serve(async move {
                if let Ok(Err(error)) = timeout(PATIENCE, answer(stream, &admin)).await {
                    tracing::debug!(%error, "admin socket");
                }
            });
        }
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer(mut stream: UnixStream, admin: &Admin) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.contains(&0) && !request.contains(&b'\n') {
        let mut chunk = [0; 1024];
        let n = stream.read(&mut chunk).await?;
        if n == 0 || request.len() + n > MAX_REQUEST {
            return Ok(());
        }
        request.extend_from_slice(&chunk[..n]);
    }
    let end = request.iter().position(|b| matches!(b, 0 | b'\n')).unwrap_or(request.len());
    let reply = admin.answer(&String::from_utf8_lossy(&request[..end]));
    let len = u32::try_from(reply.len()).unwrap_or(u32::MAX);
    stream.write_all(&len.to_be_bytes()).await?;
    stream.write_all(&reply).await
}

#[cfg(test)]
mod tests {
    use sepiola_config::{Config, SharedConfig};
    use sepiola_wire::EntityName;

    use super::*;

    #[tokio::test]
    async fn the_socket_of_a_running_daemon_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("osd.0.asok");
        let first = AdminSocket::bind(&path).unwrap();
        let second = AdminSocket::bind(&path).err().map(|e| e.kind());
        assert_eq!(second, Some(io::ErrorKind::AddrInUse));
        assert!(path.exists());
        drop(first);
        // What a process that was killed leaves behind is in nobody's way.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        AdminSocket::bind(&path).unwrap();
    }

    #[tokio::test]
    async fn a_command_is_answered_with_its_length_and_the_file_goes_with_the_socket() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("osd.0.asok");
        let socket = AdminSocket::bind(&path).unwrap();
        let config = SharedConfig::new(Config::new(EntityName::client("x")));
        let admin = Admin::new(config, Daemon::Osd(Default::default()));
        let server = tokio::spawn(socket.serve(Arc::new(admin)));
        let mut stream = UnixStream::connect(&path).await.unwrap();
        stream.write_all(b"{\"prefix\": \"version\"}\0").await.unwrap();
        let len = stream.read_u32().await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        assert_eq!(reply.len(), len as usize);
        assert!(reply.contains("\"version\""), "{reply}");
        server.abort();
        let _ = server.await;
        assert!(!path.exists());
    }
}
