//! What a run needs before it starts: the libraries, their kernels for the card's target, strict or relaxed.

use super::card::Card;
use dryrun::{Described, Place, Played, describe};
use std::path::Path;

#[derive(Debug)]
pub struct Plan {
    pub card: Card,
    pub described: Described,
    pub strict: bool,
}

impl Plan {
    pub fn new(place: &Place, card: Card, strict: bool, blas: bool, program: Option<&Path>) -> anyhow::Result<Plan> {
        let libraries = place.libraries(blas, program)?;
        let cache = runtime::Cache::from_env();
        let described = describe(&libraries, &card.profile.target()?, !strict, cache.dir())?;
        // A target that is shipped is judged as the real runtime judges it.
        let strict = strict || described.ships;
        Ok(Plan { card, described, strict })
    }

    pub fn played(&self) -> Played<'_> {
        Played { target: self.card.profile.processor(), described: &self.described }
    }
}
