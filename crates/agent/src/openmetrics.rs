//! The metrics as OpenMetrics text.

use crate::metrics::{Kind, Metrics};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

#[derive(Debug)]
struct Snapshot(Metrics);

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        for (metric, values) in self.0.families().filter(|(_, values)| !values.is_empty()) {
            let (counter, gauge) = (ConstCounter::new(0.0), ConstGauge::new(0.0));
            let kind = if metric.kind == Kind::Counter { counter.metric_type() } else { gauge.metric_type() };
            let mut family = encoder.encode_descriptor(metric.name, metric.help, None, kind)?;
            if let ([], [(_, value)]) = (metric.labels, values.as_slice()) {
                number(metric.kind, *value, family)?;
                continue;
            }
            for (labels, value) in values {
                let pairs: Vec<(&str, &str)> =
                    metric.labels.iter().copied().zip(labels.iter().map(String::as_str)).collect();
                number(metric.kind, value, family.encode_family(&pairs)?)?;
            }
        }
        Ok(())
    }
}

fn number(kind: Kind, value: f64, to: MetricEncoder) -> Result<(), std::fmt::Error> {
    match kind {
        Kind::Counter => ConstCounter::new(value).encode(to),
        Kind::Gauge => ConstGauge::new(value).encode(to),
    }
}

/// The text of a scrape.
pub fn text(metrics: &Metrics) -> String {
    let mut registry = Registry::with_prefix("whichkernel");
    registry.register_collector(Box::new(Snapshot(metrics.clone())));
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = text::encode(&mut out, &registry);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Id;

    #[test]
    fn counters_end_in_total_and_the_text_in_eof() {
        let mut metrics = Metrics::default();
        metrics.add(Id::Launches, &["hip", "MMQ", "Q4_K"], 12.0);
        metrics.set(Id::Canary, &[], 1.0);
        let text = text(&metrics);
        let line = "whichkernel_launches_total{backend=\"hip\",path=\"MMQ\",type=\"Q4_K\"} 12.0";
        assert!(text.lines().any(|there| there == line), "{text}");
        assert!(
            text.contains("# TYPE whichkernel_launches counter") && text.contains("whichkernel_canary 1.0"),
            "{text}"
        );
        assert!(
            text.contains("whichkernel_launches_lost_total 0.0"),
            "a counter is there before its first value: {text}"
        );
        assert!(text.ends_with("# EOF\n"));
    }
}
