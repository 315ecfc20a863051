//! Connections a second on both clusters.

use sepiola_benches::Spread;
use serde::Serialize;

use crate::{connects::Connects, run::Used, side::Side};

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
    #[serde(flatten)]
    pub used: Used,
}

/// One client on one cluster, over all rounds.
#[derive(Debug, Serialize)]
pub struct ConnectRow {
    pub mode: String,
    pub client: Side,
    pub cluster: Side,
    /// Connections a second.
    pub rate: Spread,
    /// Of each round, against the same client on the cluster of Ceph.
    pub times_ceph: Spread,
    /// Milliseconds of the client's processor time per connection.
    pub client_cpu_ms: Spread,
    /// The same of monitor and OSD together.
    pub daemons_cpu_ms: Spread,
}

/// Each mode, client and cluster, the cluster of Ceph first.
pub fn rows(runs: &[ConnectRun]) -> Vec<ConnectRow> {
    let first = runs.iter().filter(|run| run.round == 0 && run.cluster == Side::Ceph);
    first.flat_map(|first| [Side::Ceph, Side::Sepiola].map(|on| row(runs, first, on))).flatten().collect()
}

fn row(runs: &[ConnectRun], first: &ConnectRun, cluster: Side) -> Option<ConnectRow> {
    let on = |cluster| {
        let wanted = (&first.mode, first.client, cluster);
        runs.iter().filter(move |run| (&run.mode, run.client, run.cluster) == wanted)
    };
    let spread = |figure: fn(&ConnectRun) -> f64| Spread::of(on(cluster).map(figure));
    let ratio = |run: &ConnectRun| {
        let ceph = on(Side::Ceph).find(|other| other.round == run.round)?;
        Some(run.connects.rate() / ceph.connects.rate())
    };
    Some(ConnectRow {
        mode: first.mode.clone(),
        client: first.client,
        cluster,
        rate: spread(|run| run.connects.rate())?,
        times_ceph: Spread::of(on(cluster).filter_map(ratio))?,
        client_cpu_ms: spread(|run| run.each_ms(run.used.client_cpu_s))?,
        daemons_cpu_ms: spread(|run| run.each_ms(run.used.mon_cpu_s + run.used.osd_cpu_s))?,
    })
}

impl ConnectRun {
    fn each_ms(&self, seconds: f64) -> f64 {
        seconds * 1e3 / self.connects.connects as f64
    }
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
            used: Used { client_cpu_s: 1.2, osd_cpu_s: 0.25, mon_cpu_s: 0.5 },
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
        let shown: Vec<_> = rows.iter().map(|r| (r.client, r.cluster, r.times_ceph.median)).collect();
        assert_eq!(
            shown,
            [(ceph, ceph, 1.0), (ceph, sepiola, 3.0), (sepiola, ceph, 1.0), (sepiola, sepiola, 5.0)]
        );
        assert_eq!(rows[1].rate.median, 45.0);
        assert_eq!((rows[1].client_cpu_ms.min, rows[1].daemons_cpu_ms.max), (10.0, 12.5));
    }
}
