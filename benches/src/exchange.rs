//! The ceiling: requests and replies of the right size over one TCP connection between two processes that
//! do nothing but frame them.

use std::{
    fmt,
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use clap::ValueEnum;
use sepiola_cluster::MsMode;
use sepiola_crypto::Role;
use sepiola_msgr2::{
    ReadBuffer,
    frame::{FrameDecoder, FrameEncoder},
};
use sepiola_tests::{Failure, Result};
use sepiola_wire::Epoch;
use serde::{Deserialize, Serialize};

use crate::{Load, Op, frames};

/// What an end does while there is nothing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// Sleeps in the kernel, as programs do by default.
    Sleep,
    /// Asks again, at the price of a processor.
    Spin,
}

impl Wait {
    /// How a program waits that spins so many microseconds before it sleeps.
    pub fn of_spin(microseconds: u64) -> Self {
        if microseconds > 0 { Wait::Spin } else { Wait::Sleep }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wait::Sleep => "sleep",
            Wait::Spin => "spin",
        })
    }
}

/// What is exchanged.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Exchange {
    pub mode: MsMode,
    pub wait: Wait,
    pub op: Op,
    pub load: Load,
    /// Messages after which an end writes although it has more to send.
    pub part: usize,
}

/// One run of an exchange, as `loopback --format json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// `crc` or `secure`.
    pub mode: String,
    /// How both ends waited.
    pub wait: Wait,
    /// Which messages.
    pub op: Op,
    /// Their size, and how many requests were in flight.
    pub load: Load,
    /// How many messages left together at most.
    pub part: usize,
    /// Exchanges a second.
    pub iops: f64,
    /// Processor seconds of the requesting process per 1000 exchanges.
    pub client_cpu: f64,
    /// The same of the answering process, its start included.
    pub peer_cpu: f64,
}

impl Ceiling {
    /// Whether it is a run of the same exchange, in parts of whatever size.
    pub fn is_like(&self, other: &Ceiling) -> bool {
        let what = |c: &Ceiling| (c.wait, c.op, c.load);
        self.mode == other.mode && what(self) == what(other)
    }
}

/// One end of the connection.
struct End {
    stream: TcpStream,
    wait: Wait,
    encoder: FrameEncoder,
    decoder: FrameDecoder,
    input: ReadBuffer,
    output: Vec<u8>,
    message: frames::Message,
    sent: u64,
    part: usize,
    unwritten: usize,
}

impl Exchange {
    fn end(&self, stream: TcpStream, role: Role) -> io::Result<End> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(self.wait == Wait::Spin)?;
        let (encoder, decoder) = frames::codec(self.mode, role);
        let message = match role {
            Role::Client => frames::Message::request(self.op, self.load.size, Epoch(10)),
            Role::Server => frames::Message::reply(self.op, self.load.size, Epoch(10)),
        };
        Ok(End {
            stream,
            wait: self.wait,
            encoder,
            decoder,
            input: ReadBuffer::new(),
            output: Vec::new(),
            message,
            sent: 0,
            part: self.part,
            unwritten: 0,
        })
    }

    /// Keeps requests in flight for a while. Returns how many were answered, and the time it took.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn request(&self, stream: TcpStream, time: Duration) -> Result<(u64, Duration)> {
        let mut end = self.end(stream, Role::Client).map_err(broken)?;
        let (start, mut answered) = (Instant::now(), 0);
        for _ in 0..self.load.depth {
            end.send()?;
        }
        loop {
            end.flush().map_err(broken)?;
            if !end.fill().map_err(broken)? {
                return Err(Failure::new("the peer ended early"));
            }
            while end.received()? {
                answered += 1;
                end.send()?;
            }
            let elapsed = start.elapsed();
            // Large messages may need longer than the time for the first one.
            if elapsed >= time && answered > 0 {
                return Ok((answered, elapsed));
            }
        }
    }

    /// Answers requests until the other end goes.
    ///
    /// # Errors
    /// If what arrives is not what was agreed.
    pub fn answer(&self, stream: TcpStream) -> Result<()> {
        let mut end = self.end(stream, Role::Server).map_err(broken)?;
        // Whoever goes leaves replies unread, which resets the connection.
        while end.fill().unwrap_or(false) {
            while end.received()? {
                end.seal()?;
                if end.part_is_full() && end.flush().is_err() {
                    return Ok(());
                }
            }
            if end.flush().is_err() {
                break;
            }
        }
        Ok(())
    }
}

impl End {
    /// Appends this end's message to what leaves next, and writes if that is enough for a part.
    fn send(&mut self) -> Result<()> {
        self.seal()?;
        if self.part_is_full() { self.flush().map_err(broken) } else { Ok(()) }
    }

    /// Appends this end's message to what leaves next.
    fn seal(&mut self) -> Result<()> {
        (self.sent, self.unwritten) = (self.sent + 1, self.unwritten + 1);
        self.message.encode(&mut self.encoder, &mut self.output, self.sent).map_err(broken)
    }

    fn part_is_full(&self) -> bool {
        self.unwritten >= self.part
    }

    /// Takes one of the other end's messages, if it is there.
    fn received(&mut self) -> Result<bool> {
        Ok(self.decoder.poll(&mut self.input).map_err(broken)?.is_some())
    }

    /// Reads what has arrived, at least a byte. False at the end.
    fn fill(&mut self) -> io::Result<bool> {
        // Asked for once: what it lends again, it takes for filled in between.
        let space = self.input.spare_mut();
        let n = retry(self.wait, || self.stream.read(space))?;
        self.input.commit(n);
        Ok(n > 0)
    }

    /// Writes everything that is sealed in one go, as far as the socket takes it.
    fn flush(&mut self) -> io::Result<()> {
        let mut written = 0;
        while written < self.output.len() {
            written += retry(self.wait, || self.stream.write(&self.output[written..]))?;
        }
        self.output.clear();
        self.unwritten = 0;
        Ok(())
    }
}

/// Repeats what would have to wait. Only a spinning end's socket says so.
fn retry(wait: Wait, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock && wait == Wait::Spin => std::hint::spin_loop(),
            done => return done,
        }
    }
}

fn broken(error: impl fmt::Display) -> Failure {
    Failure::new(format!("the exchange failed: {error}"))
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    #[test]
    fn every_kind_of_exchange_works() {
        for mode in [MsMode::Crc, MsMode::Secure] {
            for wait in [Wait::Sleep, Wait::Spin] {
                for op in Op::ALL {
                    // Large enough for a buffer of its own, of which one read brings a part.
                    for (size, least) in [(4096, 5), (1 << 20, 1)] {
                        let load = Load { size, depth: 4 };
                        let exchange = Exchange { mode, wait, op, load, part: 3 };
                        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                        let address = listener.local_addr().unwrap();
                        let peer = thread::spawn(move || {
                            exchange.answer(TcpStream::connect(address).unwrap()).unwrap();
                        });
                        let (stream, _) = listener.accept().unwrap();
                        let (answered, _) = exchange.request(stream, Duration::from_millis(50)).unwrap();
                        peer.join().unwrap();
                        assert!(answered >= least, "{exchange:?}");
                    }
                }
            }
        }
    }
}
