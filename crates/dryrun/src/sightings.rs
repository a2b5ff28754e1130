//! The evidence of a dry run. Its rung is Selected and never higher, because the device is a stand-in.

use crate::cell::Cell;
use crate::verdict::{NAME, is_blas};
use crate::{Checked, Described, Ending, Events, Finish, Outcome, RunRoot, Selected};
use evidence::{
    About, Canary, Coverage, DeviceKind, Fact, FieldOfView, Finding, Observation, ObserverId, Refused,
    Selected as Rung, Subject, View, Witness,
};
use gpu::Profile;
use launch::grammar::{self, Family, Path};
use observe::{Raw, Sighting};
use say::{key, say};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The parts of a subject that one card and one model share.
#[derive(Debug, Clone)]
pub struct RecordContext<'a> {
    pub place: &'a RunRoot,
    pub profile: &'a Profile,
    pub described: &'a Described,
    pub model: &'a str,
    pub time: &'a str,
    /// The library whose kernels were selected, and its hash.
    pub library: (String, String),
}

/// Name and SHA-256 of the first library with device code, which the subject of a claim names.
pub fn library(place: &RunRoot, program: Option<&std::path::Path>) -> Option<(String, String)> {
    let (path, _) = place.libraries(false, program).ok()?.into_iter().next()?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    let file = inventory::File::open(&path).ok()?;
    let hash = inventory::Sha256::of_file(&file).ok()?;
    Some((name, hash.to_string()))
}

/// Like [`library`], for CUDA: the program itself, or the first library with CUDA code.
pub fn cuda_library(place: &RunRoot, program: Option<&std::path::Path>) -> Option<(String, String)> {
    let list = crate::cuda::libraries(place, program).ok()?;
    let named =
        |path: &&(std::path::PathBuf, String)| program.is_some_and(|program| path.0.file_name() == program.file_name());
    let (path, _) = list.iter().find(named).or_else(|| list.first())?;
    let hash = inventory::Sha256::of_file(&inventory::File::open(path).ok()?).ok()?;
    Some((path.file_name()?.to_string_lossy().into_owned(), hash.to_string()))
}

