//! Compares two runtimes, or two GPUs: which selections differ, without any GPU.

use crate::asked::dry::{Ask, DEFAULT_RUNTIME, survey};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::emit::Plain;
use dryrun::{CellDifference, Map, RunRoot, RuntimeDiff};
use evidence::Word;
use report::{Column, Table, conclusion_text};
use std::path::PathBuf;
use std::process::ExitCode;

/// Whether the name is a runtime in the cache, or a directory that contains one.
pub fn is_runtime(name: &str) -> bool {
    let ggml = |(path, _): &(PathBuf, String)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains("ggml") || name.contains("llama")
    };
    // Without ggml there is nothing to run: the kernels themselves can be compared.
    RunRoot::find(name).is_ok_and(|place| place.libraries(false, None).is_ok_and(|all| all.iter().any(ggml)))
}

pub fn is_card(name: &str) -> bool {
    gpu::find(name).is_ok() || gpu::nvidia_profile(name).is_some()
}

/// The same cards and types in two runtimes.
pub fn runtimes(a: &str, b: &str, args: &Ask, context: &Context) -> say::Result<ExitCode> {
    let (first, second) = (RunRoot::find(a)?, RunRoot::find(b)?);
    let (left, right) = (survey(args, &first, context)?, survey(args, &second, context)?);
    report(&left, &right, (a, b), args.format, context)
}

/// Compares two cards in one runtime.
pub fn cards(a: &str, b: &str, args: &Ask, context: &Context) -> say::Result<ExitCode> {
    let place = RunRoot::find(args.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME))?;
    let of = |card: &str| survey(&Ask { gpu: vec![card.to_owned()], ..args.clone() }, &place, context);
    report(&of(a)?, &of(b)?, (a, b), args.format, context)
}

fn report(a: &[Map], b: &[Map], names: (&str, &str), format: Format, context: &Context) -> say::Result<ExitCode> {
    let found = RuntimeDiff::new(names, a, b);
    let lang = &context.lang;
    let mut table = Table::new(vec![
        Column::left("card", lang.text("dryrun-card")),
        Column::left("type", lang.text("dryrun-type")),
        Column::right("columns", lang.text("map-columns")),
        Column::left("what", lang.text("diff-runtime-what")),
        Column::left("a", names.0),
        Column::left("b", names.1),
    ]);
    for difference in &found.differences {
        let CellDifference { card, kind, columns, what, a, b } = difference;
        let what = what.name().to_owned();
        table.row([card.clone(), kind.clone(), columns.to_string(), what, a.in_words(lang), b.in_words(lang)]);
    }
    let said = conclusion_text(lang, &found.conclusion);
    let empty = found.differences.is_empty();
    let plain = |plain| match plain {
        Plain::Csv => table.csv(),
        Plain::Md if empty => format!("### whichkernel: `{}` → `{}`\n\n{said}\n", names.0, names.1),
        Plain::Md => format!("### whichkernel: `{}` → `{}`\n\n{said}\n\n{}", names.0, names.1, table.markdown()),
        Plain::Text if empty => format!("{said}\n"),
        Plain::Text => format!("{}\n{said}\n", table.text(context.width)),
    };
    context.emit_as(format, || &found, |format| Ok(plain(format)))?;
    Ok(match found.conclusion.word() {
        Word::NotKnown => ExitCode::from(COULD_NOT_RUN),
        _ if found.is_same() => ExitCode::SUCCESS,
        _ => ExitCode::from(CHECK_FAILED),
    })
}
