//! `whichkernel probe`: what a server really evaluates for a prompt, how fast, and what the source rules declare for it.

mod find;
mod text;

use crate::context::{COULD_NOT_RUN, Context, Format};
use anyhow::{Context as _, bail};
use probe::live::{LADDER, Live, Plan};
use probe::replay::Recording;
use probe::{Answer, Wanted, replay};
use source::Device;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use sys::http::Address;

/// What a server really evaluates for a prompt, how fast, and which path the source rules declare for it
///
/// Asks an Ollama, a llama-server or an OpenAI-compatible server with prompts of exact lengths that mean nothing, and reads what it
/// answers. Only the address that was typed is asked, or a server that is seen to listen on this machine.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// http://HOST:PORT [default: a server that is seen to listen on this machine]
    #[arg(value_name = "URL", conflicts_with = "replay")]
    url: Option<String>,

    /// The model, where the server has several [default: the one that is loaded, else the first]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Evaluated tokens, separated by commas [default: both sides of every limit that the rules have]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=65536))]
    tokens: Vec<u64>,

    /// Every length from A to B, for the course of time over length and where it changes; A..B:STEP leaves some out
    #[arg(long, value_name = "A..B", conflicts_with = "tokens")]
    sweep: Option<String>,

    /// How often each length is asked, interleaved [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeat: Option<u64>,

    /// Unload the model, load it with a prompt and ask again: cold and resident starts (Ollama)
    #[arg(long)]
    cold: bool,

    /// So many requests at the same time, besides
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    parallel: u64,

    /// The most seconds that one answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,

    /// The server's log: batch sizes, cache hits, what it says of its GPU
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// Read recorded answers instead of asking anybody: a folder with an index.json
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,

    /// Keep every question and answer in this folder, for --replay
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    save: Option<PathBuf>,

    /// Record what was answered in the ledger, with the raw answers
    #[arg(long)]
    record: bool,

    /// Write a picture of the times
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// The GPU whose rules are asked: a card (rx-9070-xt) or a target (gfx1201, sm_90) [default: the one that the server names]
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let device = args.gpu.as_deref().map(Device::find).transpose()?;
    let wanted = Wanted { device, ..Wanted::default() };
    let (answer, recording, kind) = match &args.replay {
        Some(dir) => {
            let recording = replay::open(dir)?;
            for missing in &recording.missing {
                context.note(&format!("{}: {missing}", dir.display()));
            }
            (probe::answer(&recording, &wanted, Default::default()), recording, evidence::DeviceKind::Unknown)
        }
        None => ask(args, wanted, context)?,
    };
    if let Some(dir) = &args.save {
        replay::write(dir, &recording).with_context(|| dir.display().to_string())?;
    }
    if let Some(file) = &args.svg {
        let places: Vec<u64> = answer.changes.iter().map(|change| change.at).collect();
        let title = format!("{} {}", answer.server.kind, answer.server.model.as_deref().unwrap_or_default());
        std::fs::write(file, probe::plot::svg(&answer.speed, &places, &title))
            .with_context(|| file.display().to_string())?;
    }
    if args.record && args.replay.is_none() {
        record(&answer, &recording, kind, context)?;
    }
    let text = match args.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&answer)?),
        Format::Csv => text::table(&answer, context).csv(),
        Format::Md => text::table(&answer, context).markdown(),
        Format::Text => text::whole(&answer, context),
    };
    context.print(&text)?;
    if let Some(why) = &answer.ended {
        context.note(&context.lang.text_with("probe-ended", &[("why", why.as_str().into())]));
    }
    // A recording may hold questions that were meant to fail; a run of ours holds none.
    let asked_and_failed = args.replay.is_none() && !answer.failed.is_empty();
    let fine = !answer.probes.is_empty() && answer.ended.is_none() && !asked_and_failed;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) })
}

fn ask(args: &Args, wanted: Wanted, context: &Context) -> anyhow::Result<(Answer, Recording, evidence::DeviceKind)> {
    let found = match &args.url {
        Some(url) => find::Found { to: Address::parse(url, None)?, ..find::Found::default() },
        None => find::server(context)?,
    };
    let found = find::process(found);
    let sweep = args.sweep.as_deref().map(range).transpose()?;
    let whole = args.tokens.is_empty() && sweep.is_none();
    let tokens = match (&sweep, whole) {
        (Some(list), _) => list.clone(),
        (None, true) => LADDER.to_vec(),
        (None, false) => args.tokens.clone(),
    };
    let rounds = args.repeat.unwrap_or(3);
    let mut plan = Plan { tokens, rounds, predict: 1, decode: whole, parallel: args.parallel, cold: args.cold };
    let live = Live {
        to: found.to,
        model: args.model.clone(),
        patience: Duration::from_secs(args.timeout),
        logs: args.log.clone(),
        pids: found.pids,
        command: found.command,
        wanted,
    };
    sys::interrupt::catch();
    let run = probe::live::run(&live, &mut plan, whole, &mut |line| context.progress(line))?;
    Ok((run.answer, run.recording, found.device))
}

/// `1..600`, `1..600:4`: both ends included.
fn range(text: &str) -> anyhow::Result<Vec<u64>> {
    let (ends, step) = text.split_once(':').map_or((text, Ok(1)), |(ends, step)| (ends, step.parse::<usize>()));
    let parsed = ends.split_once("..").map(|(a, b)| (a.parse::<u64>(), b.trim_start_matches('=').parse::<u64>()));
    let Some((Ok(from), Ok(to))) = parsed else { bail!("{text:?} is no range: A..B or A..B:STEP") };
    let Ok(step @ 1..) = step else { bail!("{text:?} has no step: A..B:STEP") };
    if from == 0 || from > to || to > 65536 {
        bail!("{text:?} is no range of lengths: 1 to 65536, ascending");
    }
    Ok((from..=to).step_by(step).collect())
}

fn record(answer: &Answer, recording: &Recording, kind: evidence::DeviceKind, context: &Context) -> anyhow::Result<()> {
    let list = probe::record::sightings(answer, &replay::text(recording), kind, &observe::now())?;
    let count = observe::record(&mut context.open_ledger()?, list)?;
    let args = [("count", count.to_string().into()), ("place", context.ledger.display().to_string().into())];
    context.note(&context.lang.text_with("probe-recorded", &args));
    Ok(())
}
