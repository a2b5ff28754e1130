//! Inputs without a given value: defines that no build file mentions, and versions from an SDK's headers. If another
//! value of one changes an answer, the answer is undetermined, and both results are given.
//!
//! A build under another define is read only if the define can affect the code that ran (`cxx::Relevance`).

use crate::outcome::{Answer, Outcome};
use crate::path::Choice;
use crate::question::Question;
use crate::rules::RulesError;
use crate::survey::{Backend, Survey};
use crate::unknown_defines::is_compilers_value;
use cxx::Relevance;
use cxx::sym::FxSet;
use say::{Message, say};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Another build to evaluate.
struct Variant {
    name: String,
    defines: Vec<String>,
    why: Message,
    /// The functions that may differ; None means any function.
    functions: Option<FxSet<u32>>,
}

/// The maximum number of values tried per version; no real header compares with more.
const MAX_VALUES: usize = 12;

impl Survey<'_> {
    pub(crate) fn vary(&mut self) -> Result<(), RulesError> {
        for index in 0..self.backends.len() {
            let Some(backend) = self.backends.get(index) else { break };
            let around = OnceCell::new();
            let around = || around.get_or_init(|| backend.rules.around_dispatcher());
            let relevance = OnceCell::new();
            let relevance = || {
                relevance.get_or_init(|| {
                    let mut ran = around().clone();
                    backend.ran.values().flatten().for_each(|functions| ran.extend(functions));
                    backend.rules.program.relevance(&ran)
                })
            };
            let has_part = |name: &str| relevance().hangs_on(name).is_some();
            let unknown = backend.rules.unknown_defines(&backend.preset, has_part);
            let versions = self.versions_varied && backend.preset.assumed().next().is_some();
            if unknown.is_empty() && !versions {
                continue;
            }
            let variants = variants(backend, relevance(), unknown, self.versions_varied);
            let around = around().clone();
            for variant in variants {
                self.tried.push(variant.defines.join(" "));
                self.ask(index, variant, &around)?;
            }
        }
        Ok(())
    }

    /// Evaluates another build for the cells that its change can affect.
    fn ask(&mut self, backend: usize, variant: Variant, around: &FxSet<u32>) -> Result<(), RulesError> {
        let Some(backend) = self.backends.get(backend) else { return Ok(()) };
        let concerns = |ran: &FxSet<u32>| {
            let hangs = |functions: &FxSet<u32>| !functions.is_disjoint(ran) || !functions.is_disjoint(around);
            variant.functions.as_ref().is_none_or(hangs)
        };
        let (mut devices, mut types) = (Vec::new(), BTreeSet::new());
        for (&device, by_type) in &backend.ran {
            let mine: Vec<usize> = (0..by_type.len()).filter(|&ty| by_type.get(ty).is_some_and(concerns)).collect();
            let any = !mine.is_empty() || by_type.is_empty();
            types.extend(mine);
            if any {
                devices.push(device);
            }
        }
        // A device whose code could not be run has no footprint, so all of its types are evaluated.
        if backend.ran.values().any(Vec::is_empty) {
            types.extend(0..self.question.types.len());
        }
        let pick = |index: &usize| self.question.devices.get(*index).cloned();
        let question = Question {
            shape: self.question.shape.clone(),
            devices: devices.iter().filter_map(pick).collect(),
            types: types.iter().filter_map(|index| self.question.types.get(*index).cloned()).collect(),
            columns: self.question.columns.clone(),
            points: self.question.points,
            launch_shapes: self.question.launch_shapes,
        };
        let mut preset = backend.preset.clone();
        for define in &variant.defines {
            match define.strip_prefix('!') {
                Some(name) => preset.undefine(name),
                None => preset.define(define),
            }
        }
        let open = |_, _: &_| {
            let rules = backend.rules.again(&preset)?;
            Ok(Backend { preset: preset.clone(), rules, ran: BTreeMap::new(), cc_ran: BTreeMap::new() })
        };
        let other = Survey::of(question, open)?.answers;
        let mut differs = false;
        for (device, theirs) in devices.iter().zip(other) {
            for (ty, theirs) in types.iter().zip(theirs) {
                let mine = self.answers.get_mut(*device).and_then(|types| types.get_mut(*ty));
                differs |= mine.is_some_and(|mine| merge(mine, &theirs, &variant.why));
            }
        }
        if differs && !self.open_defines.contains(&variant.name) {
            self.open_defines.push(variant.name);
        }
        Ok(())
    }
}

