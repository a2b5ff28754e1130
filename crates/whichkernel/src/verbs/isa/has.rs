//! `--has`: does the file contain these instructions?

use super::text;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use evidence::Word;
use observe::answers::{Has, HasAnswer};
use observe::census::{Groups, Question};
use report::thousands;
use say::{Context as _, say};
use std::process::ExitCode;

/// Exit code 0 if all are there, 1 if something is missing, 2 if unknown.
pub fn run(asked: &[String], groups: &Groups, format: Format, context: &Context) -> say::Result<ExitCode> {
    let mut code = 0;
    let mut lines = String::new();
    let mut answers = Vec::new();
    for what in asked {
        let question = Question::parse(what).with_context(|| {
            let families = isa::Family::ALL.iter().map(|family| family.key());
            let families: Vec<&str> = std::iter::once("matrix").chain(families).collect();
            say!("isa-has-nothing", what, families)
        })?;
        let answer = HasAnswer::new(what, &question, groups);
        let (key, this) = match answer.conclusion.word() {
            Word::Yes => ("isa-has", 0),
            Word::No => ("isa-has-not", CHECK_FAILED),
            Word::Partly | Word::NotKnown => ("isa-has-unknown", COULD_NOT_RUN),
        };
        code = code.max(this);
        let words = [("what", what.clone().into()), ("count", thousands(answer.count).into())];
        lines += &format!("{}\n", context.lang.text_with(key, &words));
        if answer.count == 0 && !answer.related.is_empty() {
            let beside = answer.related.iter();
            let list: Vec<String> = beside.map(|(family, count)| format!("{family} {}", thousands(*count))).collect();
            lines += &format!(
                "{}\n",
                context.lang.text_with("isa-has-beside", &[("list", context.lang.list(&list).into())])
            );
        }
        answers.push(answer);
    }
    context.emit_as(format, || Has::new(answers, groups), |_| Ok(lines + &text::account(groups, context)))?;
    Ok(ExitCode::from(code))
}
