//! With a command: runs it, then prints the selections.

use super::args::Args;
use super::{record, rows, text, trace};
use crate::asked::gemm::{Explained, Recorded};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Plain;
use dryrun::answers::{Parts, ProgramRun};
use dryrun::{Events, Finish, Outcome, Plan, RunRoot, Selected, Streams, Verdict, select};
use evidence::Reach;
use say::{Context as _, bail};
use std::process::ExitCode;
use sys::files::{self, Access};

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
    let program = args.program();
    let place = program.place()?;
    let plans = program.plans(&args.ask.gpu, &place)?;
    let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
    let outcome = program.perform(&place, &plans, Streams::Shown)?;
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
