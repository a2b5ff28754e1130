//! `--has`: is there any of it?

use super::{digits, text};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use anyhow::Context as _;
use observe::census::{Groups, Question};
use serde_json::json;
use std::process::ExitCode;

/// 0 all of it is there, 1 something is not, 2 nobody can say.
pub fn run(asked: &[String], groups: &Groups, format: Format, context: &Context) -> anyhow::Result<ExitCode> {
    let mut code = 0;
    let mut lines = String::new();
    let mut answers = Vec::new();
    for what in asked {
        let question = Question::parse(what).with_context(|| {
            let families = isa::Family::ALL.iter().map(|family| family.key());
            let families: Vec<&str> = std::iter::once("matrix").chain(families).collect();
            format!("no instruction starts with {what}, and it is no family ({})", families.join(", "))
        })?;
        let answer = question.answer(groups);
        let (key, this) = match (answer.count, answer.certain) {
            (1.., _) => ("isa-has", 0),
            (0, true) => ("isa-has-not", CHECK_FAILED),
            (0, false) => ("isa-has-unknown", COULD_NOT_RUN),
        };
        code = code.max(this);
        let words = [("what", what.clone().into()), ("count", digits(answer.count).into())];
        lines += &format!("{}\n", context.lang.text_with(key, &words));
        let beside = question.beside(groups);
        if answer.count == 0 && !beside.is_empty() {
            let list: Vec<String> =
                beside.iter().map(|(family, count)| format!("{family} {}", digits(*count))).collect();
            lines += &format!("{}\n", context.lang.text_with("isa-has-beside", &[("list", list.join(", ").into())]));
        }
        let beside: serde_json::Map<String, serde_json::Value> =
            beside.into_iter().map(|(family, count)| (family.key().to_owned(), count.into())).collect();
        answers.push(json!({ "what": what, "count": answer.count, "certain": answer.certain, "related": beside }));
    }
    match format {
        Format::Json => {
            let value = json!({
                "schema": "whichkernel.isa-has/1",
                "answers": answers,
                "complete": groups.is_complete(),
                "undecoded": groups.undecoded.len(),
                "cut": groups.cut.len(),
            });
            context.print(&format!("{value:#}\n"))?;
        }
        _ => context.print(&(lines + &text::account(groups, context)))?,
    }
    Ok(ExitCode::from(code))
}
