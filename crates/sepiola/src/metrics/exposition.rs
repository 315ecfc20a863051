//! Metrics as Prometheus reads them.

use std::{borrow::Cow, fmt};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, text::encode},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows; its name gets `_total`.
    Counter,
    /// Only grows, under the name that Ceph's exporter has for it. That has no `_total`, without which
    /// OpenMetrics knows no counters.
    CephCounter,
}

/// One metric, with a value for each set of labels.
#[derive(Debug, Clone)]
pub struct Metric {
    pub name: Cow<'static, str>,
    pub help: &'static str,
    pub kind: Kind,
    pub samples: Vec<(Vec<(&'static str, String)>, f64)>,
}

/// Metrics that are known when they are asked for.
#[derive(Debug)]
struct Scrape(Vec<Metric>);

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for metric in &self.0 {
            let kind = match metric.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
                Kind::CephCounter => MetricType::Unknown,
            };
            let mut family = encoder.encode_descriptor(&metric.name, metric.help, None, kind)?;
            for (labels, value) in &metric.samples {
                let labels: Vec<_> = labels.iter().map(|(name, value)| (*name, escaped(value))).collect();
                let one = family.encode_family(&labels)?;
                match metric.kind {
                    Kind::Counter => ConstCounter::new(*value).encode(one)?,
                    Kind::Gauge | Kind::CephCounter => ConstGauge::new(*value).encode(one)?,
                }
            }
        }
        Ok(())
    }
}

/// The encoder writes values of labels as they are.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

/// The text of a scrape, in the format of OpenMetrics 1.0.
pub fn text(metrics: Vec<Metric>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Scrape(metrics)));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_labels_are_those_that_prometheus_expects() {
        let metric = |name: &'static str, kind, labels| Metric {
            name: name.into(),
            help: "Help",
            kind,
            samples: vec![(labels, 2.0)],
        };
        let text = text(vec![
            metric("ceph_osd_up", Kind::Gauge, vec![("ceph_daemon", "osd.0".to_owned())]),
            metric("sepiola_sessions_opened", Kind::Counter, vec![]),
            metric("ceph_osd_op", Kind::CephCounter, vec![("name", "a \"b\"".to_owned())]),
        ])
        .unwrap();
        for line in [
            "# TYPE ceph_osd_up gauge",
            "ceph_osd_up{ceph_daemon=\"osd.0\"} 2.0",
            "# TYPE sepiola_sessions_opened counter",
            "sepiola_sessions_opened_total{} 2.0",
            "# TYPE ceph_osd_op unknown",
            "ceph_osd_op{name=\"a \\\"b\\\"\"} 2.0",
            "# EOF",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
    }
}
