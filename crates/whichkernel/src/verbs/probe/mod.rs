//! `whichkernel probe`: what a server really evaluates for a prompt, how fast, and what the source rules declare for it.

mod text;

use crate::context::{COULD_NOT_RUN, Context, Format};
use anyhow::bail;
use probe::{Wanted, replay};
use source::Device;
use std::path::PathBuf;
use std::process::ExitCode;

/// What a server really evaluates for a prompt, how fast, and which path the source rules declare for it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Read recorded answers instead of asking anybody: a folder with an index.json
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,

    /// The GPU whose rules are asked: a card (rx-9070-xt) or a target (gfx1201, sm_90) [default: the one that the server names]
    #[arg(long, value_name = "GPU")]
    gpu: Option<String>,

    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let Some(dir) = &args.replay else { bail!("name a folder with --replay DIR") };
    let device = args.gpu.as_deref().map(Device::find).transpose()?;
    let recording = replay::open(dir)?;
    for missing in &recording.missing {
        context.note(&format!("{}: {missing}", dir.display()));
    }
    let wanted = Wanted { device, ..Wanted::default() };
    let answer = probe::answer(&recording, &wanted, Default::default());
    let text = match args.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&answer)?),
        Format::Csv => text::table(&answer, context).csv(),
        Format::Md => text::table(&answer, context).markdown(),
        Format::Text => text::whole(&answer, context),
    };
    context.print(&text)?;
    Ok(if answer.probes.is_empty() { ExitCode::from(COULD_NOT_RUN) } else { ExitCode::SUCCESS })
}
