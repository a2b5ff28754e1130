//! Pushes the metrics over OTLP (HTTP, protobuf) to a collector.
//!
//! The messages are written by hand: the crate `opentelemetry-otlp` brings 120 others, for five kinds of message. Sums
//! are cumulative, so a push that is dropped loses nothing that the next one does not bring.

use crate::metrics::{Kind, Metric, Metrics};
use crate::protobuf::Message;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use sys::http::{self, Address};

/// The timeout of a push.
const PATIENCE: Duration = Duration::from_secs(5);
/// AGGREGATION_TEMPORALITY_CUMULATIVE
const CUMULATIVE: u64 = 2;

/// An `ExportMetricsServiceRequest`. `times`: start of the counters and now, in nanoseconds since 1970.
pub fn encode(metrics: &Metrics, resource: &[(&str, &str)], times: (u64, u64)) -> Vec<u8> {
    let families = metrics.families().filter(|(_, values)| !values.is_empty());
    let scope = Message::default().text(1, "whichkernel").text(2, env!("CARGO_PKG_VERSION"));
    let of_scope =
        Message::default().message(1, scope).all(2, families.map(|(metric, list)| one(metric, &list, times)));
    let resource = Message::default().all(1, resource.iter().map(|(key, value)| pair(key, value)));
    let of_resource = Message::default().message(1, resource).message(2, of_scope);
    Message::default().message(1, of_resource).finish()
}

fn pair(key: &str, value: &str) -> Message {
    Message::default().text(1, key).message(2, Message::default().text(1, value))
}

fn one(metric: &Metric, values: &[(&[String], f64)], (start, now): (u64, u64)) -> Message {
    let point = |(labels, value): &(&[String], f64)| {
        let pairs = metric.labels.iter().zip(labels.iter()).map(|(key, value)| pair(key, value));
        Message::default().fixed(2, start).fixed(3, now).double(4, *value).all(7, pairs)
    };
    let points = Message::default().all(1, values.iter().map(point));
    let named = Message::default().text(1, &format!("whichkernel.{}", metric.name)).text(2, metric.help);
    match metric.kind {
        Kind::Gauge => named.message(5, points),
        Kind::Counter => named.message(7, points.number(2, CUMULATIVE).number(3, 1)),
    }
}

/// Sends the newest push; it holds at most one that waits.
#[derive(Debug)]
pub struct Receiver {
    to: Address,
    path: String,
    waiting: Mutex<Option<Vec<u8>>>,
    wake: Condvar,
    ended: AtomicBool,
    pub(crate) sent: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

impl Receiver {
    /// `http://127.0.0.1:4318`, with or without a path.
    pub fn parse(url: &str) -> Result<Receiver, http::HttpError> {
        let to = Address::parse(url, Some(4318))?;
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.find('/').and_then(|at| rest.get(at..)).filter(|path| path.len() > 1);
        // The path is written into the request head.
        let plain = |path: &&str| path.bytes().all(|byte| byte.is_ascii_graphic());
        let path = path.filter(plain).unwrap_or("/v1/metrics").to_owned();
        Ok(Receiver {
            to,
            path,
            waiting: Mutex::default(),
            wake: Condvar::new(),
            ended: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        })
    }

    /// Replaces a push that still waits, because the receiver is slow.
    pub fn offer(&self, push: Vec<u8>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.replace(push).is_some() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        self.wake.notify_one();
    }

    /// Ends `run` after the push that is under way.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    pub fn run(&self) {
        const STEP: Duration = Duration::from_secs(1);
        while !self.ended.load(Ordering::Relaxed) {
            let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.wake.wait_timeout_while(waiting, STEP, |push| push.is_none());
            let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let Some(push) = waiting.take() else { continue };
            drop(waiting);
            let answer = http::post_bytes(&self.to, &self.path, "application/x-protobuf", &push, PATIENCE);
            let accepted = answer.is_ok_and(|answer| (200..300).contains(&answer.status));
            if accepted { &self.sent } else { &self.failed }.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Instant;

    /// A receiver that accepts and never answers: pushes are dropped and counted, and nothing grows.
    #[test]
    fn a_receiver_that_hangs_costs_one_push_at_a_time() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let receiver =
            Receiver::parse(&format!("http://{}", listener.local_addr().expect("bound"))).expect("an address");
        std::thread::scope(|scope| {
            scope.spawn(|| receiver.run());
            let until = Instant::now() + Duration::from_secs(30);
            while receiver.dropped.load(Ordering::Relaxed) < 3 && Instant::now() < until {
                receiver.offer(vec![0; 100]);
                std::thread::sleep(Duration::from_millis(5));
            }
            drop(listener);
            receiver.end();
        });
        assert!(receiver.dropped.load(Ordering::Relaxed) >= 3);
        assert_eq!(receiver.sent.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_path_of_ones_own_is_kept() {
        let path = |url: &str| Receiver::parse(url).map(|receiver| receiver.path).ok();
        assert_eq!(path("http://127.0.0.1:4318").as_deref(), Some("/v1/metrics"));
        assert_eq!(path("127.0.0.1").as_deref(), Some("/v1/metrics"));
        assert_eq!(path("http://box:9090/api/v1/otlp/v1/metrics").as_deref(), Some("/api/v1/otlp/v1/metrics"));
        assert_eq!(path("http://box:9090/a b\r\nX: y").as_deref(), Some("/v1/metrics"));
        assert!(path("https://box:4318").is_none(), "this client has no TLS");
    }
}
