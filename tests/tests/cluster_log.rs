//! The cluster log: what is written by itself and by people, kept over restarts.

use std::time::Duration;

use sepiola_tests::MiniCluster;

#[test]
fn the_cluster_log_tells_what_happened_and_survives_the_monitor() {
    let mut cluster = MiniCluster::start(|options| options.osds(1));
    cluster.ceph(&["osd", "pool", "create", "logged", "8"]);
    cluster.ceph(&["log", "a line from", "somebody"]);
    let last = |cluster: &MiniCluster| cluster.ceph(&["log", "last", "100"]);
    let text = last(&cluster);
    for part in
        ["osd.0 v2:", "pool 'logged' created", "client.admin", ": cluster [INF] a line from somebody\n"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    cluster.kill("mon.a");
    cluster.restart("mon.a");
    let after = last(&cluster);
    assert!(after.starts_with(&text), "{after}");
    cluster.kill("osd.0");
    // A monitor that has just started gives OSDs more time than one that has heard them.
    cluster.wait_for("osd.0 is said to have failed", Duration::from_secs(30), || {
        last(&cluster).contains("osd.0 failed").then_some(())
    });
}
