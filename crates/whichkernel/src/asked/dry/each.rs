//! `dryrun --each` and `diff CARD CARD -- PROGRAM`: one run per card, and the cards side by side.

use super::program::Program;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Plain;
use dryrun::{KernelOnCards, LaunchesOnCard, OnCard, Plan, RunRoot, SideBySide, Streams, Verdict, select};
use evidence::Word;
use report::{Column, Lang, Table, conclusion_text};
use say::{ensure, error};
use std::fmt::Write;
use std::process::ExitCode;
use sys::interrupt;

/// Exit code 1 if the cards differ or a program failed.
pub fn run(program: &Program<'_>, context: &Context) -> say::Result<ExitCode> {
    let place = program.place()?;
    ensure!(program.ask.gpu.len() > 1, "dryrun-each-one");
    interrupt::catch();
    let runs = dryrun::parallel(&program.ask.gpu, |card| on_card(program, card, &place));
    let mut done = Vec::new();
    for run in runs {
        done.push(run.ok_or_else(|| error!("dryrun-each-stopped"))??);
    }
    let found = SideBySide::new(&done);
    let plain = |plain| match plain {
        Plain::Csv => table(&found, found.kernels.iter(), &context.lang).csv(),
        Plain::Md => text(&found, context, Table::markdown),
        Plain::Text => text(&found, context, |table| table.text(context.width)),
    };
    context.emit_as(program.ask.format, || &found, |format| Ok(plain(format)))?;
    Ok(match found.conclusion.word() {
        Word::NotKnown => ExitCode::from(COULD_NOT_RUN),
        _ if found.is_same() && found.cards.iter().all(|card| card.finished) => ExitCode::SUCCESS,
        _ => ExitCode::from(CHECK_FAILED),
    })
}

/// The program's output is not shown: several runs would mix theirs.
fn on_card(program: &Program<'_>, card: &str, place: &RunRoot) -> say::Result<OnCard> {
    let plans = program.plans(&[card.to_owned()], place)?;
    let outcome = program.perform(place, &plans, Streams::Captured)?;
    let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
    let selected = select(&outcome, &profiles);
    let played: Vec<_> = plans.iter().map(Plan::played).collect();
    let verdict = Verdict::of_run(&outcome, &selected, &played);
    let target = profiles.first().map_or_else(String::new, |profile| profile.processor().to_owned());
    Ok(OnCard { card: card.to_owned(), target, outcome, selected, verdict })
}

fn text(found: &SideBySide, context: &Context, show: impl Fn(&Table) -> String) -> String {
    let lang = &context.lang;
    let differing: Vec<&KernelOnCards> = found.kernels.iter().filter(|kernel| !kernel.same).collect();
    let says = [("differ", differing.len().into()), ("all", found.kernels.len().into())];
    let key = match (found.kernels.len(), differing.len(), found.conclusion.word()) {
        (0, ..) => "dryrun-each-nothing",
        (_, 0, Word::Yes) => "dryrun-each-same",
        (_, 0, _) => "dryrun-each-none-found",
        _ => "dryrun-each-differ",
    };
    let mut out = format!("{}\n", lang.text_with(key, &says));
    for card in &found.cards {
        let says = [
            ("card", card.card.as_str().into()),
            ("target", card.target.as_str().into()),
            ("count", card.launches.into()),
            ("reach", conclusion_text(lang, &card.reach).into()),
        ];
        let key = if card.finished { "dryrun-each-card" } else { "dryrun-each-failed" };
        let _ = writeln!(out, "  {}", lang.text_with(key, &says));
    }
    if !differing.is_empty() {
        let _ = write!(out, "\n{}", show(&table(found, differing.into_iter(), lang)));
    }
    let _ = write!(out, "\n{}\n", conclusion_text(lang, &found.conclusion));
    out
}

fn table<'k>(found: &SideBySide, kernels: impl Iterator<Item = &'k KernelOnCards>, lang: &Lang) -> Table {
    let mut columns = vec![Column::left("kernel", lang.text("dryrun-kernel"))];
    columns.extend(found.cards.iter().map(|card| Column::left("card", card.card.clone())));
    let mut table = Table::new(columns);
    for kernel in kernels {
        let cells = kernel.cards.iter().map(|launches| match launches.as_slice() {
            [] => "-".to_owned(),
            some => some.iter().map(cell).collect::<Vec<_>>().join("; "),
        });
        table.row(std::iter::once(kernel.kernel.clone()).chain(cells));
    }
    table
}

/// `2x 64x1x1 of 128x1x1`: two launches, their grid and block. A BLAS call has its products instead.
fn cell(launches: &LaunchesOnCard) -> String {
    let LaunchesOnCard { count, grids, block: [x, y, z], products, .. } = launches;
    if !products.is_empty() {
        return format!("{count}x {}", products.join(" "));
    }
    let grids: Vec<String> = grids.iter().map(|[x, y, z]| format!("{x}x{y}x{z}")).collect();
    format!("{count}x {} of {x}x{y}x{z}", grids.join(" "))
}
