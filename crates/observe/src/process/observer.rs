//! The observer of a live process's libraries. Its field of view determines which claims it can decide.

use crate::Observer;
use evidence::{FieldOfView, Rung, View};
use say::{key, say};

/// The observer behind `inspect PID`.
#[derive(Debug)]
pub struct ProcessMaps;

impl Observer for ProcessMaps {
    fn name(&self) -> &'static str {
        "maps"
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let views = ["library", "library.*"].map(View::new).to_vec();
        let reach = say!("view-maps");
        vec![(Rung::Loaded, FieldOfView::new(views).reach(reach).blind(key!("view-maps-blind")))]
    }

    fn verb(&self) -> Option<&'static str> {
        Some("inspect")
    }
}