fn variants(backend: &Backend<'_>, relevance: &Relevance<'_>, unknown: Vec<String>, versions: bool) -> Vec<Variant> {
    let assumed: Vec<(&str, &str)> = backend.preset.assumed().filter(|_| versions).collect();
    let mut out = Vec::new();
    let mut together: Vec<(String, Option<FxSet<u32>>)> = Vec::new();
    for name in unknown {
        let Some(hanging) = relevance.hangs_on(&name) else { continue };
        // A version is compared by size; any other define is only tested for existence.
        let by_size =
            name.contains("VERSION") || is_compilers_value(&name) || backend.preset.unsure_value.contains(&name);
        let values = if by_size { values(&hanging.turns, None) } else { vec![1] };
        let why = say!("source-open-one-define", name);
        let set = backend.preset.is_set(&name);
        let mut others: Vec<String> = Vec::new();
        if set {
            others.push(format!("!{name}"));
        }
        if !set || backend.preset.unsure_value.contains(&name) {
            others.extend(values.into_iter().map(|value| format!("{name}={value}")));
        }
        out.extend(others.into_iter().map(|define| Variant {
            name: name.clone(),
            defines: vec![define],
            why: why.clone(),
            functions: hanging.functions.clone(),
        }));
        together.push((name, hanging.functions));
    }
    // Each variant alone, then all together: two may matter only in combination.
    if together.len() > 1 {
        let names: Vec<&str> = together.iter().map(|(name, _)| name.as_str()).collect();
        let name = names.join(", ");
        let why = say!("source-open-several-defines", names = name);
        let turned = |name: &&str| match backend.preset.is_set(name) {
            true => format!("!{name}"),
            false => format!("{name}=1"),
        };
        let defines = names.iter().map(turned).collect();
        let functions: Option<Vec<FxSet<u32>>> = together.into_iter().map(|(_, functions)| functions).collect();
        let functions = functions.map(|all| all.into_iter().flatten().collect());
        out.push(Variant { name, defines, why, functions });
    }
    for (name, value) in assumed {
        let Some(hanging) = relevance.hangs_on(name) else { continue };
        for other in values(&hanging.turns, value.parse().ok()) {
            let why = say!("source-open-version-value", name, value, other);
            let defines = vec![format!("{name}={other}")];
            out.push(Variant { name: name.to_owned(), defines, why, functions: hanging.functions.clone() });
        }
    }
    let same = |variant: &Variant| {
        let defines: Vec<(&str, &str)> = variant.defines.iter().filter_map(|define| define.split_once('=')).collect();
        defines.len() == variant.defines.len() && backend.rules.program.same_under(&defines)
    };
    out.retain(|variant| !same(variant));
    out
}

/// One value from each range between two thresholds, except the assumed value's range, so that every comparison gets
/// both outcomes.
fn values(turns: &[i64], assumed: Option<i64>) -> Vec<i64> {
    let below = turns.first().map(|first| first - 1);
    let mut all: Vec<i64> = below.into_iter().chain(turns.iter().copied()).collect();
    match assumed {
        Some(assumed) => {
            let own = all.iter().rposition(|value| *value <= assumed);
            if let Some(own) = own.or((!all.is_empty()).then_some(0)) {
                all.remove(own);
            }
            // If there are more than any real header has, keep those nearest to the assumed value.
            all.sort_by_key(|value| value.abs_diff(assumed));
        }
        // A define without a value is 1; one with a value may be arbitrarily large.
        None => all.extend([1, 999_999_999]),
    }
    let mut seen = BTreeSet::new();
    all.retain(|value| seen.insert(*value));
    all.truncate(MAX_VALUES);
    all
}

/// Makes an answer undetermined wherever the other build's differs, splitting ranges at the ends of both.
fn merge(mine: &mut Vec<Answer>, theirs: &[Answer], why: &Message) -> bool {
    let mut out: Vec<Answer> = Vec::with_capacity(mine.len());
    let mut differs = false;
    for answer in mine.drain(..) {
        let mut from = answer.from;
        while from <= answer.to {
            let other = theirs.iter().find(|other| (other.from..=other.to).contains(&from));
            // Counts between two ranges of the other build were not requested; continue with its next range.
            let next = || theirs.iter().map(|other| other.from).filter(|&start| start > from).min();
            let to = match other {
                Some(other) => other.to.min(answer.to),
                None => next().map_or(answer.to, |start| (start - 1).min(answer.to)),
            };
            let to = to.max(from);
            let mut part = Answer { from, to, ..answer.clone() };
            if let (Some(mine), Some(theirs)) = (&mut part.launch, other.and_then(|other| other.launch.as_ref()))
                && mine.kernel == theirs.kernel
            {
                let before = mine.clone();
                mine.join(theirs, to, why);
                differs |= *mine != before;
            }
            if let Some(other) = other
                && other.outcome != answer.outcome
            {
                differs = true;
                let mut either: Vec<Choice> = Vec::new();
                for outcome in [&answer.outcome, &other.outcome] {
                    match outcome {
                        Outcome::Chosen(choice) => either.push(choice.clone()),
                        Outcome::Undetermined { either: more, .. } => either.extend(more.iter().cloned()),
                    }
                }
                part.outcome = Outcome::Undetermined { place: String::new(), why: why.clone(), either };
            }
            out.push(part);
            from = to + 1;
        }
    }
    *mine = out;
    differs
}
