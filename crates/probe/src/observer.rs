//! The probe as an investigation knows it: what its verb could close.

use evidence::{FieldOfView, Rung, View};
use observe::Observer;

/// Who signs what a server answered.
#[derive(Debug)]
pub struct ProbeObserver;

pub(crate) const NAME: &str = "probe";

/// What `record` writes down.
pub(crate) const TOPICS: [&str; 2] = ["probe.response", "server.timing"];

impl Observer for ProbeObserver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let reach = "counts and times in a server's answers to prompts of exact lengths";
        let view = FieldOfView::new(TOPICS.map(View::new).to_vec()).reach(reach);
        vec![(Rung::Loaded, view.blind("what was launched for them").blind("whether its counts are true"))]
    }

    fn verb(&self) -> Option<&'static str> {
        Some("probe")
    }
}
