//! `whichkernel why`: reports whether a model is slow, why, and what helps.

mod args;
mod fix;
mod look;
mod running;
mod service;
mod systemd;
mod undo;

use crate::asked::why::kernel_census;
use crate::asked::why::server_facts::named;
use crate::context::Context;
pub use args::Args;
use evidence::{Glance, Rung};
use ledger::Reader;
use look::Looked;
use say::shell::CommandLine;
use say::{Context as _, bail, ensure, say};
use std::path::Path;
use std::process::ExitCode;
use why::dry_run::{DryRun, TOPICS};
use why::gather;

impl Args {
    /// Whether the command is about a model file, not about a server.
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
    // A library without code for the card says nothing about the one that a server will load.
    let fits = |(_, targets): &(String, Vec<String>)| {
        targets.iter().any(|known| known.split(':').next() == card.target.as_deref())
    };
    let code = shipped().filter(fits);
    let mut facts = gather::expected(&header, &name, why::Card { code, ..card });
    kernel_census::count(&mut facts, context);
    let mut answer = why::Answer::of(&facts, [None, None], None);
    let card = facts.card().and_then(|card| card.limits.as_ref()).map(|limits| limits.card.clone());
    let kind = facts.model.as_ref().and_then(|model| model.main_type.clone());
    if let Some((card, kind)) = card.zip(kind) {
        answer.dry_run = recorded(&card, &kind, path, facts.rules.as_ref(), context)?;
        let other = answer.dry_run.as_ref().is_none_or(|run| !run.same_model);
        // The stand-in needs a profile; cards that are known by their limits only have none.
        if other && gpu::find(&card).is_ok() {
            let words = [card, path.display().to_string()];
            answer.next = Some(CommandLine::new("whichkernel dryrun --gpu {} --model {} --record", words).into());
        }
    }
    context.emit(args.format, &answer)?;
    Ok(ExitCode::SUCCESS)
}

/// The dry run in the ledger that selected kernels for this card and type, the model's own one if there is one.
fn recorded(
    card: &str,
    kind: &str,
    model: &Path,
    rules: Option<&why::Rules>,
    context: &Context,
) -> say::Result<Option<DryRun>> {
    let reader = Reader::open(&context.ledger)?;
    let wanted = |glance: &Glance<'_>| {
        glance.rung == Rung::Selected
            && glance.saw().is_some_and(|saw| TOPICS.contains(&&*saw.topic) && saw.about.get("type") == Some(kind))
    };
    let observations = if reader.exists() { reader.observations_where(wanted)? } else { Vec::new() };
    let file = model.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(DryRun::of(&observations, card, kind, &file, rules))
}

/// A HIP backend of ggml on this machine, installed or in the cache, and the targets that it has code for.
fn shipped() -> Option<(String, Vec<String>)> {
    const BACKEND: &str = "libggml-hip";
    let host = doctor::Host::this();
    let named = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with(BACKEND));
    let installed = doctor::Facts::read(&host).device_code.into_iter().find(|code| named(&code.library));
    let cached = || {
        let cache = ::runtime::cache::Cache::from_env();
        let mut names: Vec<_> = std::fs::read_dir(cache.runtimes()).ok()?.flatten().map(|entry| entry.path()).collect();
        names.sort();
        names.iter().find_map(|dir| {
            let file = dir.join("root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so");
            doctor::code_of(&host, &file.display().to_string()).filter(|_| file.is_file())
        })
    };
    let code = installed.or_else(cached)?;
    (!code.targets.is_empty()).then_some((code.library, code.targets))
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
