//! `source TREE` on a rocBLAS tree: which GPUs it knows, how it distinguishes them, where it looks for kernels.

use crate::asked::record_declared;
use crate::context::Context;
use crate::emit::Plain;
use callchain::rocblas::{Rocblas, wanted};
use evidence::Word;
use report::{Column, Table, conclusion_text};
use source::Tree;
use std::process::ExitCode;

pub fn run(tree: &Tree, found: &Rocblas, args: &super::Args, context: &Context) -> say::Result<ExitCode> {
    let targets = args.gpu.as_slice();
    let files = tree.paths().filter(|path| wanted(path)).count();
    if args.record {
        record_declared::rocblas(tree, found, files, context)?;
    }
    let plain = |plain| match plain {
        Plain::Csv => targets_table(found, targets, context).csv(),
        Plain::Md => targets_table(found, targets, context).markdown(),
        Plain::Text => text(&tree.label, found, targets, files, context),
    };
    let whole = || found.answer(&tree.label, tree.commit.as_deref(), targets, files);
    context.emit_as(args.format, whole, |format| Ok(plain(format)))?;
    Ok(ExitCode::SUCCESS)
}

fn targets_table(found: &Rocblas, targets: &[String], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("target", title("rocblas-column-target")),
        Column::right("processor", title("rocblas-column-processor")),
        Column::left("enumerator", title("rocblas-column-enumerator")),
        Column::left("branch", title("rocblas-column-branch")),
    ]);
    for processor in found.processors.iter().filter(|p| targets.is_empty() || targets.contains(&p.target)) {
        let branch = found.branches.iter().find(|branch| branch.returns == processor.target);
        let branch = branch.map_or_else(
            || title("rocblas-no-branch"),
            |branch| format!("{}:{}-{}", branch.file, branch.first_line, branch.last_line),
        );
        let enumerator = format!("{}:{}", processor.at.file, processor.at.line);
        table.row([processor.target.clone(), processor.value.to_string(), enumerator, branch]);
    }
    for target in targets.iter().filter(|target| !found.processors.iter().any(|p| p.target == **target)) {
        table.row([target.clone(), "-".into(), title("rocblas-no-enumerator"), title("rocblas-no-branch")]);
    }
    table
}

fn text(tree: &str, found: &Rocblas, targets: &[String], files: usize, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n", lang.text("rocblas-title"));
    out.push_str(&targets_table(found, targets, context).text(context.width));
    let orphans = found.without_branch();
    if !orphans.is_empty() {
        out.push_str(&format!("\n{}\n", lang.text_with("rocblas-orphans", &[("targets", lang.list(&orphans).into())])));
    }
    out.push_str(&format!("\n{}\n", lang.text("rocblas-initialize")));
    for (place, does) in &found.initialize {
        let key = if *does { "rocblas-initialize-defined" } else { "rocblas-initialize-empty" };
        out.push_str(&format!("  {}:{}  {}\n", place.file, place.line, lang.text(key)));
    }
    let called = found.initialize_called(tree, files);
    match called.word() {
        Word::Yes => {}
        Word::No => out.push_str(&format!("  {}\n", lang.text("rocblas-initialize-no-caller"))),
        Word::Partly | Word::NotKnown => {
            let args = [("what", conclusion_text(lang, &called).into())];
            out.push_str(&format!("  {}\n", lang.text_with("rocblas-initialize-called", &args)));
        }
    }
    for (caller, place) in &found.initialize_callers {
        out.push_str(&format!("  {}:{}  {caller}\n", place.file, place.line));
    }
    out.push_str(&format!("\n{}\n", lang.text("rocblas-paths")));
    for rule in &found.paths {
        out.push_str(&format!("  {}:{}  {}\n", rule.at.file, rule.at.line, rule.text));
    }
    out.push_str(&format!("\n{}\n", lang.text("rocblas-cannot-show")));
    out
}
