//! The available cards.

use answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;

/// The cards that a dry run can simulate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cards {
    pub cards: Vec<CardLine>,
}

impl Answer for Cards {
    const SCHEMA: &'static str = "whichkernel.dryrun-gpus/2";
}

/// A card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CardLine {
    pub card: String,
    pub target: String,
    /// The number of compute units that HIP reports.
    pub units: i64,
    pub memory_mib: i64,
    /// The bare target that the card represents.
    pub reference: Option<String>,
    pub title: String,
}

impl Cards {
    pub fn known() -> Cards {
        let line = |card: &gpu::Profile| CardLine {
            card: card.name.clone(),
            target: card.gcn_arch_name.clone(),
            units: card.get("multiProcessorCount"),
            memory_mib: card.get("totalGlobalMem") >> 20,
            reference: card.reference.then(|| card.processor().to_owned()),
            title: card.title.clone(),
        };
        Cards { cards: gpu::all().iter().chain(gpu::nvidia_profiles()).map(line).collect() }
    }
}
