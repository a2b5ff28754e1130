//! Answers carried from one state of a tree to the next. A device and type are evaluated again only if the body of a
//! function that contributed to their answers changed, or if anything else that could have been visible on the way
//! differs ([`cxx::Reached`]).
//!
//! The new state is still read and preprocessed, including its build files and declarations, so a changed define is
//! noticed. Only the evaluation is saved.

use crate::device::Vendor;
use crate::device_globals;
use crate::dispatcher::candidates;
use crate::node_loop::doubt;
use crate::op::backend_fills_extra;
use crate::outcome::{Answer, DeviceAnswers};
use crate::question::{Overrides, Question};
use crate::rules::{Rules, RulesError};
use crate::survey::{Backend, Part, Survey, ask, open};
use crate::tree::Tree;
use cxx::Reached;
use cxx::sym::FxSet;
use rayon::prelude::*;
use say::Message;
use std::collections::{BTreeMap, BTreeSet};

/// Names that questions look up themselves.
const WANTED: &[&str] = &["ggml_type_size", "ggml_blck_size", "ggml_backend_cuda_buffer_init_tensor"];

/// The answers for one revision, and their dependencies.
#[derive(Debug)]
pub struct Carried {
    answers: Vec<Vec<Vec<Answer>>>,
    cc: Vec<Option<i64>>,
    environment: BTreeMap<String, Option<String>>,
    backends: Vec<Kept>,
}

/// The part of one vendor. Functions are given by their position in `reached`.
#[derive(Debug)]
struct Kept {
    vendor: Vendor,
    /// Definitions that had to be searched for, in order.
    needed: Vec<String>,
    outside: Outside,
    reached: Reached,
    settled: Vec<u32>,
    /// The functions behind each cell, by device, then by type.
    cells: BTreeMap<usize, Vec<Vec<u32>>>,
    cc: BTreeMap<usize, Vec<u32>>,
}

/// Results of searches through the whole program, the same for every device.
#[derive(Debug, PartialEq, Eq)]
struct Outside {
    /// The candidates for the dispatcher, and which of them it is.
    dispatchers: (Vec<String>, Option<usize>),
    table_of_devices: Option<String>,
    writers_of_devices: Vec<String>,
    fills_extra: bool,
    before_dispatch: Option<Message>,
}

/// The new results for one device: its index, its `cc`, and its answers by type; None for results that stay valid.
type Of = (usize, Option<Option<i64>>, Vec<Option<Vec<Answer>>>);

/// The answers of one vendor.
struct Again<'t> {
    backend: Backend<'t>,
    part: Vec<Of>,
    environment: BTreeMap<String, Option<String>>,
}

enum Asked<'t> {
    Anew(Backend<'t>, Part),
    Again(Again<'t>),
}

/// The cells that were not evaluated again, by device and type.
pub type Spared = BTreeSet<(usize, usize)>;

/// Like [`Survey::run`], but reuses the results of an earlier state.
pub fn survey<'t>(
    tree: &'t Tree,
    question: &Question,
    overrides: &Overrides,
    before: Option<Carried>,
) -> Result<(Survey<'t>, Spared), RulesError> {
    let vendors: BTreeSet<Vendor> = question.devices.iter().map(|device| device.vendor).collect();
    let parts: Result<Vec<Asked<'t>>, RulesError> = vendors
        .into_par_iter()
        .map(|vendor| {
            let kept = before.iter().flat_map(|before| &before.backends).find(|kept| kept.vendor == vendor);
            if let Some(again) = kept.and_then(|kept| again(tree, question, overrides, kept)) {
                return Ok(Asked::Again(again));
            }
            let mut backend = open(tree, vendor, overrides, &question.shape)?;
            let part = ask(question, &mut backend)?;
            Ok(Asked::Anew(backend, part))
        })
        .collect();
    let mut survey = Survey::empty(question.clone());
    let mut spared = Spared::new();
    let (mut old, known_cc, environment) = before.map(|it| (it.answers, it.cc, it.environment)).unwrap_or_default();
    for asked in parts? {
        match asked {
            Asked::Anew(backend, part) => survey.add(backend, part),
            Asked::Again(again) => {
                survey.environment.extend(environment.clone());
                survey.environment.extend(again.environment);
                for (device, cc, types) in again.part {
                    let mut all = Vec::with_capacity(types.len());
                    for (ty, answers) in types.into_iter().enumerate() {
                        let mine = old.get_mut(device).and_then(|types| types.get_mut(ty));
                        all.push(answers.unwrap_or_else(|| {
                            spared.insert((device, ty));
                            mine.map(std::mem::take).unwrap_or_default()
                        }));
                    }
                    if let (Some(slot), Some(into)) = (survey.cc.get_mut(device), survey.answers.get_mut(device)) {
                        *slot = cc.unwrap_or_else(|| known_cc.get(device).copied().flatten());
                        *into = all;
                    }
                }
                survey.backends.push(again.backend);
            }
        }
    }
    survey.versions_varied = overrides.vary_versions;
    survey.vary()?;
    Ok((survey, spared))
}

