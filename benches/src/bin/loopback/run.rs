//! One exchange: this process asks, another one of the same program answers.

use std::{fmt::Display, net::TcpListener, process::Command, time::Duration};

use sepiola_benches::{
    Pinning,
    exchange::{Ceiling, Exchange},
    process::{ended_children_cpu, own_cpu},
};
use sepiola_tests::{Failure, Result};

/// Measures an exchange once.
pub fn measure(exchange: &Exchange, time: Duration, pinning: Option<Pinning>) -> Result<Ceiling> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed("listening"))?;
    let address = listener.local_addr().map_err(failed("listening"))?;
    // A process that is started runs where its parent does.
    if let Some(pinning) = pinning {
        Pinning::pin_this_process(pinning.daemons)?;
    }
    let children = ended_children_cpu()?;
    let mut peer = command(exchange, &address)?.spawn().map_err(failed("starting the peer"))?;
    let (stream, _) = listener.accept().map_err(failed("accepting"))?;
    if let Some(pinning) = pinning {
        Pinning::pin_this_process(pinning.client)?;
    }
    let own = own_cpu()?;
    let (answered, took) = exchange.request(stream, time)?;
    let own = own_cpu()? - own;
    let status = peer.wait().map_err(failed("waiting for the peer"))?;
    if !status.success() || answered == 0 {
        return Err(Failure::new(format!(
            "{answered} requests were answered, and the peer ended with {status}"
        )));
    }
    let per_1000 = |cpu: Duration| cpu.as_secs_f64() * 1e3 / answered as f64;
    Ok(Ceiling {
        mode: exchange.mode.to_string(),
        wait: exchange.wait,
        op: exchange.op,
        load: exchange.load,
        part: exchange.part,
        iops: answered as f64 / took.as_secs_f64(),
        client_cpu: per_1000(own),
        peer_cpu: per_1000(ended_children_cpu()? - children),
    })
}

/// This program as the answering process of an exchange.
fn command(exchange: &Exchange, address: &impl Display) -> Result<Command> {
    let program = std::env::current_exe().map_err(failed("finding this program"))?;
    let mut command = Command::new(program);
    for (option, value) in [
        ("--peer", address.to_string()),
        ("--modes", exchange.mode.to_string()),
        ("--waits", exchange.wait.to_string()),
        ("--ops", exchange.op.to_string()),
        ("--size", exchange.load.size.to_string()),
        ("--qd", exchange.load.depth.to_string()),
        ("--parts", exchange.part.to_string()),
    ] {
        command.args([option, &value]);
    }
    Ok(command)
}

/// Says what was being done when something failed.
pub fn failed<E: Display>(doing: &str) -> impl FnOnce(E) -> Failure {
    move |e| Failure::new(format!("{doing}: {e}"))
}
