//! The page of the metrics.

use crate::metrics::Metrics;
use crate::openmetrics;
use serve::Pages;
use std::sync::{Mutex, PoisonError};

/// The newest values, for whoever asks.
#[derive(Debug, Default)]
pub struct Page(Mutex<Metrics>);

impl Page {
    pub fn publish(&self, metrics: &Metrics) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(metrics);
    }
}

impl Pages for Page {
    fn version(&self) -> String {
        String::new()
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        let metrics = (path == "metrics").then(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())?;
        Some(openmetrics::text(&metrics).into_bytes())
    }
}
