//! `--backend vulkan`: a program on RADV and Mesa's stand-in, and which pipelines it dispatched.

mod grid;
mod show;

use super::Args;
use crate::asked::dry::program::{is_skeleton, shown};
use crate::asked::dry::vulkan::{cards, heed, place};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use dryrun::{
    RunRoot, Streams, VulkanCard, VulkanRecord, VulkanRequest, VulkanSelection, vulkan_library, vulkan_steps,
};
use say::{Context as _, bail, ensure, error};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use sys::files::{self, Access};
use sys::interrupt;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    heed(&args.ask, &[("--bench-lines", args.bench_lines)])?;
    if args.command.is_empty() {
        return grid::run(args, context);
    }
    ensure!(args.ask.model.is_none(), "dryrun-vulkan-model");
    let cards = cards(&args.ask)?;
    let [given] = cards.as_slice() else { bail!("dryrun-vulkan-one") };
    let card = VulkanCard::find(given)?;
    let place = place(&args.ask)?;
    let show = shown(&args.command, &place);
    let request = VulkanRequest {
        place: &place,
        card,
        command: &args.command,
        show: &show,
        streams: Streams::Shown,
        sparse_read: args.command.iter().any(|word| is_skeleton(Path::new(word))),
        code: true,
    };
    ensure!(args.write_graph.is_none(), "command-write-graph-hip");
    interrupt::catch();
    let outcome = request.run()?;
    let answer = VulkanSelection::of(&outcome, card, place.name());
    if let Some(path) = &args.trace {
        let file = files::create(path, Access::Private).about(path.display())?;
        let mut out = BufWriter::new(file);
        for step in vulkan_steps(&outcome) {
            writeln!(out, "{}", serde_json::to_string(&step)?).about(path.display())?;
        }
        out.flush().about(path.display())?;
    }
    if args.record {
        let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
        let (model, time) = (ledger::redact::line(&words), observe::now());
        let record = record(&place, card, answer.driver.as_deref(), (&model, &time))?;
        context.record(record.run(&answer)?, "dryrun-recorded")?;
    }
    context.emit(args.ask.format, &answer)?;
    Ok(match outcome.interrupted {
        Some(_) => ExitCode::from(COULD_NOT_RUN),
        None if answer.is_whole() => ExitCode::SUCCESS,
        // A failed program, or one that never reached the card, is a result about the program.
        None => ExitCode::from(CHECK_FAILED),
    })
}

/// The context of the observations, for the ledger.
fn record<'a>(
    place: &'a RunRoot,
    card: VulkanCard,
    driver: Option<&'a str>,
    (model, time): (&'a str, &'a str),
) -> say::Result<VulkanRecord<'a>> {
    let none = || error!("command-no-vulkan-library", place = place.name());
    let library = vulkan_library(place).ok_or_else(none)?;
    Ok(VulkanRecord { place, card, driver: driver.unwrap_or_default(), model, time, library })
}
