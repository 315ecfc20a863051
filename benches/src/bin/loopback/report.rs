//! The figures as a table and as JSON.

use sepiola_benches::{Machine, Pinning, Spread, exchange::Ceiling};

/// Every run.
pub fn json(machine: &Machine, pinning: Option<Pinning>, ceilings: &[Ceiling]) {
    println!("{:#}", serde_json::json!({ "machine": machine, "pinning": pinning, "ceilings": ceilings }));
}

/// Medians over the rounds.
pub fn markdown(machine: &Machine, pinning: Option<Pinning>, rounds: usize, seconds: f64, all: &[Ceiling]) {
    println!(
        "{machine}; {}; {rounds} rounds of {seconds} s; median (min–max).\n",
        Pinning::describe(pinning)
    );
    if let Some(warning) = machine.warning() {
        println!("{warning}\n");
    }
    println!("| load | waiting | op | mode | exchanges/s | client CPU s/1000 | peer CPU s/1000 |");
    println!("|---|---|---|---|---|---|---|");
    let what = |c: &Ceiling| (c.mode.clone(), c.wait, c.op, c.load);
    // The first round has each exchange once.
    for first in &all[..all.len() / rounds.max(1)] {
        let same = || all.iter().filter(|c| what(c) == what(first));
        let text = |value: fn(&Ceiling) -> f64, decimals| {
            Spread::of(same().map(value)).map_or_else(String::new, |spread| spread.text(decimals))
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            first.load,
            first.wait,
            first.op,
            first.mode,
            text(|c| c.iops, 0),
            text(|c| c.client_cpu, 4),
            text(|c| c.peer_cpu, 4),
        );
    }
}
