//! The choices as a table, for several cards side by side, for CSV and Markdown.

use super::Tried;
use crate::context::Context;
use crate::emit::Show;
use answer::Answer;
use report::{Column, Lang, Table};
use say::say;
use schemars::JsonSchema;
use serde::Serialize;
use vllm::{At, CaseAnswer, Changed, Outcome, Rules, RulesDiff};

/// The choices of vLLM's rules, with the effects of changed inputs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithChanges<'a> {
    #[serde(flatten)]
    pub rules: &'a Rules,
    /// With --what-if: every input that was changed.
    #[serde(rename = "what_if", skip_serializing_if = "<[_]>::is_empty")]
    pub tried: &'a [Tried],
}

impl Answer for WithChanges<'_> {
    const SCHEMA: &'static str = Rules::SCHEMA;
}

impl Show for WithChanges<'_> {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("gpu", lang.text("vllm-column-card")),
            Column::left("choice", lang.text("vllm-column-topic")),
            Column::left("chosen", lang.text("vllm-column-chosen")),
            Column::left("place", lang.text("vllm-column-place")),
        ]);
        for case in &self.rules.cases {
            for (topic, chosen, at) in rows(case, lang) {
                table.row([case.card.clone(), topic, chosen, at.map_or_else(String::new, place)]);
            }
        }
        for Tried { case, input, changes } in self.tried {
            let card = self.rules.cases.get(*case).map_or("", |case| &case.card);
            for change in changes {
                let chosen = change.after.clone().unwrap_or_default();
                table.row([card.to_owned(), format!("{input}: {}", change.topic), chosen, String::new()]);
            }
        }
        Some(table)
    }
}

pub fn place(at: &At) -> String {
    format!("{}:{}", at.file, at.line)
}

/// Topic, result and deciding line of every choice.
pub fn rows<'c>(case: &'c CaseAnswer, lang: &Lang) -> Vec<(String, String, Option<&'c At>)> {
    let mut out = Vec::new();
    for (topic, choices) in case.by_topic() {
        for choice in choices {
            let chosen = match (&choice.chosen, &choice.failed) {
                (Some(name), _) => lang.say(&say!("vllm-layers", name, count = choice.count)),
                (None, Some(error)) => error.clone(),
                (None, None) => lang.text("vllm-not-known"),
            };
            let at = choice.lines.last().map(|line| &line.at).or_else(|| choice.rejected.last().map(|one| &one.at));
            out.push((lang.text(&format!("vllm-{topic}")), chosen, at));
        }
    }
    for gemm in &case.gemms {
        let tokens = lang.say(&say!("vllm-tokens", tokens = gemm.tokens));
        let topic = format!("{} ({} x {}), {tokens}", gemm.layer, gemm.m, gemm.k);
        let chosen = match (&gemm.chosen, &gemm.unknown) {
            (Some(chosen), _) => chosen.clone(),
            (None, why) => lang.noted(&lang.text("vllm-not-known"), why.as_deref().unwrap_or("?")),
        };
        out.push((topic, chosen, gemm.at.as_ref()));
    }
    if let Some(cache) = &case.cache {
        let text = match (cache.block_size, &cache.unknown) {
            (Some(size), _) => lang.say(&say!("vllm-cache-text", dtype = cache.dtype, size)),
            (None, why) => lang.noted(&lang.text("vllm-not-known"), why.as_deref().unwrap_or("?")),
        };
        out.push((lang.text("vllm-kv-cache"), text, None));
    }
    if let Some(failure) = &case.failure {
        let key = if case.outcome == Outcome::Refused { "vllm-refused-short" } else { "vllm-not-known" };
        out.push((lang.text(key), failure.message.clone(), failure.at.as_ref()));
    }
    out
}

impl Show for RulesDiff {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("gpu", lang.text("vllm-column-card")),
            Column::left("choice", lang.text("vllm-column-topic")),
            Column::left("before", self.before.clone()),
            Column::left("after", self.after.clone()),
        ]);
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".to_owned());
        for Changed { card, topic, before, after } in &self.changes {
            table.row([card.clone(), topic.clone(), side(before), side(after)]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        if self.changes.is_empty() {
            out += &lang.say(&say!("vllm-diff-none", cases = self.cases));
        } else {
            out += &self.table(lang).map(|table| table.text(context.width)).unwrap_or_default();
            let (changes, cases) = (self.changes.len(), self.cases);
            out += &format!("\n{}", lang.say(&say!("vllm-diff-summary", changes, cases)));
        }
        if self.unknown > 0 {
            out += &format!("\n{}", lang.say(&say!("vllm-diff-unknown", unknown = self.unknown)));
        }
        out + "\n"
    }
}
