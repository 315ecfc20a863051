//! The figures as a table and as JSON.

use sepiola_benches::{Machine, Pinning, Spread, exchange::Ceiling, ranked};

/// Every run.
pub fn json(machine: &Machine, pinning: Option<Pinning>, ceilings: &[Ceiling]) {
    println!("{:#}", serde_json::json!({ "machine": machine, "pinning": pinning, "ceilings": ceilings }));
}

/// Medians over the rounds, of the parts that were fastest.
pub fn markdown(machine: &Machine, pinning: Option<Pinning>, rounds: usize, seconds: f64, all: &[Ceiling]) {
    println!(
        "{machine}; {}; {rounds} rounds of {seconds} s; median (min–max).\n",
        Pinning::describe(pinning)
    );
    if let Some(warning) = machine.warning() {
        println!("{warning}\n");
    }
    println!(
        "| load | waiting | op | mode | exchanges/s | messages a write | client CPU s/1000 | peer CPU s/1000 \
         | with other messages a write |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    // The first round has each exchange once, its parts one after the other.
    for same_in_round in all[..all.len() / rounds.max(1)].chunk_by(|a, b| a.is_like(b)) {
        let first = &same_in_round[0];
        let ranked = ranked(all.iter().filter(|c| c.is_like(first)));
        let Some(((part, iops), others)) = ranked.split_first() else { continue };
        let best = || all.iter().filter(|c| c.is_like(first) && c.part == *part);
        let cpu = |value: fn(&Ceiling) -> f64| {
            Spread::of(best().map(value)).map_or_else(String::new, |spread| spread.text(4))
        };
        let others: Vec<String> = others.iter().map(|(part, s)| format!("{part}: {:.0}", s.median)).collect();
        println!(
            "| {} | {} | {} | {} | {} | {part} | {} | {} | {} |",
            first.load,
            first.wait,
            first.op,
            first.mode,
            iops.text(0),
            cpu(|c| c.client_cpu),
            cpu(|c| c.peer_cpu),
            others.join(", "),
        );
    }
}
