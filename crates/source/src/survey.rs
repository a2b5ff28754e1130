//! Many questions to one tree: GPUs x types x column counts, under the defines of its builds.

use crate::device::Vendor;
use crate::dispatcher::dispatchers;
use crate::fused_paths::{FusedPath, fused_paths};
use crate::inputs;
use crate::launch_shape::ShapeAt;
use crate::op::Shape;
use crate::outcome::{Answer, DeviceAnswers, Outcome, Reason};
use crate::path::Path;
use crate::preset::Preset;
use crate::question::{Overrides, Question};
use crate::rules::{Rules, RulesError};
use crate::tree::Tree;
use cxx::sym::FxSet;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// One vendor's part of a tree, ready for questions.
#[derive(Debug)]
pub struct Backend<'t> {
    pub preset: Preset,
    pub rules: Rules<'t>,
    /// The functions that contributed to the answers: by device, then by type.
    pub(crate) ran: BTreeMap<usize, Vec<FxSet<u32>>>,
    /// The functions that contributed to the `cc` of a device.
    pub(crate) cc_ran: BTreeMap<usize, FxSet<u32>>,
}

#[derive(Debug)]
pub struct Survey<'t> {
    pub question: Question,
    pub backends: Vec<Backend<'t>>,
    /// The `cc` that the tree's own code gives each device.
    pub cc: Vec<Option<i64>>,
    /// Ranges of column counts, by device and type.
    pub answers: Vec<Vec<Vec<Answer>>>,
    /// Defines that no build file mentions and that change an answer.
    pub open_defines: Vec<String>,
    /// Environment variables that were read, with their values.
    pub environment: BTreeMap<String, Option<String>>,
    /// Other builds that were evaluated because of unspecified inputs, by their defines.
    pub tried: Vec<String>,
    /// Whether unspecified versions were varied.
    pub versions_varied: bool,
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub arch: String,
    pub cc: Option<i64>,
    pub ty: String,
    pub columns: i64,
    pub path: Option<Path>,
    pub variant: i64,
    pub tiles: i64,
    pub need_check: bool,
    /// None if nothing was determined, for libraries, and where shapes were not requested.
    pub shape: Option<ShapeAt>,
}

impl<'t> Survey<'t> {
    pub fn run(tree: &'t Tree, question: Question, overrides: &Overrides) -> Result<Survey<'t>, RulesError> {
        let mut survey = Survey::of(question, |vendor, shape| open(tree, vendor, overrides, shape))?;
        survey.versions_varied = overrides.vary_versions;
        survey.vary()?;
        Ok(survey)
    }

    pub(crate) fn empty(question: Question) -> Survey<'t> {
        let count = question.devices.len();
        Survey {
            question,
            backends: Vec::new(),
            cc: vec![None; count],
            answers: vec![Vec::new(); count],
            open_defines: Vec::new(),
            environment: BTreeMap::new(),
            tried: Vec::new(),
            versions_varied: false,
        }
    }

