//! `whichkernel probe`: the tokens that a server actually evaluates for a prompt, the speed, and the paths in the
//! source rules.

mod find;
mod lanes;
mod launch_observer;
mod text;

use crate::context::{COULD_NOT_RUN, Context, Format};
use crate::launched_at::place;
use probe::live::{Journal, LADDER, Live, Plan, Run, Session, climbed};
use probe::record::Ground;
use probe::{Answer, Wanted, replay};
use say::{Context as _, bail, say};
use server::Endpoint;
use source::Device;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use sys::files::{self, Access};

/// Measure what a server evaluates for a prompt and how fast, and show the path in the source rules // Sends prompts of
/// exact lengths, without meaning, to an Ollama, a llama-server, a vLLM or an OpenAI-compatible server, and reads the
/// answers. Contacts only the given address, or a server that listens on this machine. With --lane, the server is
/// started here, once for each setting.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// http://HOST:PORT or unix:/PATH [default: a server listening on this machine]
    #[arg(value_name = "URL", conflicts_with = "replay")]
    url: Option<String>,

    #[command(flatten)]
    key: crate::api_key::KeyArgs,

    /// The model, if the server has several [default: the loaded one, else the first]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Tokens to evaluate, separated by commas [default: both sides of every threshold in the rules]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = crate::number::number::<u64>(1..=65536))]
    tokens: Vec<u64>,

    /// Measure every length from A to B and find where the time changes; A..B:STEP skips some
    #[arg(long, value_name = "A..B", conflicts_with = "tokens")]
    sweep: Option<String>,

    /// Repetitions of each length, interleaved [default: 3; with --sweep: enough to detect a jump of 10 %, 3 to 12]. With --lane: starts of each lane's server [default: enough to detect a difference of 10 %, 8 to 24]
    #[arg(long, value_name = "N", value_parser = crate::number::number::<u64>(1..=1000))]
    repeat: Option<u64>,

    /// Compare a cold start with a loaded model: unload the model, load it with a prompt, and repeat the prompt (Ollama)
    #[arg(long)]
    cold: bool,

    /// Also send this many requests in parallel
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = crate::number::number::<u64>(1..=64))]
    parallel: u64,

    /// Timeout for one response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = crate::number::number::<u64>(1..=3600))]
    timeout: u64,

    /// The server's log, with batch sizes, cache hits, and what the server reports about its GPU
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// Read recorded responses instead of contacting a server: a folder with an index.json
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,

    /// Save all requests and responses in this folder, for --replay
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    save: Option<PathBuf>,

    /// Record the results in the ledger, with the raw responses
    #[arg(long)]
    record: bool,

    /// Write a plot of the times
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Also watch what the server launches for each prompt; needs root, or `watch arm` first
    #[arg(long, conflicts_with = "replay")]
    watch: bool,

    /// A setting to compare, as NAME='VARIABLE=VALUE ...'. Give this option at least twice, and the server command after --. {port} and {VARIABLE} in the
    /// command are replaced for each setting
    #[arg(long, value_name = "NAME=ENV", requires = "serve", conflicts_with_all = ["url", "replay", "record", "svg", "sweep", "cold"])]
    lane: Vec<String>,

    /// The GPU for the rules: a card (rx-9070-xt) or a target (gfx1201, sm_90) [default: the server's GPU]
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// The command that starts the server; it gets its address through {port}, LLAMA_ARG_PORT or OLLAMA_HOST
    #[arg(last = true, value_name = "COMMAND", requires = "lane")]
    serve: Vec<String>,
}

impl Args {
    pub fn watches(&self) -> bool {
        self.watch
    }

