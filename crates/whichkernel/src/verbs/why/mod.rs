//! `whichkernel why`: reports whether a model is slow, why, and what helps.

mod args;
mod fix;
mod look;
mod running;
mod service;
mod systemd;
mod undo;

use crate::asked::why::server_facts::named;
use crate::context::Context;
pub use args::Args;
use look::Looked;
use say::{Context as _, bail, ensure, say};
use std::process::ExitCode;
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
