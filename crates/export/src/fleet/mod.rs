//! Questions about many machines, answered by an installed SQL engine from a lake. The queries are the files in
//! `crates/export/queries`; this module finds an engine, runs them, and types the rows. It computes nothing itself.

mod answer;
mod engine;
mod query;

pub use answer::{Fallback, FleetAnswer, MachineState, PathChange, SoftwareChange, State, Upgrade};
pub use engine::{Engine, FleetError, ResultRow};
pub use query::{Dates, Dialect, Query, Question};

use crate::files::Inventory;
use std::path::Path;

/// Asks the engine that `find` returns, after the lake was found.
pub fn ask(
    lake: &Path,
    question: &Question,
    find: impl FnOnce() -> Result<Engine, FleetError>,
) -> Result<FleetAnswer, FleetError> {
    if crate::is_remote(lake) {
        return Err(FleetError::Remote(lake.to_owned()));
    }
    let inventory = Inventory::of(lake).map_err(|source| FleetError::Lake { path: lake.to_owned(), source })?;
    if inventory.observations == 0 {
        return Err(FleetError::Empty(lake.to_owned()));
    }
    if inventory.launches == 0 {
        return Err(FleetError::NoLaunches(lake.to_owned()));
    }
    let engine = find()?;
    let mut rows = Vec::new();
    for query in question.queries() {
        let sql = query.sql(engine.dialect(), "", question.dates());
        rows.push((*query, engine.run(lake, &sql)?));
    }
    Ok(FleetAnswer::new(lake, engine.name(), question, &inventory, rows))
}
