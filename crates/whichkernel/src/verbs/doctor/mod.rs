//! Which observers work here, which do not, why, and the exact fix.

use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Show;
use doctor::{Examination, Fix, Host, HostObserver, Report, Weight};
use evidence::Reach;
use report::{Column, Lang, Table};
use say::{Message, bail};
use std::path::PathBuf;
use std::process::ExitCode;

mod text;

/// Which observers work on this machine, which do not, why, and the exact command that fixes it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Output format; csv and md contain only the observers
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// Examine this directory as if it were / (a mounted disk, or collected /proc and /sys), without running any tests
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Exit 1 if there is a problem
    #[arg(long)]
    strict: bool,

    /// Record the findings in the ledger
    #[arg(long)]
    record: bool,
}

pub fn run(args: &Args, verbs: &[String], context: &Context) -> say::Result<ExitCode> {
    let host = match &args.root {
        Some(root) if !root.is_dir() => bail!("command-not-a-root", path = root),
        Some(root) => Host::at(root, Default::default()),
        None => Host::this(),
    };
    let verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
    let report = Report::examine(&host, &verbs);
    if args.record {
        let sightings = HostObserver::new(host).sightings(&report, &observe::now());
        context.record(sightings, "doctor-recorded")?;
    }
    // JSON is for programs: its sentences are always in English.
    let english = Lang::new("en");
    let lang = if args.format == Format::Json { &english } else { &context.lang };
    match args.format {
        Format::Text => context.print(&text::render(&report, args.root.is_none(), context))?,
        format => context.emit(format, &report.answer(&|messages| say_all(messages, lang)))?,
    }
    let problems = report.cases.iter().filter(|case| case.weight == Weight::Problem).count();
    if args.strict && problems == 0 && report.cases_found().reach() == Reach::Unknown {
        context.note(&context.lang.text("doctor-strict-unseen"));
        return Ok(ExitCode::from(CHECK_FAILED));
    }
    if args.strict && problems > 0 {
        context.note(&context.lang.text_with("doctor-strict", &[("count", problems.into())]));
        return Ok(ExitCode::from(CHECK_FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

/// Japanese sentences need no space between them.
fn say_all(messages: &[Message], lang: &Lang) -> String {
    let said: Vec<String> = messages.iter().map(|message| lang.say(message)).collect();
    said.join(if lang.is_japanese() { "" } else { " " })
}

fn fix_text(fix: &Fix, lang: &Lang) -> String {
    fix.text(&|messages| say_all(messages, lang))
}

impl Show for Examination<'_> {
    fn table(&self, _: &Lang) -> Option<Table> {
        let columns = ["name", "status", "why", "fix"].map(|key| Column::left(key, key));
        let mut table = Table::new(columns.to_vec());
        for one in &self.observers {
            table.row([one.name, one.status.name(), &one.why, one.fix.as_deref().unwrap_or_default()]);
        }
        Some(table)
    }
}