impl RecordContext<'_> {
    fn subject(&self) -> Subject {
        let (name, hash) = &self.library;
        Subject::file(name.clone(), hash.clone())
            .runtime(self.place.name())
            .target(self.profile.processor())
            .gpu(self.profile.name.clone())
            .device(DeviceKind::StandIn)
            .model(self.model)
    }

    fn coverage(&self, launches: u64, lost: u64) -> Coverage {
        let complete = Coverage::complete("launches", launches).lost(lost);
        if self.described.ships {
            return complete;
        }
        let target = self.profile.processor();
        let why = match &self.described.near {
            Some(near) => say!("missed-grids-near", target, near),
            None => say!("missed-grids-none", target),
        };
        complete.missing(say!("missed-grids"), why)
    }

    /// The facts of a survey: path, tile, kernel, bundle and columns of each cell, BLAS calls, kernels by name.
    pub fn survey(&self, cells: &[Cell]) -> Result<Vec<Sighting>, Refused> {
        let mut facts = Vec::new();
        let mut launches = 0;
        let mut kernels: BTreeMap<String, i64> = BTreeMap::new();
        for cell in cells.iter().filter(|cell| cell.problem.is_none()) {
            launches += cell.rows.iter().map(|row| row.count).sum::<u64>();
            for row in cell.rows.iter().filter(|row| !row.mangled.is_empty()) {
                *kernels.entry(name(row)).or_default() += row.count.cast_signed();
            }
            of_cell(cell, &mut facts);
        }
        for (name, count) in kernels {
            facts.push(Fact::new("kernel", About::new([("name", name)]), count));
        }
        let mut coverage = self.coverage(launches, cells.iter().map(|cell| cell.lost).sum());
        for cell in cells.iter().filter(|cell| !cell.is_answered()) {
            let why = cell.problem.clone().unwrap_or_else(|| say!("missed-no-product"));
            coverage = coverage.missing(say!("missed-cell", kind = cell.kind, columns = cell.columns), why);
        }
        if !cells.is_empty() && cells.iter().filter(|cell| cell.is_answered()).all(|cell| cell.agreed) {
            coverage = coverage.account(Witness::GraphNodes);
        }
        self.sightings(facts, coverage, &table(cells))
    }

    /// The facts of one program's run, on this card.
    pub fn run(&self, outcome: &Outcome, rows: &[Selected]) -> Result<Vec<Sighting>, Refused> {
        let launches = rows.iter().map(|row| row.count).sum();
        let mut facts = Vec::new();
        let mut raw = String::new();
        for row in rows {
            let columns = row.ne11.map(|n| n.to_string()).unwrap_or_default();
            let _ = writeln!(raw, "{}\t{}\t{}\t{columns}\t{}", row.phase.key(), row.kernel, row.grid_text(), row.count);
            if !row.mangled.is_empty() {
                let fact = Fact::new("kernel", About::new([("name", name(row))]), row.count.cast_signed());
                facts.push((row.file.clone(), fact));
            }
            if let (true, Some(kind), Some(path)) = (row.is_multiplication(), &row.kind, row.path) {
                let about = [("type", kind.clone()), ("columns", columns), ("phase", row.phase.key().to_owned())];
                facts.push((row.file.clone(), Fact::new("matmul.path", About::new(about), path.to_string())));
            }
        }
        let coverage = self.coverage(launches, outcome.lost());
        let what = say!("missed-launches-after");
        let coverage = match outcome.finish() {
            Finish::Whole => coverage,
            Finish::Stopped(signal) => coverage.missing(what, say!("missed-interrupted", signal)),
            Finish::Failed(Ending::Signal(signal)) => coverage.missing(what, say!("missed-killed", signal)),
            Finish::Failed(Ending::Code(code)) => coverage.missing(what, say!("missed-ended", code)),
        };
        let coverage = self.gaps(outcome, coverage);
        let mut list = Vec::new();
        for (library, facts) in self.by_file(outcome, facts) {
            let of = RecordContext { library, ..self.clone() };
            list.extend(of.sightings(facts, coverage.clone(), &raw)?);
        }
        Ok(list)
    }

    /// Adds the other gaps of the run, and its second account.
    fn gaps(&self, outcome: &Outcome, mut coverage: Coverage) -> Coverage {
        for file in &outcome.unjudged {
            let why = match file.targets.as_slice() {
                [] => say!("missed-targets-unread"),
                targets => {
                    say!("missed-other-targets", targets, target = self.profile.processor())
                }
            };
            let what = say!("missed-launches-in", count = file.launches, file = file.file);
            coverage = coverage.missing(what, why);
        }
        let events = Events::of(outcome);
        for (rejected, count) in &events.rejected {
            coverage = coverage
                .missing(format!("{} x{count}", rejected.kernel), say!("missed-refused", status = rejected.status));
        }
        for (call, count) in &events.unsupported {
            coverage = coverage.missing(format!("{call} x{count}"), say!("missed-no-call"));
        }
        if Checked::agrees(outcome) { coverage.account(Witness::GraphNodes) } else { coverage }
    }

    /// Groups kernels by their file. Facts without a file (a library call, a choice) belong to the runtime's library if
    /// it took part, otherwise to the program.
    fn by_file(&self, outcome: &Outcome, facts: Vec<(String, Fact)>) -> BTreeMap<(String, String), Vec<Fact>> {
        let named = |file: &str| file.rsplit('/').next() == Some(self.library.0.as_str());
        let own = || outcome.traces.iter().find_map(|trace| self.hashed(&trace.program));
        // Refused launches have an origin too.
        let mut files = outcome.traces.iter().flat_map(|trace| &trace.modules).map(|module| module.path.as_str());
        let rest = match files.clone().next().is_none() || files.any(named) {
            true => self.library.clone(),
            false => own().unwrap_or_else(|| self.library.clone()),
        };
        let mut known: BTreeMap<String, (String, String)> = BTreeMap::new();
        let mut found: BTreeMap<(String, String), Vec<Fact>> = BTreeMap::from([(rest.clone(), Vec::new())]);
        for (file, fact) in facts {
            let of = known.entry(file).or_insert_with_key(|file| match named(file) {
                true => self.library.clone(),
                false => self.hashed(file).unwrap_or_else(|| rest.clone()),
            });
            found.entry(of.clone()).or_default().push(fact);
        }
        found
    }

    /// Name and SHA-256 of a file that the program saw; None if it is not on this machine.
    fn hashed(&self, seen: &str) -> Option<(String, String)> {
        if !seen.starts_with('/') {
            return None;
        }
        let path = self.place.on_host(seen);
        let name = path.file_name()?.to_string_lossy().into_owned();
        let hash = inventory::Sha256::of_file(&inventory::File::open(&path).ok()?).ok()?;
        Some((name, hash.to_string()))
    }

    fn sightings(&self, facts: Vec<Fact>, coverage: Coverage, raw: &str) -> Result<Vec<Sighting>, Refused> {
        let id = || ObserverId::new(NAME, env!("CARGO_PKG_VERSION"));
        let mut list = Vec::new();
        for fact in facts {
            let seen = Observation::on::<Rung>(id(), self.subject(), Finding::Saw(fact), coverage.clone(), self.time)?;
            list.push(Sighting::from(seen).with(Raw::text(raw)));
        }
        // If nothing was launched, there is no proof that the observation works.
        let launched = coverage.seen > 0;
        let swept =
            Observation::on::<Rung>(id(), self.subject(), Finding::Swept, coverage, self.time)?.view(field_of_view());
        let canary = || Canary::in_target(say!("canary-stand-in"));
        let swept = if launched { swept.canary(canary()) } else { swept };
        list.push(Sighting::from(swept).with(Raw::text(raw)));
        Ok(list)
    }
}

