//! Runs the real program on a simulated GPU and shows what its host code selects.

use crate::asked::dry::{Backend, card, check_device, each};
use crate::context::Context;
use dryrun::answers::Cards;
use std::process::ExitCode;

mod args;
mod command;
mod cuda_notes;
mod grid;
mod record;
mod rows;
mod text;
mod trace;
mod vulkan;

pub use args::Args;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if args.list_gpus {
        context.emit(args.ask.format, &Cards::known())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.profile_from_host {
        return card::from_host(context);
    }
    if args.ask.backend == Backend::Vulkan {
        return vulkan::run(args, context);
    }
    check_device(&args.ask)?;
    if args.each {
        return each::run(&args.program(), context);
    }
    if args.command.is_empty() { grid::run(args, context) } else { command::run(args, context) }
}
