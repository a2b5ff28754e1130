//! The evidence of a dry run on Vulkan: rung Selected, device stand-in, with its own topics.
//!
//! `matmul.path` belongs to the rules of the HIP backend. The choice of another backend must never answer a claim about
//! it.

use super::{VulkanCell, VulkanRow, VulkanSelection};
use crate::RunRoot;
use crate::account::Checked;
use evidence::{
    About, Canary, Coverage, DeviceKind, Fact, FieldOfView, Finding, Observation, Refused, Selected as Rung, Subject,
    Witness,
};
use observe::{Observer, Raw, Sighting};
use say::{key, say};
use std::fmt::Write;

pub(crate) const NAME: &str = "dryrun-vulkan";

/// Runs the real program on a stand-in for Vulkan's driver, like `dryrun --backend vulkan`.
#[derive(Debug)]
pub struct VulkanDryrun;

impl Observer for VulkanDryrun {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(evidence::Rung, FieldOfView)> {
        vec![(evidence::Rung::Selected, field_of_view())]
    }

    fn verb(&self) -> Option<&'static str> {
        Some("dryrun")
    }
}

fn field_of_view() -> FieldOfView {
    FieldOfView::topic("vulkan.*")
        .reach(say!("view-dryrun-vulkan"))
        .blind(key!("view-dryrun-blind-results"))
        .blind(key!("view-dryrun-blind-cpu"))
}

/// The parts of a subject: program, place and card.
#[derive(Debug)]
pub struct VulkanRecord<'a> {
    pub place: &'a RunRoot,
    /// The stand-in's name of the card, and its target.
    pub card: super::VulkanCard,
    /// Name and version of the driver.
    pub driver: &'a str,
    pub model: &'a str,
    pub time: &'a str,
    /// The library whose pipelines were selected, and its hash.
    pub library: (String, String),
}

const LIBRARY: &str = "libggml-vulkan.so";

/// Name and SHA-256 of ggml's backend for Vulkan.
pub fn vulkan_library(place: &RunRoot) -> Option<(String, String)> {
    let RunRoot::Tree { root, .. } = place else { return None };
    let folders = ["ggml/backends0", "ggml", ""].map(|folder| root.join("usr/lib/x86_64-linux-gnu").join(folder));
    let path = folders.iter().map(|folder| folder.join(LIBRARY)).find(|path| path.is_file())?;
    let file = inventory::File::open(&path).ok()?;
    let hash = inventory::Sha256::of_file(&file).ok()?;
    Some((LIBRARY.to_owned(), hash.to_string()))
}

impl VulkanRecord<'_> {
    fn subject(&self) -> Subject {
        let (name, hash) = &self.library;
        Subject::file(name.clone(), hash.clone())
            .runtime(self.place.name())
            .target(self.card.target)
            .gpu(self.card.id)
            .device(DeviceKind::StandIn)
            .model(self.model)
    }

    /// The facts of a survey: path and pipeline of each cell.
    pub fn survey(&self, cells: &[VulkanCell]) -> Result<Vec<Sighting>, Refused> {
        let mut facts = Vec::new();
        let mut raw = self.head();
        for cell in cells.iter().filter(|cell| cell.problem.is_none()) {
            facts.extend(cell.products().flat_map(chosen));
            cell.selected.iter().for_each(|row| line(&mut raw, row));
        }
        let launches = cells.iter().flat_map(|cell| &cell.selected).map(|row| row.launches).sum();
        let lost = cells.iter().map(|cell| cell.lost).sum();
        let mut coverage = Coverage::complete("dispatches", launches).lost(lost);
        for cell in cells.iter().filter(|cell| !cell.is_answered()) {
            let why = cell.problem.clone().unwrap_or_else(|| say!("missed-no-product"));
            coverage = coverage.missing(say!("missed-cell", kind = cell.kind, columns = cell.columns), why);
        }
        self.sightings(facts, coverage, &raw)
    }

    /// The facts of one program's run.
    pub fn run(&self, answer: &VulkanSelection) -> Result<Vec<Sighting>, Refused> {
        let mut raw = self.head();
        answer.selected.iter().for_each(|row| line(&mut raw, row));
        let facts = answer.selected.iter().flat_map(chosen).collect();
        let mut coverage = Coverage::complete("dispatches", answer.seen).lost(answer.lost + answer.refused);
        for gap in &answer.gaps {
            coverage = coverage.missing(gap.clone(), say!("missed-layer"));
        }
        let what = say!("missed-dispatches-after");
        coverage = match (answer.exit, answer.signal) {
            (Some(0), _) => coverage,
            (Some(code), _) => coverage.missing(what, say!("missed-ended", code)),
            (None, signal) => coverage.missing(what, say!("missed-killed", signal = signal.unwrap_or_default())),
        };
        if answer.products.as_ref().and_then(Checked::account).is_some_and(|account| account.agrees()) {
            coverage = coverage.account(Witness::GraphNodes);
        }
        self.sightings(facts, coverage, &raw)
    }

    fn head(&self) -> String {
        format!("driver\t{}\ncard\t{} ({})\n", self.driver, self.card.id, self.card.target)
    }

    fn sightings(&self, facts: Vec<Fact>, coverage: Coverage, raw: &str) -> Result<Vec<Sighting>, Refused> {
        let id = || VulkanDryrun.id();
        let driver = Fact::new("vulkan.driver", About::default(), self.driver);
        let mut list = Vec::new();
        let launched = coverage.seen > 0;
        for fact in facts.into_iter().chain(launched.then_some(driver)) {
            let seen = Observation::on::<Rung>(id(), self.subject(), Finding::Saw(fact), coverage.clone(), self.time)?;
            list.push(Sighting::from(seen).with(Raw::text(raw)));
        }
        let swept =
            Observation::on::<Rung>(id(), self.subject(), Finding::Swept, coverage, self.time)?.view(field_of_view());
        let canary = || Canary::in_target(say!("canary-layer"));
        let swept = if launched { swept.canary(canary()) } else { swept };
        list.push(Sighting::from(swept).with(Raw::text(raw)));
        Ok(list)
    }
}

/// The facts about a product: its path and its pipeline.
fn chosen(row: &VulkanRow) -> Vec<Fact> {
    let (Some(path), Some(kind), Some(columns)) = (&row.path, &row.kind, row.columns) else { return Vec::new() };
    let experts = if row.by_id { "experts" } else { "dense" };
    let about = || About::new([("type", kind.clone()), ("columns", columns.to_string()), ("weights", experts.into())]);
    vec![Fact::new("vulkan.path", about(), path.clone()), Fact::new("vulkan.pipeline", about(), row.kernel.clone())]
}

fn line(out: &mut String, row: &VulkanRow) {
    let columns = row.columns.map(|n| n.to_string()).unwrap_or_default();
    let (kind, module) = (row.kind.as_deref().unwrap_or_default(), row.module.as_deref().unwrap_or_default());
    let constants: Vec<String> = row.constants.iter().map(|(id, value)| format!("{id}={value}")).collect();
    let _ = writeln!(
        out,
        "{}\t{kind}\t{columns}\t{}\t{}\t{module}\t{:?}\t{}",
        row.kernel,
        constants.join(","),
        row.subgroup,
        row.groups,
        row.launches
    );
}
