//! The question of the first page: each field is understood by itself, and the answer comes with everything that is
//! drawn with it.

use crate::said::{Said, error, message};
use say::shell::CommandLine;
use serde::{Deserialize, Serialize};
use source::choices::choices;
use source::decision_table::{self, DecisionTable};
use source::explain::Question;
use source::reason::ReasonCode;
use source::versions::Known;
use source::words::{Nowhere, card, release, tokens, weights_of_model};

/// The fields as the user typed them. An empty version, or `newest`, is the newest table.
#[derive(Debug, Deserialize)]
pub struct Fields {
    pub gpu: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub tokens: String,
    pub version: String,
}

#[derive(Debug, Serialize)]
pub struct Answered {
    pub fields: Understood,
    /// Missing if a field was not understood.
    #[serde(flatten)]
    pub answer: Option<Answer>,
}

/// How each field was understood, or why not.
#[derive(Debug, Serialize)]
pub struct Understood {
    gpu: Field,
    #[serde(rename = "type")]
    kind: Field,
    tokens: Field,
    version: Field,
}

#[derive(Debug, Default, Serialize)]
struct Field {
    /// The value in its usual spelling.
    value: String,
    /// The meaning of the field's text.
    means: Option<Said>,
    error: Option<Said>,
}

#[derive(Debug, Serialize)]
pub struct Answer {
    /// The output of `whichkernel explain --format json` for this question.
    pub json: String,
    pub command: String,
    card: String,
    reason: Option<Said>,
    /// Why the version has no table of its own.
    between: Option<Said>,
    kernel: Option<String>,
    versions: Vec<Version>,
    gpus: Vec<OtherGpu>,
}

/// The choice of one release for the same question.
#[derive(Debug, Serialize)]
struct Version {
    source: String,
    version: String,
    date: String,
    commit: String,
    path: Option<String>,
}

#[derive(Debug, Serialize)]
struct OtherGpu {
    title: String,
    target: String,
    generation: String,
    /// Null if the rules do not decide, or if the neighbours of the version differ.
    path: Option<String>,
}

impl Field {
    fn of<T>(value: &str, found: &say::Result<T>, means: impl FnOnce(&T) -> (String, Option<Said>)) -> Field {
        match found {
            Ok(found) => {
                let (value, means) = means(found);
                Field { value, means, error: None }
            }
            Err(problem) => Field { value: value.to_owned(), means: None, error: Some(error(problem)) },
        }
    }
}

fn plain(text: String) -> Said {
    Said { en: text.clone(), ja: text }
}

pub fn explain(fields: &Fields) -> Answered {
    let device = card(fields.gpu.trim(), &Nowhere);
    let kind = weights_of_model(fields.kind.trim());
    let number = fields.tokens.trim().parse::<i64>();
    let count = number.map_err(|_| say::error!("web-tokens", most = decision_table::COLUMNS)).and_then(tokens);
    let typed = fields.version.trim();
    let newest = typed.is_empty() || typed.eq_ignore_ascii_case("newest");
    let wanted = if newest { "llama.cpp".to_owned() } else { typed.to_ascii_lowercase() };
    let known = release(&wanted);
    let understood = Understood {
        gpu: Field::of(&fields.gpu, &device, |device| {
            let means = [gpu::generation(&device.target), Some(&device.target)];
            let means: Vec<&str> = means.into_iter().flatten().collect();
            (device.title(), Some(plain(means.join(" · "))))
        }),
        kind: Field::of(&fields.kind, &kind, |(named, types)| {
            let means = match types.as_slice() {
                [] | [_] => message(&say::say!("web-one-type")),
                [main, others @ ..] => message(&say::say!("web-mix", main, others = others.join(", "))),
            };
            (named.clone(), Some(means))
        }),
        tokens: Field::of(&fields.tokens, &count, |count| {
            let means = if *count == 1 { say::say!("web-decode") } else { say::say!("web-prompt") };
            (count.to_string(), Some(message(&means)))
        }),
        version: Field::of(&fields.version, &known, |known| {
            (if newest { "newest".to_owned() } else { typed.to_owned() }, Some(plain(means(known))))
        }),
    };
    let answer = match (device, kind, count, known) {
        (Ok(device), Ok((named, types)), Ok(columns), Ok(known)) => {
            let question = Question { device, named, types, columns: Some(columns), known };
            Answer::new(&question, if newest { None } else { Some(typed) })
        }
        _ => None,
    };
    // Every field is understood, but no table has the target.
    let mut fields = understood;
    if answer.is_none()
        && [&fields.gpu, &fields.kind, &fields.tokens, &fields.version].iter().all(|it| it.error.is_none())
    {
        let target = gpu_target(&fields.gpu.value);
        fields.gpu.error = Some(message(&say::say!("web-no-table", target)));
    }
    Answered { fields, answer }
}

fn gpu_target(title: &str) -> String {
    card(title, &Nowhere).map_or_else(|_| title.to_owned(), |device| device.target)
}

/// The full name and date of the version that the user typed.
fn means(known: &Known) -> String {
    match known {
        Known::Exact(table) if table.date.is_empty() => format!("{} · {}", table.source, table.version),
        Known::Exact(table) => format!("{} {} · {}", table.source, table.version, table.date),
        Known::Between { what, .. } => what.clone(),
    }
}

