//! What is measured.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Mean and population deviation of a few samples.
#[derive(Debug, Clone, Default)]
struct Series {
    count: u64,
    sum: f64,
    sum_of_squares: f64,
    max: f64,
    min: f64,
}

impl Series {
    fn add(&mut self, value: f64) {
        self.max = if self.count == 0 { value } else { self.max.max(value) };
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.count += 1;
        self.sum += value;
        self.sum_of_squares += value * value;
    }

    fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = self.count as f64;
        ((self.sum_of_squares - self.sum * self.sum / n) / (n - 1.0)).max(0.0).sqrt()
    }
}

/// Counters of a run as it goes.
#[derive(Debug)]
pub(super) struct Recorder {
    op_size: u64,
    latency: Series,
    histogram: Histogram<u64>,
    iops: Series,
    bandwidth: Series,
}

impl Recorder {
    pub(super) fn new(op_size: u64) -> Self {
        // One microsecond to ten minutes, three digits.
        let histogram = Histogram::new_with_bounds(1, 600_000_000, 3).expect("valid bounds");
        Recorder {
            op_size,
            latency: Series::default(),
            histogram,
            iops: Series::default(),
            bandwidth: Series::default(),
        }
    }

    pub(super) fn finished(&mut self, latency: Duration) {
        self.latency.add(latency.as_secs_f64());
        self.histogram.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).max(1));
    }

    pub(super) fn count(&self) -> u64 {
        self.latency.count
    }

    /// Shortest, longest and mean latency.
    pub(super) fn latencies(&self) -> [f64; 3] {
        [self.latency.min, self.latency.max, self.latency.mean()]
    }

    /// One second went by, in which `ops` finished.
    pub(super) fn interval(&mut self, ops: u64, seconds: f64) {
        self.iops.add(ops as f64 / seconds);
        self.bandwidth.add(ops as f64 * self.op_size as f64 / seconds / MIB);
    }

    pub(super) fn summary(&self, elapsed: Duration, object_size: u64) -> Summary {
        let seconds = elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        let ops = self.latency.count;
        let percentile = |p: f64| self.histogram.value_at_quantile(p) as f64 / 1e6;
        let bandwidth = ops as f64 * self.op_size as f64 / seconds / MIB;
        // Without a whole second there is only the average.
        let short = self.bandwidth.count == 0;
        Summary {
            seconds,
            ops,
            op_size: self.op_size,
            object_size,
            bandwidth,
            intervals: self.bandwidth.count,
            stddev_bandwidth: self.bandwidth.deviation(),
            max_bandwidth: if short { bandwidth } else { self.bandwidth.max },
            min_bandwidth: if short { bandwidth } else { self.bandwidth.min },
            iops: ops as f64 / seconds,
            stddev_iops: self.iops.deviation(),
            max_iops: if short { ops as f64 / seconds } else { self.iops.max },
            min_iops: if short { ops as f64 / seconds } else { self.iops.min },
            latency: self.latency.mean(),
            stddev_latency: self.latency.deviation(),
            max_latency: self.latency.max,
            min_latency: self.latency.min,
            p50_latency: percentile(0.50),
            p99_latency: percentile(0.99),
            p999_latency: percentile(0.999),
        }
    }
}

pub(super) const MIB: f64 = 1024.0 * 1024.0;

/// The result of a run. Seconds, bytes, MiB/s.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[allow(missing_docs)] // the names are the labels
pub struct Summary {
    pub seconds: f64,
    pub ops: u64,
    pub op_size: u64,
    pub object_size: u64,
    pub intervals: u64,
    pub bandwidth: f64,
    pub stddev_bandwidth: f64,
    pub max_bandwidth: f64,
    pub min_bandwidth: f64,
    pub iops: f64,
    pub stddev_iops: f64,
    pub max_iops: f64,
    pub min_iops: f64,
    pub latency: f64,
    pub stddev_latency: f64,
    pub max_latency: f64,
    pub min_latency: f64,
    pub p50_latency: f64,
    pub p99_latency: f64,
    pub p999_latency: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_shorter_than_a_second_has_no_intervals() {
        let mut recorder = Recorder::new(4096);
        for ms in [1, 3] {
            recorder.finished(Duration::from_millis(ms));
        }
        let s = recorder.summary(Duration::from_millis(500), 4096);
        assert_eq!((s.ops, s.iops), (2, 4.0));
        assert!((s.latency - 0.002).abs() < 1e-9);
        assert!((s.stddev_latency - 0.001_414_213).abs() < 1e-6);
        assert_eq!((s.max_bandwidth, s.min_bandwidth, s.intervals), (s.bandwidth, s.bandwidth, 0));
    }
}
