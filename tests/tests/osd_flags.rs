//! Flags of the cluster that keep the monitor from marking OSDs.

use std::time::Duration;

use sepiola_tests::MiniCluster;

#[test]
fn flags_hold_osds_where_they_are() {
    let mut cluster = MiniCluster::start(|options| options.osds(2));
    let up = |cluster: &MiniCluster| cluster.ceph_json(&["osd", "stat"])["num_up_osds"].as_u64();
    cluster.ceph(&["osd", "set", "nodown"]);
    cluster.kill("osd.1");
    // Longer than a dead OSD takes to be marked down.
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(up(&cluster), Some(2));
    cluster.ceph(&["osd", "unset", "nodown"]);
    cluster.wait_for("osd.1 down", Duration::from_secs(10), || (up(&cluster) == Some(1)).then_some(()));
    cluster.ceph(&["osd", "set", "noup"]);
    cluster.ceph(&["osd", "down", "0"]);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(up(&cluster), Some(0));
    cluster.ceph(&["osd", "unset", "noup"]);
    cluster.wait_for("osd.0 up", Duration::from_secs(10), || (up(&cluster) == Some(1)).then_some(()));
}