impl Answer {
    fn new(question: &Question, version: Option<&str>) -> Option<Answer> {
        let answer = question.answer()?;
        let settled = question.settled();
        let (target, kind, at) = (question.device.target.as_str(), question.main_type(), question.at());
        let card = question.device.title();
        let tables = question.tables();
        let reason = settled.as_ref().map(|(_, found)| {
            let sentence = ReasonCode::of(found).sentence(found, &card, kind);
            message(&sentence)
        });
        let name = question.device.card.as_deref().unwrap_or(target);
        let count = at.to_string();
        let words = [name, &question.named, &count];
        let command = match version {
            Some(version) => {
                let version = version.to_ascii_lowercase().replace(' ', "@");
                CommandLine::new("whichkernel explain {} {} {} {}", [words[0], words[1], words[2], &version])
            }
            None => CommandLine::new("whichkernel explain {} {} {}", words),
        };
        Some(Answer {
            json: answer::json(&answer).ok()?,
            command: command.to_string(),
            reason,
            between: between(question),
            kernel: answer.path.and_then(|path| kernel(path, kind, answer.tile)),
            versions: decision_table::all()
                .iter()
                .map(|table| Version {
                    source: table.source.clone(),
                    version: table.version.clone(),
                    date: table.date.clone(),
                    commit: table.commit.clone(),
                    path: path(table, target, kind, at),
                })
                .collect(),
            gpus: gpus(&tables, kind, at),
            card,
        })
    }
}

fn path(table: &DecisionTable, target: &str, kind: &str, at: i64) -> Option<String> {
    table.look_up(target, kind, at).filter(|found| found.chosen().is_some()).map(|found| found.path.to_owned())
}

fn between(question: &Question) -> Option<Said> {
    let Known::Between { what, below, above } = &question.known else { return None };
    let name = |table: &Option<&'static DecisionTable>| table.map(|table| table.version.clone());
    let first = name(below).or_else(|| name(above)).unwrap_or_default();
    let (what, last) = (what.as_str(), name(above).unwrap_or_default());
    Some(message(&match (below, above) {
        (Some(_), Some(_)) if question.settled().is_none() => {
            say::say!("web-between-differ", what, below = first, above = last)
        }
        (Some(_), Some(_)) => say::say!("web-between", what, below = first, above = last),
        _ => say::say!("web-beyond", what, below = first),
    }))
}

/// One card per target, in the order of the generations.
fn gpus(tables: &[&'static DecisionTable], kind: &str, at: i64) -> Vec<OtherGpu> {
    let choices = choices();
    let cards = choices.cards.into_iter().filter(|card| card.reference && card.in_tables);
    cards
        .map(|card| {
            let mut paths = tables.iter().map(|table| path(table, &card.target, kind, at));
            let first = paths.next().flatten();
            let alike = paths.all(|other| other == first);
            OtherGpu {
                path: first.filter(|_| alike),
                generation: card.generation.unwrap_or_default().to_owned(),
                title: card.title,
                target: card.target,
            }
        })
        .collect()
}

/// The kernel of a path, as llama.cpp names it; None if the table does not contain it.
fn kernel(path: &str, kind: &str, tile: Option<i64>) -> Option<String> {
    let tile = tile.map_or_else(String::new, |tile| format!(", {tile}"));
    match path {
        "MMQ" => Some(format!("mul_mat_q<{kind}{tile}>")),
        "MMVQ" => Some(format!("mul_mat_vec_q<{kind}{tile}>")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(gpu: &str, kind: &str, tokens: &str, version: &str) -> Answered {
        let [gpu, kind, tokens, version] = [gpu, kind, tokens, version].map(str::to_owned);
        explain(&Fields { gpu, kind, tokens, version })
    }

    #[test]
    fn what_people_type_is_answered_with_the_reason_in_both_languages() {
        let found = asked("9070 XT", "q4_k_m", " 290 ", "newest").answer.expect("an answer");
        assert_eq!(found.command, "whichkernel explain rx-9070-xt Q4_K_M 290");
        assert_eq!(found.kernel.as_deref(), Some("mul_mat_q<Q4_K, 112>"));
        let reason = found.reason.expect("a reason");
        assert!(reason.en.contains("WMMA") && reason.ja.contains("行列演算器"), "{reason:?}");
        assert!(found.json.starts_with("{\n  \"schema\": \"whichkernel.explain/2\""));
        let old = asked("RX 7900 XTX", "Q4_K_M", "290", "Ollama 0.12.6").answer.expect("an answer");
        assert_eq!(old.command, "whichkernel explain rx-7900-xtx Q4_K_M 290 ollama@0.12.6");
        assert!(old.between.expect("a note").en.contains("b6752"));
    }

    #[test]
    fn a_field_that_is_not_understood_is_named_and_leaves_no_answer() {
        let bad = asked("9070 XTT", "Q4_K_M", "0", "b7148");
        assert!(bad.answer.is_none() && bad.fields.gpu.error.is_some() && bad.fields.tokens.error.is_some());
        assert!(bad.fields.kind.error.is_none() && bad.fields.version.error.is_none());
        let model = asked("4090", "llama3.1:8b", "1", "newest");
        assert!(model.fields.kind.error.expect("an error").en.contains("ollama show llama3.1:8b"));
        // The card is known, but no table has its target.
        assert!(asked("p100", "Q4_K", "1", "newest").fields.gpu.error.expect("an error").en.contains("sm_60"));
    }
}
