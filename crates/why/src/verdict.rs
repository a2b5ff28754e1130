//! The answer: the verdict first, then speed, causes, passed checks, and checks that were not made.

use crate::cause::{Cause, Cost, Id, Phase, english, maybe};
use crate::checks::{Outcome, check, gib};
use crate::facts::Facts;
use crate::speed::{Now, RUNS, Speed, speeds};
use crate::sure::Sure;
use evidence::{Grade, Rung};
use say::shell::CommandLine;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a server is slow and why: upper bounds, causes with evidence and fix, passed checks, and checks that were
/// not made.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    pub verdict: Verdict,
    pub subject: Subject,
    pub speed: Vec<Speed>,
    /// The requests for the speed measurement.
    pub asked: Option<Asked>,
    /// Why nothing was measured.
    #[serde(serialize_with = "maybe")]
    #[schemars(with = "Option<String>")]
    pub unmeasured: Option<Message>,
    pub causes: Vec<Cause>,
    pub fine: Vec<Fine>,
    pub not_checked: Vec<NotChecked>,
    pub not_applicable: Vec<Id>,
    /// Paths that the rules choose: from, to (columns), path.
    pub paths: Vec<PathRow>,
    /// Without a server: the contexts that fit into the card's memory.
    pub memory: Option<MemoryPlan>,
    /// Without a server: what a recorded dry run of this card and type selected.
    pub dry_run: Option<crate::DryRun>,
    /// The plan or the result of `--fix`.
    pub fix_run: Option<crate::FixRun>,
    /// A command to run next.
    pub next: Option<String>,
}

impl answer::Answer for Answer {
    const SCHEMA: &'static str = "whichkernel.why/1";
}

