//! The inputs of a run: a card as named by the user, and the kernels of the runtime's libraries for its target.

use crate::{Described, DryrunError, Played, RunRoot, cuda, describe};
use gpu::Profile;
use std::path::Path;

/// A card as the user named it.
#[derive(Debug, Clone)]
pub struct Card {
    pub given: String,
    pub profile: Profile,
    /// The target before HSA_OVERRIDE_GFX_VERSION changed it.
    pub overridden: Option<String>,
}

/// The prerequisites of a run: the libraries, their kernels for the card's target, strict or relaxed.
#[derive(Debug)]
pub struct Plan {
    pub card: Card,
    pub described: Described,
    pub strict: bool,
}

impl Plan {
    pub fn new(
        place: &RunRoot,
        card: Card,
        strict: bool,
        blas: bool,
        program: Option<&Path>,
    ) -> Result<Plan, DryrunError> {
        let cache = runtime::Cache::from_env();
        if card.profile.is_nvidia() {
            let described = cuda::describe(&cuda::libraries(place, program)?, &card.profile, cache.dir())?;
            return Ok(Plan { card, described, strict: true });
        }
        // Other programs may bring all of their code themselves: it is checked when they load it.
        let ggml = place.has_ggml(program);
        let libraries = match place.libraries(blas, program) {
            Err(DryrunError::NoDeviceCode { .. }) if !ggml && program.is_some() => Vec::new(),
            found => found?,
        };
        let described = describe(&libraries, &card.profile.target()?, !strict, cache.dir())?;
        // A shipped target is checked as the real runtime checks it. A target that is not shipped is simulated only for
        // ggml, whose choice is of interest before its kernels are built.
        let strict = strict || described.ships || !(ggml || described.is_ggml());
        Ok(Plan { card, described, strict })
    }

    pub fn played(&self) -> Played<'_> {
        Played { target: self.card.profile.processor(), described: &self.described }
    }
}

/// The cells of one card.
#[derive(Debug)]
pub struct Map {
    pub plan: Plan,
    pub cells: Vec<crate::Cell>,
    /// Kinds of matrices that the skeletons do not have before their last layer.
    pub absent: Vec<String>,
}

impl Map {
    /// Whether all requested cells are answered with the card's own metadata.
    pub fn reach(&self) -> evidence::Conclusion {
        crate::verdict::of_map(&self.cells, &self.plan.played(), &self.absent)
    }

    /// Whether every cell has an answer and nothing was lost.
    pub fn is_answered(&self) -> bool {
        self.cells.iter().all(|cell| cell.is_answered() && cell.lost == 0)
    }
}