    /// Whether the command sends requests to a server that it has to find first.
    pub fn looks_for_a_server(&self) -> bool {
        self.url.is_none() && self.replay.is_none() && self.lane.is_empty()
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let device = args.gpu.as_deref().map(Device::find).transpose()?;
    let wanted = Wanted { device, ..Wanted::default() };
    context.begins("probe");
    if args.watch {
        launch_observer::keep_rights(context, !args.lane.is_empty()).context(say!("command-giving-up-rights"))?;
    }
    if !args.lane.is_empty() {
        return lanes::run(args, wanted, context);
    }
    let answer = match &args.replay {
        Some(dir) => probe::answer(&replay::open(dir)?, &wanted, Default::default()),
        None => ask(args, wanted, context)?,
    };
    if let Some(file) = &args.svg {
        let places: Vec<u64> = answer.changes.iter().map(|change| change.at).collect();
        let title = format!("{} {}", answer.server.kind, answer.server.model.as_deref().unwrap_or_default());
        files::replace(file, Access::Public, probe::plot::svg(&answer.speed, &places, &title)).about(file.display())?;
    }
    context.emit(args.format, &answer)?;
    if let Some(why) = &answer.ended {
        context.note(&context.lang.say(&say!("probe-ended", why)));
    }
    // A recording may contain questions that were meant to fail; a live run does not.
    let asked_and_failed = args.replay.is_none() && !answer.failed.is_empty();
    let fine = !answer.probes.is_empty() && answer.ended.is_none() && !asked_and_failed;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) })
}

/// Asks a live server; its answers are kept if requested, however the run ended.
fn ask(args: &Args, wanted: Wanted, context: &Context) -> say::Result<Answer> {
    let key = args.key.read(args.url.is_some())?;
    let found = match &args.url {
        Some(url) => find::Found::at(Endpoint::parse(url, key)?),
        None => find::server(context)?,
    };
    let found = find::process(found);
    let sweep = args.sweep.as_deref().map(range).transpose()?;
    let whole = args.tokens.is_empty() && sweep.is_none();
    let tokens = match (sweep, whole) {
        (Some(list), _) => list,
        (None, true) => LADDER.to_vec(),
        (None, false) => args.tokens.clone(),
    };
    let rounds = args.repeat.unwrap_or(3);
    let until_seen = args.sweep.is_some() && args.repeat.is_none();
    let (parallel, cold) = (args.parallel, args.cold);
    let mut plan = Plan { tokens, rounds, predict: 1, decode: whole, parallel, cold, until_seen };
    let journal: Journal = ("journalctl -u ollama", || doctor::ollama_journal(&doctor::Host::this()));
    let live = Live {
        at: found.at.clone(),
        model: args.model.clone(),
        patience: Duration::from_secs(args.timeout),
        logs: args.log.clone(),
        journal: found.journal.then_some(journal),
        pids: found.pids.clone(),
        command: found.command.clone(),
        wanted,
    };
    sys::interrupt::catch();
    let onlooker = args.watch.then(|| launch_observer::open(found.pids.clone(), args.record));
    let (onlooker, blind) = match onlooker {
        Some(Ok(onlooker)) => (Some(onlooker), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let mut session = Session::open(live, onlooker)?;
    if let Some(why) = blind {
        session.leave_out("--watch", why);
    }
    let run = climbed(session, &mut plan, whole, &mut |line| context.progress(&context.lang.say(line)));
    if let Some(dir) = &args.save {
        replay::write(dir, &run.recording).about(dir.display())?;
    }
    if args.record {
        record(&run, &find::ground(&found), context)?;
    }
    Ok(run.answer)
}

/// `1..600`, `1..600:4`: both ends inclusive.
fn range(text: &str) -> say::Result<Vec<u64>> {
    let (ends, step) = text.split_once(':').map_or((text, Ok(1)), |(ends, step)| (ends, step.parse::<usize>()));
    let parsed = ends.split_once("..").map(|(a, b)| (a.parse::<u64>(), b.trim_start_matches('=').parse::<u64>()));
    let Some((Ok(from), Ok(to))) = parsed else { bail!("command-no-range", text = format!("{text:?}")) };
    let Ok(step @ 1..) = step else { bail!("command-no-step", text = format!("{text:?}")) };
    if from == 0 || from > to || to > 65536 {
        bail!("command-no-lengths", text = format!("{text:?}"));
    }
    Ok((from..=to).step_by(step).collect())
}

/// Records the answers, and the launches meanwhile.
fn record(run: &Run, ground: &Ground, context: &Context) -> say::Result<()> {
    let time = observe::now();
    let mut list = probe::record::sightings(&run.answer, &replay::text(&run.recording), ground, &time)?;
    if let Some(seen) = &run.seen {
        let (window, model) = (format!("{} probes", run.answer.probes.len()), run.answer.server.model.as_deref());
        let place = place(&seen.tally, &seen.report);
        let scene = watch::RecordContext { account: &seen.report, window: &window, model, place, time: &time };
        list.extend(scene.sightings(&seen.tally)?);
    }
    context.record(list, "probe-recorded")
}