/// Tokens of each request: evaluated and requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Asked {
    pub prompt: u64,
    pub answer: u64,
    /// The number of requests that were planned.
    pub requests: u64,
    /// How many of them were answered with a speed.
    pub answered: u64,
    /// Why the others have none.
    #[serde(serialize_with = "maybe")]
    #[schemars(with = "Option<String>")]
    pub failed: Option<Message>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    pub says: Says,
    pub cause: Option<Id>,
    pub sure: Sure,
    pub rung: Rung,
    pub grade: Grade,
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub text: Message,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// The first cause alone explains the slowness: its two bounds are far apart.
    Slow,
    ProbablySlow,
    PossiblySlow,
    NothingWrongFound,
    /// The model runs on the CPU, and there is no GPU.
    OnCpu,
    NotKnown,
    ExpectedFine,
    ExpectedSlow,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Subject {
    pub model: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The name in text output.
    pub card: Option<String>,
    pub target: Option<String>,
    pub server: Option<ServerName>,
    /// The rules that were used.
    pub rules: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ServerName {
    pub name: String,
    pub version: Option<String>,
    pub pid: Option<u32>,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fine {
    pub id: Id,
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub text: Message,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NotChecked {
    pub id: Id,
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub why: Message,
    pub command: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathRow {
    pub from: u64,
    pub to: u64,
    pub path: String,
}

/// Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MemoryPlan {
    pub weights: u64,
    pub kv_per_token: f64,
    pub vram: u64,
    /// Tokens whose cache fits in memory with the weights. Compute buffers are not counted.
    pub tokens: u64,
}

/// A cause explains a slow server by itself if it lowers the bound by at least this factor.
const FAR: f64 = 1.5;
/// A computed cost below this factor explains nothing.
const NEAR: f64 = 1.05;

impl Answer {
    /// Checks every cause. `measured`: decode and prefill; `unmeasured`: why nothing was measured.
    pub fn of(facts: &Facts, measured: [Option<Now>; 2], unmeasured: Option<Message>) -> Answer {
        let (mut causes, mut fine, mut not_checked, mut not_applicable) = (vec![], vec![], vec![], vec![]);
        for id in Id::ALL.iter().copied() {
            match check(id, facts) {
                Outcome::Cause(cause) => causes.push(*cause),
                Outcome::Fine(text) => fine.push(Fine { id, text }),
                Outcome::NotChecked { why, command } => not_checked.push(NotChecked { id, why, command }),
                Outcome::NotApplicable => not_applicable.push(id),
            }
        }
        let causes = ordered(causes);
        let speed = speeds(facts, measured);
        let memory = memory_plan(facts).filter(|_| facts.server.is_none());
        let verdict = verdict(facts, &causes, &speed, &not_checked, memory);
        let rules = facts.rules.iter().flat_map(|rules| &rules.stretches);
        let paths = rules.map(|(from, to, path)| PathRow { from: *from, to: *to, path: path.clone() }).collect();
        let mut answer = Answer {
            verdict,
            subject: subject(facts),
            speed,
            asked: None,
            unmeasured,
            causes,
            fine,
            not_checked,
            not_applicable,
            paths,
            memory,
            dry_run: None,
            fix_run: None,
            next: None,
        };
        answer.next = next(&answer, facts);
        answer
    }

    pub fn phase(&self, phase: Phase) -> Option<&Speed> {
        self.speed.iter().find(|speed| speed.phase == phase)
    }
}

/// The most expensive cause first. Among causes without a certain cost, those that keep the model off the card come
/// first, then those with the highest possible cost, then the order of the list.
fn ordered(mut causes: Vec<Cause>) -> Vec<Cause> {
    let certain = |cause: &Cause| cause.cost.factor().filter(|factor| *factor >= NEAR).unwrap_or(0.0);
    let possible = |cause: &Cause| match cause.id > Id::MissingTarget {
        true => cause.cost.worst().unwrap_or(0.0),
        false => f64::INFINITY,
    };
    let rank = |cause: &Cause| [certain(cause), possible(cause)];
    let higher = |a: &Cause, b: &Cause| {
        let ([certain_a, possible_a], [certain_b, possible_b]) = (rank(a), rank(b));
        certain_b.total_cmp(&certain_a).then(possible_b.total_cmp(&possible_a))
    };
    causes.sort_by(|a, b| higher(a, b).then(a.id.cmp(&b.id)));
    causes.iter_mut().enumerate().for_each(|(at, cause)| cause.n = at + 1);
    causes
}

/// The verdict cannot be "fine" if one of these was not checked.
const ESSENTIAL: &[Id] = &[Id::CpuOnly, Id::PartialOffload];

fn verdict(
    facts: &Facts,
    causes: &[Cause],
    speed: &[Speed],
    not_checked: &[NotChecked],
    memory: Option<MemoryPlan>,
) -> Verdict {
    let made = |says, cause: Option<&Cause>, sure: Sure, text: Message| {
        let (rung, grade) = sure.graded("why.verdict");
        Verdict { says, cause: cause.map(|cause| cause.id), sure, rung, grade, text }
    };
    let measured = speed.iter().filter_map(|speed| speed.now).map(|now| now.runs).min();
    if let Some(first) = causes.first() {
        let cause = &first.text;
        return match (facts.server.is_some(), first.cost.factor()) {
            (false, _) => made(Says::ExpectedSlow, Some(first), first.sure, say!("why-says-expected-slow", cause)),
            (true, Some(factor)) if factor >= FAR => {
                made(Says::Slow, Some(first), first.sure, say!("why-says-slow", cause))
            }
            (true, Some(_)) if first.cost.worst().is_some_and(|factor| factor < likely(&first.cost)) => {
                made(Says::PossiblySlow, Some(first), first.sure, say!("why-says-possibly-slow", cause))
            }
            (true, Some(_)) => made(Says::ProbablySlow, Some(first), first.sure, say!("why-says-probably-slow", cause)),
            (true, None) => made(Says::PossiblySlow, Some(first), first.sure, say!("why-says-possibly-slow", cause)),
        };
    }
    let Some(server) = &facts.server else {
        return match (&facts.model, memory) {
            (None, _) => made(
                Says::NotKnown,
                None,
                Sure::NotKnown,
                say!("why-says-not-known-model", why = say!("why-missing-model")),
            ),
            // If the model's size is unknown, its fit and its speed are unknown too.
            (Some(model), _) if model.weights.is_none() => {
                let why = say!("why-missing-size");
                made(Says::NotKnown, None, Sure::NotKnown, say!("why-says-not-known-model", why))
            }
            (Some(_), Some(plan)) => {
                let text = match plan.tokens {
                    0 => return made(Says::ExpectedSlow, None, Sure::Expected, too_large(plan)),
                    tokens => say!("why-says-expected-fine-context", tokens = thousands(tokens / 1000 * 1000)),
                };
                made(Says::ExpectedFine, None, Sure::Expected, text)
            }
            (Some(_), None) => {
                let why = say!("why-missing-fit");
                made(Says::NotKnown, None, Sure::NotKnown, say!("why-says-not-known-model", why))
            }
        };
    };
    let sure = match measured {
        Some(RUNS..) => Sure::Measured,
        Some(_) => Sure::PartlySeen,
        None => Sure::Seen,
    };
    if facts.cards_seen && facts.cards.is_empty() {
        return made(Says::OnCpu, None, Sure::Seen, say!("why-says-on-cpu"));
    }
    let essential = not_checked.iter().find(|one| ESSENTIAL.contains(&one.id));
    match essential {
        Some(one) if server.pid.is_none() || not_checked.len() > Id::ALL.len() / 2 => {
            let why = one.why.clone();
            made(Says::NotKnown, None, Sure::NotKnown, say!("why-says-not-known", why))
        }
        Some(_) => made(Says::NothingWrongFound, None, Sure::PartlySeen, say!("why-says-nothing-wrong-but")),
        None => made(Says::NothingWrongFound, None, sure, say!("why-says-nothing-wrong-found")),
    }
}

/// From this factor on, a cause is probable: the end of a range has to be far away, because it may not be reached.
fn likely(cost: &Cost) -> f64 {
    if matches!(cost, Cost::Between { .. }) { FAR } else { NEAR }
}

fn too_large(plan: MemoryPlan) -> Message {
    let cause = say!("why-seen-fit", weights = gib(plan.weights), kv = "0.0", vram = gib(plan.vram));
    say!("why-says-expected-slow", cause)
}

/// The sizes of the weights and of one token's cache, the card's memory, and the number of tokens that fit.
fn memory_plan(facts: &Facts) -> Option<MemoryPlan> {
    let (model, card) = (facts.model.as_ref()?, facts.card()?);
    let (weights, vram) = (model.weights?.total, card.vram?);
    let (k, v) = facts.cache();
    let kv_per_token = model.kv_bytes(k, v)?;
    let room = vram.saturating_sub(weights) as f64;
    let tokens = if kv_per_token > 0.0 { (room / kv_per_token) as u64 } else { 0 };
    (kv_per_token > 0.0).then_some(MemoryPlan { weights, kv_per_token, vram, tokens })
}

fn subject(facts: &Facts) -> Subject {
    let server = facts.server.as_ref();
    let named = server.and_then(|server| server.model.clone());
    let card = if facts.on_cpu() == Some(true) { None } else { facts.card() };
    Subject {
        model: facts.model.as_ref().map(|model| model.name.clone()).or(named),
        kind: facts.model.as_ref().and_then(|model| model.file_type.clone().or(model.main_type.clone())),
        card: card.map(|card| title(card.title.as_str(), card.vram)),
        target: card.and_then(|card| card.target.clone()),
        server: server.map(|server| ServerName {
            name: server.name.clone(),
            version: server.version.clone(),
            pid: server.pid,
            url: server.url.clone(),
        }),
        rules: facts.rules.as_ref().map(|rules| rules.version.clone()),
    }
}

/// `RX 9070 XT 16 GB`: drivers report slightly less than the nominal size.
fn title(name: &str, vram: Option<u64>) -> String {
    match vram {
        Some(bytes) => format!("{name} {} GB", (bytes as f64 / (1_u64 << 30) as f64).ceil()),
        None => name.to_owned(),
    }
}

/// A useful next command that was not just run.
fn next(answer: &Answer, facts: &Facts) -> Option<String> {
    let fixable = |cause: &&Cause| cause.fix.as_ref().is_some_and(|fix| fix.change.is_some());
    if let Some(cause) = answer.causes.iter().find(fixable).filter(|_| facts.server.is_some()) {
        let server = facts.server.as_ref()?;
        return Some(match (server.pid, &server.url) {
            (Some(pid), _) => format!("whichkernel why --pid {pid} --fix {} --measure", cause.n),
            (None, Some(url)) => {
                CommandLine::new("whichkernel why {} --fix {} --measure", [url.clone(), cause.n.to_string()]).into()
            }
            (None, None) => format!("whichkernel why --fix {} --measure", cause.n),
        });
    }
    if facts.server.is_none() {
        let card = facts.card().and_then(|card| card.limits.as_ref()).map(|limits| limits.card.clone())?;
        let kind = answer.subject.kind.clone()?;
        return Some(CommandLine::new("whichkernel explain {} {}", [card, kind]).into());
    }
    let command = |one: &NotChecked| one.command.clone();
    let watch = || {
        let pid = facts.server.as_ref()?.pid.filter(|_| facts.card().is_some() && facts.on_cpu() != Some(true))?;
        Some(CommandLine::new("sudo whichkernel watch --pid {}", [pid.to_string()]).into())
    };
    watch().or_else(|| answer.not_checked.iter().find_map(command))
}

/// Formats a number with separators: `12,345`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
