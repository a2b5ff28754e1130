//! With a command: runs it, then prints the selections.

use super::args::{Args, place};
use super::{record, rows, text, trace};
use crate::asked::dry::{Lane, card};
use crate::asked::gemm::{Explained, Recorded};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Plain;
use dryrun::answers::{Parts, ProgramRun};
use dryrun::{
    Described, Events, Finish, GRAPHS, Outcome, PRODUCTS, Plan, Request, RunRoot, Selected, Streams, Verdict, select,
};
use evidence::Reach;
use say::{Context as _, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};
use sys::interrupt;
use sys::unix::MetadataExt;

/// One run, with everything that its answer needs.
pub struct Ran<'a> {
    pub place: &'a RunRoot,
    /// One per device of the simulated machine, in order.
    pub plans: &'a [Plan],
    pub outcome: &'a Outcome,
    pub selected: &'a [Selected],
    pub verdict: Verdict,
    pub events: Events,
    pub reaches: Vec<Reach>,
}

impl Ran<'_> {
    /// The BLAS calls, followed into the catalogs of the runtime.
    pub fn explained(&self) -> Vec<Explained> {
        let of = |(number, plan): (u32, &Plan)| {
            let recorded = Recorded::of(self.selected.iter().filter(|row| row.device == number));
            Explained::all(self.place, &plan.card.profile, &recorded)
        };
        // NVIDIA's BLAS has no catalog to follow a call into.
        (0..).zip(self.plans).filter(|(_, plan)| !plan.card.profile.is_nvidia()).flat_map(of).collect()
    }

    /// The device of a row, and how completely its rows were seen.
    pub fn device(&self, row: &Selected) -> Option<(&Plan, Reach)> {
        let number = row.device as usize;
        Some((self.plans.get(number)?, *self.reaches.get(number)?))
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let place = place(args)?;
    let plans = plans(args, &place)?;
    let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
    let outcome = perform(args, &place, &plans, Streams::Shown)?;
    let selected = select(&outcome, &profiles);
    if let Some(file) = &args.trace {
        trace::write(file, &outcome)?;
    }
    if let Some(file) = &args.write_graph {
        files::replace(file, Access::Public, &outcome.graphs).about(file.display())?;
    }
    if args.record {
        record::run(context, &place, &plans, (&outcome, &selected), &args.command)?;
    }
    let played: Vec<_> = plans.iter().map(Plan::played).collect();
    let reach = |(number, device)| Verdict::reach_on(&outcome, &selected, number, device);
    let ran = Ran {
        place: &place,
        plans: &plans,
        outcome: &outcome,
        selected: &selected,
        verdict: Verdict::of_run(&outcome, &selected, &played),
        events: Events::of(&outcome),
        reaches: (0..).zip(&played).map(reach).collect(),
    };
    if args.bench_lines {
        context.print(&rows::bench(selected.iter()))?;
    } else {
        let plain = |plain| match plain {
            Plain::Csv => csv(&ran),
            Plain::Text | Plain::Md => text::text(&ran, args.ask.format, context),
        };
        context.emit_as(args.ask.format, || answer(&ran), |format| Ok(plain(format)))?;
    }
    // Reported after the program's result, because its own failure is the likely reason.
    if args.write_graph.is_some() && outcome.graphs.is_empty() {
        bail!("dryrun-no-graph");
    }
    Ok(match outcome.finish() {
        Finish::Whole if !selected.is_empty() && outcome.lost() == 0 => ExitCode::SUCCESS,
        _ if outcome.interrupted.is_some() => ExitCode::from(COULD_NOT_RUN),
        // The program's own failure is a result about the program; everything until then was printed.
        _ => ExitCode::from(CHECK_FAILED),
    })
}

/// Runs the program on one machine with these devices.
pub fn perform(args: &Args, place: &RunRoot, plans: &[Plan], streams: Streams) -> say::Result<Outcome> {
    let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
    let devices: Vec<_> = plans.iter().map(|plan| (&plan.described, plan.strict)).collect();
    let described = Described::of_devices(&devices)?;
    let show = shown(args, place);
    let wanted = [Some(PRODUCTS), args.write_graph.is_some().then_some(GRAPHS)];
    let variables: Vec<_> = wanted.into_iter().flatten().map(|name| (name.to_owned(), "1".to_owned())).collect();
    let request = Request {
        place,
        profiles: &profiles,
        described: &described,
        strict: plans.iter().all(|plan| plan.strict),
        command: &args.command,
        show: &show,
        blas: args.ask.blas.into(),
        streams,
        preload: false,
        sparse_read: args.command.iter().any(|word| is_skeleton(Path::new(word))),
        variables: &variables,
    };
    // From here on, a signal ends the program, but not its report.
    interrupt::catch();
    Ok(request.run()?)
}

/// Several cards form one machine with several GPUs, each with the kernels of its own target.
pub fn plans(args: &Args, place: &RunRoot) -> say::Result<Vec<Plan>> {
    let program = args.command.first().map(Path::new);
    let blas = args.ask.blas != Lane::Recorded;
    let mut plans = Vec::new();
    for given in &args.ask.gpu {
        let card = card::find(given, &args.ask.set)?;
        plans.push(Plan::new(place, card, args.ask.strict, blas, program)?);
    }
    ensure!(!plans.is_empty(), "command-gpu-card");
    Ok(plans)
}

/// A large, nearly empty sparse file: there are no weights to read.
pub fn is_skeleton(path: &Path) -> bool {
    const LARGE: u64 = 64 << 20;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.len() > LARGE && file.blocks() * 512 < file.len() / 16)
}

/// Arguments that are files or directories here must be visible at the same path inside the tree.
pub fn shown(args: &Args, place: &RunRoot) -> Vec<PathBuf> {
    let RunRoot::Tree { .. } = place else { return Vec::new() };
    let mut list = Vec::new();
    for word in args.command.iter().skip(1) {
        // A number or a flag may be a file name by chance; a word with a slash or a dot is meant as a file.
        let named = word.to_string_lossy().contains(['/', '.']);
        let Ok(path) = std::path::absolute(word) else { continue };
        // Devices such as /dev/null exist inside the tree too.
        if named && (path.is_file() || path.is_dir()) && !list.iter().any(|known: &PathBuf| path.starts_with(known)) {
            list.push(path.to_owned());
        }
    }
    list
}

fn csv(ran: &Ran<'_>) -> String {
    let mut table = rows::table();
    for row in ran.selected.iter().filter(|row| row.is_multiplication()) {
        let Some((plan, reach)) = ran.device(row) else { continue };
        rows::add(&mut table, plan, reach, ("", row.width), row);
    }
    table.csv()
}

fn answer<'r>(ran: &'r Ran<'_>) -> ProgramRun<'r> {
    let parts = Parts {
        runtime: ran.place.name(),
        plans: ran.plans,
        reaches: &ran.reaches,
        verdict: &ran.verdict,
        ending: ran.outcome.ending,
        interrupted: ran.outcome.interrupted,
        selected: ran.selected,
        events: &ran.events,
        unjudged: &ran.outcome.unjudged,
        withheld: &ran.outcome.withheld,
        visible: ran.outcome.visible.as_ref().map(|visible| visible.numbers.as_slice()),
    };
    let mut out = ProgramRun::from(parts);
    out.blas = ran.explained().iter().map(Explained::answer).collect();
    out
}
