//! The map of a card on Vulkan: the pipelines that the real program dispatches for each tensor type and column count.
//!
//! As for HIP, one process per type runs llama-bench over all lengths on a skeleton model. The graph's last node marks
//! the end of a length.

use super::dispatches::{evaluations, seen};
use super::{VulkanCard, VulkanCell, VulkanOutcome, VulkanRequest, rows};
use crate::RunRoot;
use crate::ending::Ending;
use crate::error::{DryrunError, io_at};
use crate::parallel::each;
use crate::session::Streams;
use crate::survey::{bench_command, interrupted, laid_out, words_of};
use evidence::{Basis, Conclusion, Rung, Unit};
use gguf::{Shape, Skeleton, TensorType};
use say::{Message, Say as _, say};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct VulkanSurvey<'a> {
    pub place: &'a RunRoot,
    pub card: VulkanCard,
    pub shape: Shape,
    /// Layers of the skeleton. After the attention of the last layer, only one column remains: see
    /// [`Shape::least_layers`].
    pub layers: u32,
}

/// The cells of one card, and the device that they ran on.
#[derive(Debug, Clone)]
pub struct VulkanMap {
    pub card: VulkanCard,
    /// The driver's name for the device; None if nothing was dispatched.
    pub device: Option<String>,
    pub driver: Option<String>,
    pub cells: Vec<VulkanCell>,
}

/// The result of a run: the device, its driver, the cells.
type Part = (Option<(String, String)>, Vec<VulkanCell>);

impl VulkanMap {
    /// Whether all requested cells are answered.
    pub fn reach(&self) -> Conclusion {
        let answered = self.cells.iter().filter(|cell| cell.is_answered()).count() as u64;
        let lost = self.cells.iter().map(|cell| cell.lost).sum();
        let asked = self.cells.len() as u64;
        let basis =
            Basis::listed(super::sightings::NAME, [self.card.target], Rung::Selected, Unit::Cells, asked, answered);
        basis.lost(lost).completeness()
    }

    pub fn is_answered(&self) -> bool {
        self.cells.iter().all(|cell| cell.is_answered() && cell.lost == 0)
    }
}

impl VulkanSurvey<'_> {
    /// Runs every type on its own skeleton.
    pub fn run(
        &self,
        kinds: &[TensorType],
        columns: &[u64],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<VulkanMap, DryrunError> {
        let results = each(kinds, |kind| {
            progress(&format!("{} {}", self.card.id, kind.name()));
            self.one(*kind, columns)
        });
        let mut parts = Vec::new();
        for (kind, result) in kinds.iter().zip(results) {
            parts.push(match result {
                Some(part) => part?,
                None => (None, failed(&kind.name(), columns, &interrupted())),
            });
        }
        Ok(self.map(parts))
    }

    /// Runs a user's model, whose tensors have their own types.
    pub fn model(&self, model: &Path, columns: &[u64]) -> Result<VulkanMap, DryrunError> {
        let model = std::fs::canonicalize(model).map_err(io_at(model))?;
        let outcome = self.bench(&model, columns, std::slice::from_ref(&model))?;
        Ok(self.map(vec![part(&outcome, "", columns)]))
    }

    fn map(&self, parts: Vec<Part>) -> VulkanMap {
        let named = parts.iter().find_map(|(device, _)| device.clone());
        let (device, driver) = named.unzip();
        let cells = parts.into_iter().flat_map(|(_, cells)| cells).collect();
        VulkanMap { card: self.card, device, driver, cells }
    }

    fn one(&self, kind: TensorType, columns: &[u64]) -> Result<Part, DryrunError> {
        let skeleton = match self.skeleton(kind) {
            Ok(skeleton) => skeleton,
            Err(error) => return Ok((None, failed(&kind.name(), columns, &error.message()))),
        };
        let (home, model) = laid_out(&skeleton)?;
        let outcome = self.bench(&model, columns, &[home.outer().to_owned()])?;
        Ok(part(&outcome, &kind.name(), columns))
    }

    /// Mesa's stand-in has 4 GiB of memory. If a model does not fit, its vocabulary is reduced. This changes only the
    /// rows of its last product, which has one column.
    fn skeleton(&self, kind: TensorType) -> Result<Skeleton, gguf::Error> {
        const FITS: u64 = 3 << 30;
        const WORDS: u32 = 32_000;
        let whole = gguf::skeleton(&self.shape, kind, self.layers, false)?;
        if whole.file_size <= FITS || self.shape.vocabulary <= WORDS {
            return Ok(whole);
        }
        gguf::skeleton(&Shape { vocabulary: WORDS, ..self.shape }, kind, self.layers, false)
    }

    fn bench(&self, model: &Path, columns: &[u64], show: &[PathBuf]) -> Result<VulkanOutcome, DryrunError> {
        let command = bench_command(model, columns);
        let (place, card, streams) = (self.place, self.card, Streams::Captured);
        VulkanRequest { place, card, command: &command, show, streams, sparse_read: true, code: true }.run()
    }
}

fn part(outcome: &VulkanOutcome, kind: &str, columns: &[u64]) -> Part {
    let device = outcome.device().map(|of| (of.name.clone(), format!("{} {}", of.driver, of.driver_info)));
    let mut lists = Vec::new();
    for run in &outcome.runs {
        let seen = seen(run);
        // Dispatches between two passes, or after the last one, are not products.
        let lists_of = evaluations(&seen).into_iter().map(rows);
        lists.extend(lists_of.filter(|rows| rows.iter().any(|row| row.path.is_some())));
    }
    let lost = outcome.lost();
    let problem = match outcome.ending {
        _ if outcome.interrupted.is_some() => interrupted(),
        Ending::Code(0) if outcome.dispatches() == 0 => say!("dryrun-vulkan-elsewhere"),
        Ending::Code(0) => say!("dryrun-evaluations", seen = lists.len(), asked = columns.len()),
        _ => words_of(&outcome.said, outcome.ending),
    };
    // With more passes than lengths, it is unknown which pass belongs to which length.
    if lists.len() > columns.len() {
        return (device, failed(kind, columns, &problem));
    }
    let whole = lists.len() == columns.len() && outcome.ending == Ending::Code(0);
    // If the run was interrupted, the last pass may be incomplete.
    if !whole {
        lists.pop();
    }
    let rest = failed(kind, columns.get(lists.len()..).unwrap_or(&[]), &problem);
    let cell = |(&columns, rows)| VulkanCell::new(kind, columns, rows, lost);
    (device, columns.iter().zip(lists).map(cell).chain(rest).collect())
}

fn failed(kind: &str, columns: &[u64], problem: &Message) -> Vec<VulkanCell> {
    columns.iter().map(|&columns| VulkanCell::failed(kind, columns, problem)).collect()
}
