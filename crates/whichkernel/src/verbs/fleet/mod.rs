//! `whichkernel fleet`: questions about many machines, answered from a lake by an installed SQL engine.

mod text;

use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::emit::Plain;
use evidence::{Reach, Says};
use export::fleet::{self, Dates, Dialect, Engine, FleetAnswer, Question};
use say::{Message, ensure, say};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Show which machines of a lake changed path, since when, and after which upgrade, through DuckDB or ClickHouse
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Compare the paths of every machine at two dates
    Diff {
        /// The lake: the folder that `report --export parquet` wrote
        lake: PathBuf,
        /// Use the last observations earlier than this date (UTC), for example 2026-11-10
        #[arg(long, value_name = "DATE", value_parser = date)]
        before: String,
        /// Compare with the last observations from this date on
        #[arg(long, value_name = "DATE", value_parser = date)]
        after: String,
        #[command(flatten)]
        how: How,
    },
    /// List what needs attention: changed paths, hosts on the fallback, silent machines, clocks that went back, clones
    Alerts {
        /// The lake: the folder that `report --export parquet` wrote
        lake: PathBuf,
        /// Report changes from this date (UTC) on [default: 7 days ago]
        #[arg(long, value_name = "DATE", value_parser = date)]
        since: Option<String>,
        #[command(flatten)]
        how: How,
    },
}

// How the question is asked. This must not be a doc comment, because clap would use it as the verb's text.
#[derive(Debug, clap::Args)]
struct How {
    /// The engine: duckdb or clickhouse; with --sql also spark [default: the first that is installed]
    #[arg(long, value_name = "ENGINE", value_parser = dialect)]
    engine: Option<Dialect>,
    /// Print the queries instead of running them
    #[arg(long)]
    sql: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn date(text: &str) -> Result<String, Message> {
    if Dates::is_date(text) { Ok(text.to_owned()) } else { Err(say!("fleet-date")) }
}

fn dialect(text: &str) -> Result<Dialect, Message> {
    Dialect::parse(text).ok_or_else(|| say!("fleet-engines"))
}

/// The days that `alerts` looks back without `--since`.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let (lake, before, after, how) = match &args.what {
        What::Diff { lake, before, after, how } => (lake, before.clone(), after.clone(), how),
        What::Alerts { lake, since, how } => {
            let week = || ledger::rfc3339(SystemTime::now().checked_sub(WEEK).unwrap_or(SystemTime::UNIX_EPOCH));
            let since = since.clone().unwrap_or_else(|| week().chars().take(10).collect());
            (lake, since.clone(), since, how)
        }
    };
    let Some(dates) = Dates::new(&before, &after) else {
        say::bail!("fleet-dates-reversed", before, after);
    };
    let question = match args.what {
        What::Diff { .. } => Question::Diff(dates),
        What::Alerts { .. } => Question::Alerts(dates),
    };
    if how.sql {
        return sql(lake, &question, how.engine.unwrap_or(Dialect::Duckdb), context);
    }
    let answer = fleet::ask(lake, &question, || Engine::find(how.engine))?;
    let plain = |plain| match plain {
        Plain::Csv => text::changes(&answer, &context.lang).csv(),
        Plain::Md => text::changes(&answer, &context.lang).markdown(),
        Plain::Text => text::text(&answer, context),
    };
    context.emit_as(how.format, || answer.clone(), |format| Ok(plain(format)))?;
    Ok(exit(&answer))
}

/// The queries, for an engine that runs in the lake's folder or reads the lake's address.
fn sql(lake: &std::path::Path, question: &Question, dialect: Dialect, context: &Context) -> say::Result<ExitCode> {
    let address = if export::is_remote(lake) { lake.to_string_lossy().into_owned() } else { String::new() };
    ensure!(!address.contains(['\'', '`', '\\', '\n']), "fleet-address", address);
    let queries = question.queries().iter().map(|query| query.sql(dialect, &address, question.dates()));
    let all: Vec<String> = queries.map(|sql| format!("{};\n", sql.trim_end())).collect();
    context.print(&all.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// 0: nothing to report. 1: something changed or needs attention. 2: nothing could be compared.
fn exit(answer: &FleetAnswer) -> ExitCode {
    let differs = matches!(answer.conclusion.says(), Says::Different { .. });
    let alerts = answer.fallback.is_some() && text::attention(answer) > 0;
    if differs || alerts {
        return ExitCode::from(CHECK_FAILED);
    }
    match answer.conclusion.reach() {
        Reach::Unknown => ExitCode::from(COULD_NOT_RUN),
        _ => ExitCode::SUCCESS,
    }
}
