//! `whichkernel why`: reports whether a model is slow, why, and what helps.

mod fix;
mod look;
mod running;
mod undo;

use crate::asked::why::server_facts::named;
use crate::context::{Context, Format};
use look::Looked;
use say::{Context as _, bail, ensure, say};
use std::path::PathBuf;
use std::process::ExitCode;
use why::gather;

/// Find out whether a model runs slowly, why, and what helps
///
/// Compares a server's speed with the most that its hardware allows, and looks for every cause of a closed list: layers on the CPU, no GPU
/// backend, flash attention off, an old build, a narrow PCIe link and others. Sends three short requests; --passive sends none. Without a server,
/// --model and --gpu answer from the rules and the model's header.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// http://HOST:PORT or unix:/PATH [default: the server that runs on this machine]
    #[arg(value_name = "URL", conflicts_with_all = ["pid", "name", "model"])]
    url: Option<String>,

    /// The server with this process ID
    #[arg(long, value_name = "N", conflicts_with_all = ["name", "model"])]
    pid: Option<u32>,

    /// The server with this name: ollama, llama-server, vllm
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    name: Option<String>,

    /// Without a server: this model file
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// The card: for --model, or instead of the card in this machine
    #[arg(long, value_name = "CARD")]
    gpu: Option<String>,

    #[command(flatten)]
    key: crate::api_key::KeyArgs,

    /// The server's log, if its process does not write to a file
    #[arg(long, value_name = "FILE")]
    log: Vec<PathBuf>,

    /// Send no request: nothing is measured
    #[arg(long)]
    passive: bool,

    /// Timeout for one response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = crate::number::number::<u64>(1..=3600))]
    timeout: u64,

    /// Show the plan of this fix; with --yes, measure it and keep it if it is faster
    #[arg(long, value_name = "N", conflicts_with = "model")]
    fix: Option<usize>,

    /// With --fix: compare the server with and without the fix
    #[arg(long, requires = "fix")]
    measure: bool,

    /// Take back fix N, which an earlier run kept: shows the plan; with --yes, the server is restarted as it was
    #[arg(long, value_name = "N", conflicts_with_all = ["fix", "model", "url", "name", "pid"])]
    undo: Option<usize>,

    /// With --fix or --undo: run the plan. A fix is kept only if it is faster. Without it nothing is changed
    #[arg(long)]
    yes: bool,

    /// With --fix: starts of the server with and without it [default: enough to detect a difference of 10 %, 8 to 24]
    #[arg(long, value_name = "N", requires = "fix", value_parser = crate::number::number::<u64>(2..=100))]
    repeat: Option<u64>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Args {
    /// Whether it asks about a model file, not about a server.
    pub fn is_about_a_file(&self) -> bool {
        self.model.is_some()
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if args.model.is_some() {
        return expected(args, context);
    }
    ensure!(
        args.gpu.is_none() || args.url.is_some() || args.pid.is_some() || args.name.is_some(),
        "why-gpu-needs-model"
    );
    ensure!(!args.yes || args.fix.is_some() || args.undo.is_some(), "why-yes-needs-fix");
    context.begins("why");
    if let Some(number) = args.undo {
        return undo::run(args, number, context);
    }
    let looked = Looked::at(args, context)?;
    match args.fix {
        Some(number) => fix::run(args, &looked, number, context),
        None => {
            context.emit(args.format, &looked.answer)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The answer for a model file and a card, from the rules, the bounds and the card's memory.
fn expected(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let Some(path) = &args.model else { bail!("why-gpu-needs-model") };
    let file = sys::regular_file::open(path).about(path.display())?;
    let header = header(file).map_err(|why| say::Error::from(say!("about-why", what = path, why)))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let card = match &args.gpu {
        Some(gpu) => named(gpu)?,
        None => match own_card() {
            Some(card) => card,
            None => bail!("why-needs-gpu", path),
        },
    };
    let facts = gather::expected(&header, &name, card);
    context.emit(args.format, &why::Answer::of(&facts, [None, None], None))?;
    Ok(ExitCode::SUCCESS)
}

/// The header, or the reason why it cannot be read.
fn header(mut file: impl std::io::Read) -> Result<gguf::Gguf, say::Message> {
    use say::Say as _;
    use std::io::Read as _;
    let (mut bytes, mut size) = (Vec::new(), 1_u64 << 20);
    loop {
        let wanted = size - bytes.len() as u64;
        file.by_ref().take(wanted).read_to_end(&mut bytes).map_err(|error| error.message())?;
        match gguf::Gguf::parse(&bytes) {
            Ok(header) => return Ok(header),
            Err(gguf::Error::Truncated { .. }) if bytes.len() as u64 == size && size < 64 << 20 => size *= 4,
            Err(error) => return Err(error.message()),
        }
    }
}

fn own_card() -> Option<why::Card> {
    let host = doctor::Host::this();
    let facts = gather::machine(&host, &doctor::Facts::read(&host));
    facts.card().cloned()
}