/// Every launch passes through the stand-in, but it cannot see code that the host never launches.
pub fn field_of_view() -> FieldOfView {
    let topics = ["kernel", "matmul.*", "blas.call", "flash-attn.*"];
    FieldOfView::new(topics.map(View::new).to_vec())
        .reach(say!("view-dryrun"))
        .blind(key!("view-dryrun-blind-results"))
        .blind(key!("view-dryrun-blind-blas"))
}

/// A Tensile kernel keeps its own name. The readable form would hide that it is a `Cijk_*`.
fn name(row: &Selected) -> String {
    if row.mangled.starts_with("Cijk_") { row.mangled.clone() } else { row.kernel.clone() }
}

fn of_cell(cell: &Cell, facts: &mut Vec<Fact>) {
    let columns = cell.columns.to_string();
    let about = |kind: &str| About::new([("type", kind), ("columns", columns.as_str())]);
    let mut seen = Vec::new();
    for row in cell.products() {
        let Some(kind) = row.kind.as_deref() else { continue };
        // The most frequent kernel represents a type. Its fix-up is not a separate choice.
        if row.family == Family::MmqFixup || seen.contains(&kind.to_owned()) {
            continue;
        }
        seen.push(kind.to_owned());
        if let Some(path) = row.path {
            facts.push(Fact::new("matmul.path", about(kind), path.to_string()));
        }
        facts.push(Fact::new("matmul.kernel", about(kind), row.kernel.clone()));
        let read = grammar::read(&row.mangled);
        let tile = read.tile.map(|tile| tile.columns).or(read.columns).filter(|_| row.path != Some(Path::Blas));
        if let Some(tile) = tile {
            facts.push(Fact::new("matmul.tile", about(kind), i64::from(tile)));
        }
        if let Some(bundle) = row.bundle {
            facts.push(Fact::new("matmul.bundle", about(kind), i64::from(bundle)));
        }
        if let Some(ne11) = row.ne11 {
            let about = About::new([("type", kind), ("prompt", columns.as_str())]);
            facts.push(Fact::new("matmul.ne11", about, ne11.cast_signed()));
        }
    }
    let calls: u64 = cell.rows.iter().filter(|row| is_blas(row)).map(|row| row.count).sum();
    facts.push(Fact::new("blas.call", about(&cell.kind), calls.cast_signed()));
    let tensile = cell.rows.iter().filter(|row| row.mangled.starts_with("Cijk_"));
    for (row, call) in tensile.flat_map(|row| row.calls.iter().map(move |call| (row, call))) {
        let about = [
            ("m", call.m.to_string()),
            ("n", call.n.to_string()),
            ("k", call.k.to_string()),
            ("types", launch::blas::data_type(call.type_a).to_owned()),
        ];
        facts.push(Fact::new("blas.kernel", About::new(about), row.mangled.clone()));
    }
}

fn table(cells: &[Cell]) -> String {
    let mut out = String::from("type\tcolumns\tlabel\tkernel\tne11\tgrid\tbundle\tcount\n");
    for cell in cells {
        for row in cell.rows.iter().filter(|row| row.is_multiplication()) {
            let number = |value: Option<u64>| value.map(|n| n.to_string()).unwrap_or_default();
            let (ne11, bundle) = (number(row.ne11), number(row.bundle.map(u64::from)));
            let label = cell.label();
            let (kind, columns, kernel, grid) = (&cell.kind, cell.columns, &row.kernel, row.grid_text());
            let _ = writeln!(out, "{kind}\t{columns}\t{label}\t{kernel}\t{ne11}\t{grid}\t{bundle}\t{}", row.count);
        }
    }
    out
}
