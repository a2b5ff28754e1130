//! One card on the terminal, with lines and reasons; several cards side by side.

use super::{Tried, table};
use crate::context::Context;
use crate::labelled::{Entry, labelled};
use report::{Column, Lang, Table};
use say::say;
use std::collections::BTreeMap;
use vllm::{CaseAnswer, Choice, Outcome, Question, Rules};

pub fn text(question: &Question, rules: &Rules, tried: Option<&Vec<Tried>>, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = match rules.cases.as_slice() {
        [case] => {
            let title = question.cases.first().map_or(case.card.as_str(), |asked| &asked.card.title);
            one(case, title, rules, context)
        }
        cases => side_by_side(cases, rules, context),
    };
    if let Some(tried) = tried {
        out += &format!("\n{}\n{}", lang.text("vllm-what-if"), what_if(tried, rules, lang));
    }
    out + &format!("\n{}\n", lang.text("vllm-limits"))
}

fn version(case: &CaseAnswer) -> &str {
    case.version.as_deref().unwrap_or("?")
}

fn one(case: &CaseAnswer, title: &str, rules: &Rules, context: &Context) -> String {
    let lang = &context.lang;
    let head = say!("vllm-asked", model = rules.model, gpu = title, target = case.target, version = version(case));
    let mut rows: Vec<(&str, Entry)> = vec![("vllm-inputs", inputs(case, lang).into())];
    if let Some(model) = &case.model {
        let quantization = model.quantization.as_deref().map_or_else(String::new, |name| format!(", {name}"));
        rows.push(("vllm-model", format!("{}, {}{quantization}", model.architecture, model.dtype).into()));
    }
    for (topic, choices) in case.by_topic() {
        let key = match topic {
            "attention" => "vllm-attention",
            "mla-prefill" => "vllm-mla-prefill",
            "moe" => "vllm-moe",
            _ => "vllm-linear",
        };
        for choice in choices {
            rows.extend(of_choice(key, choice, lang));
        }
    }
    rows.extend(products(case, lang));
    let is_cache = lang.text("vllm-kv-cache");
    for (topic, text, _) in table::rows(case, lang) {
        if topic == is_cache {
            rows.push(("vllm-kv-cache", text.into()));
        }
    }
    let mut out = format!("{}\n\n{}", lang.say(&head), labelled(&rows, context));
    if let Some(failure) = &case.failure {
        let at = failure.at.as_ref().map_or_else(String::new, table::place);
        let why = if at.is_empty() { failure.message.clone() } else { lang.noted(&failure.message, &at) };
        let message = match case.outcome {
            Outcome::Refused => say!("vllm-refused", why),
            _ => say!("vllm-unknown", why),
        };
        let lines = report::wrap(&lang.say(&message), context.width.unwrap_or(usize::MAX));
        out += &format!("\n{}\n", lines.join("\n"));
    }
    out
}

fn inputs(case: &CaseAnswer, lang: &Lang) -> String {
    let mut parts: Vec<String> = case.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if !case.with.is_empty() {
        parts.push(lang.say(&say!("vllm-installed", names = case.with)));
    }
    if parts.is_empty() { lang.text("vllm-inputs-none") } else { parts.join("; ") }
}