    /// A survey of the builds that `open` returns.
    pub(crate) fn of(
        question: Question,
        open: impl Fn(Vendor, &Shape) -> Result<Backend<'t>, RulesError> + Sync,
    ) -> Result<Survey<'t>, RulesError> {
        let vendors: BTreeSet<Vendor> = question.devices.iter().map(|device| device.vendor).collect();
        let of_vendor = |vendor| {
            let mut backend = open(vendor, &question.shape)?;
            let part = ask(&question, &mut backend)?;
            Ok((backend, part))
        };
        // Each vendor's sources are read and evaluated separately. A thread that finishes early helps with the other
        // vendor's devices. A single vendor needs no threads.
        let parts: Result<Vec<(Backend<'t>, Part)>, RulesError> = match vendors.len() {
            ..2 => vendors.into_iter().map(of_vendor).collect(),
            2.. => vendors.into_par_iter().map(of_vendor).collect(),
        };
        let mut survey = Survey::empty(question);
        for (backend, part) in parts? {
            survey.add(backend, part);
        }
        Ok(survey)
    }

    pub(crate) fn add(&mut self, mut backend: Backend<'t>, part: Part) {
        for (index, found) in part {
            if let (Some(slot), Some(into)) = (self.cc.get_mut(index), self.answers.get_mut(index)) {
                (*slot, *into) = (found.cc, found.by_type);
            }
            backend.ran.insert(index, found.ran);
            backend.cc_ran.insert(index, found.cc_ran);
            self.environment.extend(found.environment);
        }
        self.backends.push(backend);
    }

    pub fn answer(&self, device: usize, ty: usize, columns: i64) -> Option<&Answer> {
        answer(&self.answers, device, ty, columns)
    }

    /// The table, in the order of the given GPUs, types and columns.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (index, device) in self.question.devices.iter().enumerate() {
            for (ty, name) in self.question.types.iter().enumerate() {
                for &columns in &self.question.columns {
                    let answer = self.answer(index, ty, columns);
                    let chosen = match answer.map(|answer| &answer.outcome) {
                        Some(Outcome::Chosen(choice)) => Some(choice),
                        _ => None,
                    };
                    rows.push(Row {
                        arch: device.target.clone(),
                        cc: self.cc.get(index).copied().flatten(),
                        ty: name.clone(),
                        columns,
                        path: chosen.map(|choice| choice.path),
                        variant: chosen.map_or(0, |choice| choice.variant),
                        tiles: chosen.map_or(0, |choice| choice.tiles(columns)),
                        need_check: chosen.is_some_and(|choice| choice.need_check),
                        shape: chosen.and(answer).and_then(|answer| answer.shape_at(columns, device.warp())),
                    });
                }
            }
        }
        rows
    }

    /// The conditions behind one answer.
    pub fn reasons(&self, device: usize, ty: usize, columns: i64) -> Vec<Reason> {
        self.reasons_of_device(device, &[(ty, columns)]).pop().unwrap_or_default()
    }

    /// The conditions behind every row, in row order, each at its own column count.
    pub fn reasons_of_rows(&self) -> Vec<Vec<Reason>> {
        let columns = &self.question.columns;
        let types = 0..self.question.types.len();
        let asked: Vec<(usize, i64)> = types.flat_map(|ty| columns.iter().map(move |&count| (ty, count))).collect();
        self.reasons_at(&vec![asked; self.question.devices.len()]).into_iter().flatten().collect()
    }

    /// The conditions behind these types and column counts of each device.
    pub(crate) fn reasons_at(&self, asked: &[Vec<(usize, i64)>]) -> Vec<Vec<Vec<Reason>>> {
        asked.par_iter().enumerate().map(|(device, asked)| self.reasons_of_device(device, asked)).collect()
    }

    fn reasons_of_device(&self, index: usize, asked: &[(usize, i64)]) -> Vec<Vec<Reason>> {
        let Some(device) = self.question.devices.get(index) else { return Vec::new() };
        let backend = self.backends.iter().find(|backend| backend.preset.vendor == device.vendor);
        let asked = asked.iter().filter_map(|&(ty, columns)| {
            let launch = self.answer(index, ty, columns).and_then(|answer| answer.launch.as_ref());
            Some((self.question.types.get(ty)?.as_str(), columns, launch))
        });
        backend.map_or(Vec::new(), |backend| backend.rules.reasons_of(device, &self.question.shape, asked))
    }

    /// The function that chooses between the paths, one below the dispatcher.
    pub fn function(&self) -> String {
        let launches = self.answers.iter().flatten().flatten().filter_map(|answer| answer.launch.as_ref());
        launches.filter_map(|launch| launch.stack.get(1)).next().cloned().unwrap_or_default()
    }

    /// The families that this function calls, in text order.
    pub fn order(&self) -> Vec<String> {
        let name = self.function();
        self.backends.first().map_or_else(Vec::new, |backend| backend.rules.order(&name))
    }

    /// The places where graphs bypass this function because operations are fused.
    pub fn fused_paths(&self) -> Vec<FusedPath> {
        let entry = |backend: &Backend<'_>| Some(fused_paths(&backend.rules.program, backend.rules.entry()?));
        match self.question.shape {
            Shape::MulMat { .. } | Shape::MulMatId { .. } => self.backends.first().and_then(entry).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    pub fn preset(&self, vendor: Vendor) -> Option<&Preset> {
        self.backends.iter().map(|backend| &backend.preset).find(|preset| preset.vendor == vendor)
    }
}

/// The answer for a column count.
pub(crate) fn answer(answers: &[Vec<Vec<Answer>>], device: usize, ty: usize, columns: i64) -> Option<&Answer> {
    let list = answers.get(device)?.get(ty)?;
    // Ranges are in ascending order.
    let answer = list.get(list.partition_point(|answer| answer.to < columns))?;
    (answer.from..=answer.to).contains(&columns).then_some(answer)
}

/// Answers by the index of the device in the question.
pub(crate) type Part = Vec<(usize, DeviceAnswers)>;

pub(crate) fn ask(question: &Question, backend: &mut Backend<'_>) -> Result<Part, RulesError> {
    let vendor = backend.preset.vendor;
    let mine: Vec<usize> = (0..question.devices.len())
        .filter(|&index| question.devices.get(index).is_some_and(|device| device.vendor == vendor))
        .collect();
    let mut columns = question.columns.clone();
    columns.sort_unstable();
    columns.dedup();
    // A first question determines the dispatcher among the candidates.
    if let (Some(device), Some(ty)) =
        (mine.first().and_then(|&index| question.devices.get(index)), question.types.first())
    {
        let op = question.shape.op(ty, columns.first().copied().unwrap_or(1));
        backend.rules.settle(device, &op)?;
    }
    let mut part = Vec::with_capacity(mine.len());
    let mut open: Vec<usize> = mine;
    while !open.is_empty() {
        let rules = &backend.rules;
        let answers = |&index: &usize| {
            let device = question.devices.get(index)?;
            Some((index, rules.device_answers(device, question, &columns)))
        };
        let results: Vec<_> = match open.len() {
            ..2 => open.iter().filter_map(answers).collect(),
            2.. => open.par_iter().filter_map(answers).collect(),
        };
        let (mut needed, mut ran) = (BTreeSet::new(), FxSet::default());
        open.clear();
        for (index, result) in results {
            match result {
                Ok(answers) => part.push((index, answers)),
                Err(missing) => {
                    ran.extend(missing.ran);
                    needed.insert(missing.name);
                    open.push(index);
                }
            }
        }
        backend.rules.settled.extend(ran);
        for name in needed {
            backend.rules.load_definition(name)?;
        }
    }
    Ok(part)
}

pub(crate) fn open<'t>(
    tree: &'t Tree,
    vendor: Vendor,
    overrides: &Overrides,
    shape: &Shape,
) -> Result<Backend<'t>, RulesError> {
    let name = shape.operation();
    let dispatcher = dispatchers(tree, name).next().unwrap_or_default();
    let mut preset = Preset::find(tree, vendor, &dispatcher, &overrides.cmake);
    overrides.define.iter().for_each(|define| preset.define(define));
    overrides.undefine.iter().for_each(|name| preset.undefine(name));
    inputs::check(tree, &preset, &dispatcher, overrides)?;
    let mut rules = Rules::open(tree, vendor, &preset, name)?;
    rules.environment.clone_from(&overrides.env);
    rules.code.clone_from(&overrides.code);
    Ok(Backend { preset, rules, ran: BTreeMap::new(), cc_ran: BTreeMap::new() })
}
