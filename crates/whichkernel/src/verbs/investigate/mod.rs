//! The main verb: runs every observer, records, grades, and shows the result on one screen.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use crate::graded::{csv, markdown, screen};
use crate::pages::Beside;
use evidence::{Investigation, Question, Recorded, View};
use investigate::{Graded, Investigated, Looked, Places, Readings, Unchanged, run_observers};
use ledger::{Ledger, LedgerError, Reader};
use observe::ObserveContext;
use say::ensure;
use std::process::ExitCode;

mod args;
mod first;
mod init;
mod offer_fetch;

pub use args::Args;
use first::First;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if let Some(args::What::Init(args)) = &args.what {
        return init::run(args, context);
    }
    context.begins("investigate");
    let first = First::of(args, context)?;
    let mut investigation = first.investigation()?;
    if let Some(host) = &args.here {
        investigation.is_about_this_machine(host);
    }
    for path in &args.path {
        ensure!(path.exists(), "command-no-such-path", path);
    }
    let around = ObserveContext {
        scope: investigation.subject.clone(),
        asked: asked(&investigation),
        paths: args.path.clone(),
        time: ledger::now(),
        deep: args.deep,
    };
    // If the ledger is not writable, the answer is still useful: it is graded but not kept.
    let (ledger, kept) = match context.open_ledger() {
        Ok(ledger) => (Some(ledger), None),
        Err(error @ (LedgerError::ReadOnly { .. } | LedgerError::Full { .. })) => (None, Some(error)),
        Err(error) => return Err(error.into()),
    };
    if let Some(error) = kept {
        context.note(&format!("whichkernel: {error}"));
    }
    let mut pages = Beside::new(&investigation, first.folder(), context);
    // First examines this machine without asking. Then offers everything that could be fetched, in one question, and
    // examines the fetched files.
    let mut run = Run { investigation, around, ledger, context };
    let (mut graded, mut looked) = run.look(args, &mut pages)?;
    pages.renew();
    if !args.offline {
        let fetched = offer_fetch::offer(&graded, &run.around, args.yes, context)?;
        if !fetched.is_empty() {
            (graded, looked) = run.look(args, &mut pages)?;
            offer_fetch::told(&fetched, &graded, context);
        }
    }
    pages.renew();
    if args.yes {
        graded = graded.just_ran(investigate::FETCH);
    }
    let lines = if args.format == Format::Text { first.lines(context) } else { Default::default() };
    emit(args.format, &graded, &looked, pages.page(), lines, context)?;
    pages.finish(args.open, args.format != Format::Text)?;
    let failed = args.strict && graded.failed() > 0;
    Ok(if failed { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

struct Run<'a> {
    investigation: Investigation,
    around: ObserveContext,
    /// None if it is not writable.
    ledger: Option<Ledger>,
    context: &'a Context,
}

impl Run<'_> {
    /// Runs every observer on this machine, and grades the results.
    fn look(&mut self, args: &Args, pages: &mut Beside<'_>) -> say::Result<(Graded, Vec<Looked>)> {
        let (context, investigation) = (self.context, &self.investigation);
        // The time connects a sweep with its sightings, so each pass has its own time.
        self.around.time = ledger::now();
        if self.ledger.is_some() {
            let known = Reader::open(&context.ledger)?.observations_for(investigation)?;
            let start = Graded::from_ledger(investigation.clone(), &known, &crate::command_line::verb_names());
            // Releases the write lock while the trees are recorded.
            self.ledger = None;
            offer_fetch::look_at_trees(&start, &known, &args.path, context);
            self.ledger = Some(context.open_ledger()?);
            pages.step();
        }
        // For a long ledger: reads first each observer's last results, then the observations that the claims can use.
        let reader = Reader::open(&context.ledger)?;
        let before = reader.last_runs()?;
        let id = reader.id()?.unwrap_or_default();
        let mut unchanged = Unchanged::read(&context.ledger, &id, &self.around);
        let (looked, unkept) = run_observers(
            investigation,
            &self.around,
            &before,
            self.ledger.as_mut(),
            &mut unchanged,
            &mut |line| context.progress(line),
            &mut || pages.step(),
        )?;
        drop(before);
        let mut observations = Reader::open(&context.ledger)?.observations_for(investigation)?;
        observations.extend(unkept.into_iter().map(Recorded::new));
        let places = Places::of_this_machine(&self.around, crate::command_check::takes);
        let graded =
            Graded::from_ledger(investigation.clone(), &observations, &crate::command_line::verb_names()).at(places);
        Ok((graded, looked))
    }
}

/// The topics of claims and questions, so that an observer can skip the rest.
fn asked(investigation: &Investigation) -> Vec<View> {
    let claims = investigation.claims.iter().map(|stated| (&stated.claim.topic, &stated.claim.about));
    let questions = investigation.questions.iter().flat_map(Question::asks);
    let questions = questions.map(|ask| (&ask.topic, &ask.about));
    claims.chain(questions).map(|(topic, about)| View { topic: topic.clone(), about: about.clone() }).collect()
}

fn emit(
    format: Format,
    graded: &Graded,
    looked: &[Looked],
    report: Option<String>,
    (before, after): (String, String),
    context: &Context,
) -> say::Result<()> {
    let plain = |plain| match plain {
        Plain::Text => format!("{before}{}{after}", screen::render(graded, looked, false, context)),
        Plain::Md => markdown(graded, &context.lang),
        Plain::Csv => csv(graded, &context.lang),
    };
    let whole = || Investigated { readings: Readings::of(graded), looked, report };
    context.emit_as(format, whole, |format| Ok(plain(format)))
}