/// Evaluates everything that may differ; None if that cannot be determined.
fn again<'t>(tree: &'t Tree, question: &Question, overrides: &Overrides, kept: &Kept) -> Option<Again<'t>> {
    let mut backend = open(tree, kept.vendor, overrides, &question.shape).ok()?;
    for name in &kept.needed {
        backend.rules.load_definition(name.clone()).ok()?;
    }
    let list = candidates(&backend.rules.program, question.shape.operation());
    backend.rules.enter(list.get(kept.outside.dispatchers.1?).copied()?);
    // A function without a known name was not searched for.
    if backend.rules.needed != kept.needed || outside(&backend.rules, question) != kept.outside {
        return None;
    }
    let alike = backend.rules.program.like(&kept.reached)?;
    let changed = |ran: &[u32]| ran.iter().any(|place| alike.changed.contains(place));
    if changed(&kept.settled) {
        return None;
    }
    let here = |ran: &[u32]| -> FxSet<u32> {
        ran.iter().filter_map(|place| alike.functions.get(*place as usize)).copied().collect()
    };
    let columns = sorted(question);
    let rules = &backend.rules;
    let of_device = |(&device, types): (&usize, &Vec<Vec<u32>>)| {
        let cc_ran = kept.cc.get(&device)?;
        let open = |ty: &usize| changed(cc_ran) || types.get(*ty).is_none_or(|ran| changed(ran));
        let open: Vec<usize> = (0..types.len()).filter(open).collect();
        let mut found = DeviceAnswers::default();
        if !open.is_empty() {
            let types = open.iter().filter_map(|&ty| question.types.get(ty).cloned()).collect();
            let narrow = Question { types, ..question.clone() };
            // If a definition has to be loaded first, anything may have changed, so everything is evaluated again.
            found = rules.device_answers(question.devices.get(device)?, &narrow, &columns).ok()?;
            if found.ran.len() != open.len() {
                return None;
            }
        }
        Some((device, open, found))
    };
    let found: Option<Vec<(usize, Vec<usize>, DeviceAnswers)>> = kept.cells.par_iter().map(of_device).collect();
    let mut part = Vec::new();
    let mut environment = BTreeMap::new();
    let (mut all_ran, mut all_cc_ran) = (BTreeMap::new(), BTreeMap::new());
    for (device, open, found) in found? {
        let types = kept.cells.get(&device)?;
        let mut ran: Vec<FxSet<u32>> = types.iter().map(|ran| here(ran)).collect();
        let mut answers: Vec<Option<Vec<Answer>>> = types.iter().map(|_| None).collect();
        let cc = (!open.is_empty()).then_some(found.cc);
        for ((ty, of_type), theirs) in open.into_iter().zip(found.by_type).zip(found.ran) {
            *answers.get_mut(ty)? = Some(of_type);
            *ran.get_mut(ty)? = theirs;
        }
        all_cc_ran.insert(device, if cc.is_some() { found.cc_ran } else { here(kept.cc.get(&device)?) });
        all_ran.insert(device, ran);
        environment.extend(found.environment);
        part.push((device, cc, answers));
    }
    (backend.ran, backend.cc_ran) = (all_ran, all_cc_ran);
    backend.rules.settled = here(&kept.settled);
    Some(Again { backend, part, environment })
}

fn sorted(question: &Question) -> Vec<i64> {
    let mut columns = question.columns.clone();
    columns.sort_unstable();
    columns.dedup();
    columns
}

fn outside(rules: &Rules<'_>, question: &Question) -> Outside {
    let program = &rules.program;
    let name = |index: &u32| program.function(*index).map_or(String::new(), |it| program.text(it.name).to_owned());
    let operation = question.shape.operation();
    let list = candidates(program, operation);
    Outside {
        dispatchers: (list.iter().map(name).collect(), list.iter().position(|index| *index == rules.entry_index())),
        table_of_devices: device_globals::table(program).map(|name| program.text(name).to_owned()),
        writers_of_devices: device_globals::writers(program).iter().map(name).collect(),
        fills_extra: backend_fills_extra(program),
        before_dispatch: rules
            .entry()
            .and_then(|entry| rules.not_built(entry).or_else(|| doubt(program, entry, operation, true)))
            .map(|(_, why)| why),
    }
}

impl Carried {
    /// The answers that a survey passes to the next state. None if answers depend on unspecified inputs: these are
    /// merged from many builds.
    pub fn of(survey: Survey<'_>) -> Option<Carried> {
        if !survey.tried.is_empty() {
            return None;
        }
        let kept: Option<Vec<Kept>> =
            survey.backends.par_iter().map(|backend| keep(backend, &survey.question)).collect();
        Some(Carried { backends: kept?, answers: survey.answers, cc: survey.cc, environment: survey.environment })
    }
}

fn keep(backend: &Backend<'_>, question: &Question) -> Option<Kept> {
    // A device whose code could not be run has no footprint.
    let complete = |ran: &Vec<FxSet<u32>>| ran.len() == question.types.len();
    if !backend.ran.values().all(complete) {
        return None;
    }
    let rules = &backend.rules;
    let mut ran = rules.settled.clone();
    backend.ran.values().flatten().chain(backend.cc_ran.values()).for_each(|functions| ran.extend(functions));
    let reached = rules.program.reached(&ran, WANTED);
    let place_of = |index: &u32| reached.functions.binary_search(index).ok().map(|place| place as u32);
    let places = |functions: &FxSet<u32>| functions.iter().map(place_of).collect::<Option<Vec<u32>>>();
    let by_type = |(&device, types): (&usize, &Vec<FxSet<u32>>)| {
        Some((device, types.iter().map(places).collect::<Option<Vec<_>>>()?))
    };
    let cells = backend.ran.iter().map(by_type).collect::<Option<BTreeMap<_, _>>>()?;
    let cc =
        backend.cc_ran.iter().map(|(&device, ran)| Some((device, places(ran)?))).collect::<Option<BTreeMap<_, _>>>()?;
    Some(Kept {
        vendor: rules.vendor,
        needed: rules.needed.clone(),
        outside: outside(rules, question),
        settled: places(&rules.settled)?,
        reached,
        cells,
        cc,
    })
}
