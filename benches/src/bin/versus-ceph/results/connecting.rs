//! Connections a second on both clusters.

use sepiola_benches::Spread;
use serde::Serialize;

use crate::{connects::Connects, side::Side};

/// One loop of connections.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectRun {
    pub round: usize,
    pub mode: String,
    pub client: Side,
    /// Whose monitor and OSD.
    pub cluster: Side,
    #[serde(flatten)]
    pub connects: Connects,
}

/// One client on both clusters, over all rounds.
#[derive(Debug, Serialize)]
pub struct ConnectRow {
    pub mode: String,
    pub client: Side,
    /// Connections a second on a cluster of Ceph.
    pub on_ceph: Spread,
    /// The same on one of Sepiola.
    pub on_sepiola: Spread,
    /// Of each round.
    pub times_ceph: Spread,
}

/// Each mode and client.
pub fn rows(runs: &[ConnectRun]) -> Vec<ConnectRow> {
    let first = runs.iter().filter(|run| run.round == 0 && run.cluster == Side::Ceph);
    first.filter_map(|first| row(runs, first)).collect()
}

fn row(runs: &[ConnectRun], first: &ConnectRun) -> Option<ConnectRow> {
    let on = |cluster| {
        runs.iter()
            .filter(move |run| (&run.mode, run.client, run.cluster) == (&first.mode, first.client, cluster))
    };
    let rate = |run: &ConnectRun| run.connects.rate();
    let ratio = |run: &ConnectRun| {
        let ceph = on(Side::Ceph).find(|other| other.round == run.round)?;
        Some(rate(run) / rate(ceph))
    };
    Some(ConnectRow {
        mode: first.mode.clone(),
        client: first.client,
        on_ceph: Spread::of(on(Side::Ceph).map(rate))?,
        on_sepiola: Spread::of(on(Side::Sepiola).map(rate))?,
        times_ceph: Spread::of(on(Side::Sepiola).filter_map(ratio))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clusters_are_compared_under_the_same_client() {
        let run = |round, client, cluster, connects| ConnectRun {
            round,
            mode: "secure".to_owned(),
            client,
            cluster,
            connects: Connects { connects, seconds: 2.0 },
        };
        let (ceph, sepiola) = (Side::Ceph, Side::Sepiola);
        let runs = [
            run(0, ceph, ceph, 20),
            run(0, sepiola, ceph, 200),
            run(0, ceph, sepiola, 60),
            run(0, sepiola, sepiola, 1000),
            run(1, ceph, ceph, 40),
            run(1, ceph, sepiola, 120),
        ];
        let rows = rows(&runs);
        let shown: Vec<(Side, f64)> = rows.iter().map(|r| (r.client, r.times_ceph.median)).collect();
        assert_eq!(shown, [(ceph, 3.0), (sepiola, 5.0)]);
        assert_eq!(rows[0].on_sepiola.median, 45.0);
    }
}
