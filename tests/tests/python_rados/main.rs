//! Ceph's Python binding, on a real cluster and on one of Sepiola: the same calls, which must give the same
//! results, down to the type of each exception and its errno.
//!
//! In crc mode, because librados itself returns ERANGE for asynchronous reads in secure mode.

use std::{collections::BTreeMap, fs, time::Duration};

use sepiola_tests::{Cluster, Deadline, Failure, KeyType, MsMode, RealCeph, Release, Result, SepiolaCluster};
use serde_json::Value;

const SCRIPT: &str = include_str!("script.py");
const TIME: Duration = Duration::from_secs(120);

/// Steps whose results may differ, and why. One that does not differ has no place here.
const ACCEPTED: &[(&str, &str)] = &[];

/// Runs the script with the release's binding; what each step gave.
fn transcript(release: Release, cluster: &impl Cluster) -> Result<Vec<(String, Value)>> {
    let script = cluster.scratch().join("script.py");
    fs::write(&script, SCRIPT).map_err(Failure::file(&script))?;
    let python = release.programs()?.program("python3").arg(&script).arg(cluster.conf());
    let output = python.run(cluster.scratch(), Deadline::after(TIME))?.success()?;
    let text = output.text();
    let lines = text.lines().map(|line| {
        let mut line: Value =
            serde_json::from_str(line).map_err(|e| Failure::new(format!("no JSON ({e}): {line}")))?;
        let step = line["step"].take();
        let step = step.as_str().ok_or_else(|| Failure::new("a step without a name"))?.to_owned();
        line.as_object_mut().map(|line| line.remove("step"));
        Ok((step, line))
    });
    lines
        .collect::<Result<_>>()
        .map_err(|e| e.context(format!("files in {}", cluster.keep_files().display())))
}

fn compare(release: Release, keys: KeyType) {
    let real = RealCeph::start(release, MsMode::Crc, keys).unwrap();
    let real = transcript(release, &real).unwrap();
    let sepiola = SepiolaCluster::start(MsMode::Crc, keys, &[]).unwrap();
    let ours = transcript(release, &sepiola).unwrap();
    let steps = |transcript: &[(String, Value)]| transcript.iter().map(|(step, _)| step.clone()).collect();
    let (real_steps, our_steps): (Vec<_>, Vec<_>) = (steps(&real), steps(&ours));
    assert_eq!(our_steps, real_steps, "the script takes other ways");
    assert!(real.len() > 200, "{} steps are too few to say something", real.len());

    let accepted: BTreeMap<_, _> = ACCEPTED.iter().copied().collect();
    let mut wrong = Vec::new();
    for ((step, real), (_, ours)) in real.iter().zip(&ours) {
        match accepted.get(&**step) {
            Some(why) if real == ours => wrong.push(format!("{step}\n  no longer differs: {why}")),
            None if real != ours => wrong.push(format!("{step}\n- {real}\n+ {ours}")),
            _ => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{release}: {} of {} steps (- Ceph, + Sepiola)\n{}",
        wrong.len(),
        real.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_binding_of_the_installed_release_sees_no_difference() {
    compare(Release::Installed, KeyType::Aes);
}

#[test]
fn the_binding_of_the_newest_release_sees_no_difference() {
    compare(Release::Newest, KeyType::Aes256k);
}
