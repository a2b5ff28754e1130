//! The probe as an observer for investigations: which claims its verb can decide.

use evidence::{FieldOfView, Rung, View};
use observe::Observer;
use say::{key, say};

/// The observer of a server's answers.
#[derive(Debug)]
pub struct ProbeObserver;

pub(crate) const NAME: &str = "probe";

/// The topics that `record` writes.
pub(crate) const TOPICS: [&str; 2] = ["probe.response", "server.timing"];

impl Observer for ProbeObserver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let reach = say!("view-probe");
        let view = FieldOfView::new(TOPICS.map(View::new).to_vec()).reach(reach);
        vec![(Rung::Loaded, view.blind(key!("view-probe-blind-launches")).blind(key!("view-probe-blind-truth")))]
    }

    fn verb(&self) -> Option<&'static str> {
        Some("probe")
    }
}