/// The result, the reasons against other candidates, the deciding lines, and the variables that were read.
fn of_choice(key: &'static str, choice: &Choice, lang: &Lang) -> Vec<(&'static str, Entry)> {
    let chosen = match &choice.chosen {
        Some(name) => lang.say(&say!("vllm-layers", name, count = choice.count)),
        None => choice.failed.clone().unwrap_or_else(|| lang.text("vllm-not-known")),
    };
    let mut rows: Vec<(&'static str, Entry)> = vec![(key, chosen.into())];
    for one in &choice.rejected {
        let reason = lang.noted(&one.reason, &table::place(&one.at));
        rows.push(("", lang.say(&say!("vllm-rejected", name = one.name, reason)).into()));
    }
    for line in &choice.lines {
        let place = format!("{}  {}", table::place(&line.at), line.at.text);
        rows.push(("", lang.say(&say!("vllm-decided", place)).into()));
    }
    let mut names: Vec<String> = Vec::new();
    for asked in &choice.asked {
        let text = match (asked.kind.as_str(), asked.value.as_str()) {
            ("environment", value) => format!("{}={value}", asked.name),
            // The rule asks whether the variable is set at all, and it is not.
            ("set", "false") => format!("{}=", asked.name),
            _ => continue,
        };
        if !names.contains(&text) {
            names.push(text);
        }
    }
    if !names.is_empty() {
        rows.push(("", lang.say(&say!("vllm-depends", list = names)).into()));
    }
    rows
}

/// Products with the same choices at all token counts share a line.
fn products(case: &CaseAnswer, lang: &Lang) -> Vec<(&'static str, Entry)> {
    let mut rows: Vec<(&'static str, Entry)> = Vec::new();
    for gemm in &case.gemms {
        let kernel = match (&gemm.chosen, &gemm.unknown) {
            (Some(chosen), _) => chosen.clone(),
            (None, why) => lang.noted(&lang.text("vllm-not-known"), why.as_deref().unwrap_or("?")),
        };
        let kernel = match &gemm.at {
            Some(at) => lang.noted(&kernel, &table::place(at)),
            None => kernel,
        };
        let tokens = lang.say(&say!("vllm-tokens", tokens = gemm.tokens));
        let line = say!("vllm-product-line", layer = gemm.layer, m = gemm.m, k = gemm.k, tokens, kernel);
        rows.push((if rows.is_empty() { "vllm-products" } else { "" }, lang.say(&line).into()));
    }
    rows
}

/// One column per case, one row per choice.
fn side_by_side(cases: &[CaseAnswer], rules: &Rules, context: &Context) -> String {
    let lang = &context.lang;
    let mut order: Vec<String> = Vec::new();
    let mut cells: Vec<BTreeMap<String, String>> = Vec::new();
    for case in cases {
        let mut of: BTreeMap<String, String> = BTreeMap::new();
        for (topic, chosen, _) in table::rows(case, lang) {
            if !order.contains(&topic) {
                order.push(topic.clone());
            }
            of.entry(topic).and_modify(|text| *text += &format!("; {chosen}")).or_insert(chosen);
        }
        cells.push(of);
    }
    let mut columns = vec![Column::left("choice", lang.text("vllm-column-topic"))];
    columns.extend(cases.iter().map(|case| Column::left("case", case.card.clone())));
    let mut table = Table::new(columns);
    for topic in &order {
        let of = |of: &BTreeMap<String, String>| of.get(topic).cloned().unwrap_or_else(|| "-".to_owned());
        let row: Vec<String> = std::iter::once(topic.clone()).chain(cells.iter().map(of)).collect();
        table.row(row);
    }
    let version = cases.iter().map(version).find(|version| *version != "?").unwrap_or("?");
    let inputs = cases.first().map(|case| inputs(case, lang)).unwrap_or_default();
    format!("{}, vLLM {version}\n{inputs}\n\n{}", rules.model, table.text(context.width))
}

fn what_if(tried: &[Tried], rules: &Rules, lang: &Lang) -> String {
    let mut out = String::new();
    for Tried { case, input, changes } in tried {
        let card = rules.cases.get(*case).filter(|_| rules.cases.len() > 1).map_or("", |case| &case.card);
        let input = if card.is_empty() { input.clone() } else { format!("{card}, {input}") };
        for change in changes {
            let message = match &change.after {
                Some(after) => say!("vllm-change", input, topic = change.topic, after),
                None => say!("vllm-change-gone", input, topic = change.topic),
            };
            out += &format!("  {}\n", lang.say(&message));
        }
    }
    if out.is_empty() {
        out = format!("  {}\n", lang.say(&say!("vllm-what-if-none", count = tried.len())));
    }
    out
}
