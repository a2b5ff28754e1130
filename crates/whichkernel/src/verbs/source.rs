//! `whichkernel source TREE`: shows the rules that a source tree declares.

mod args;
mod chain;
mod code;
mod graph;
mod metal;
mod rocblas;
mod rules;
mod vulkan;

pub use args::{Args, Backend, Routing};

use crate::asked::compare::compare;
use crate::asked::metal::is_apple;
use crate::asked::tree_record::find_rocblas;
use crate::context::Context;
use say::{bail, ensure};
use source::Tree;
use std::process::ExitCode;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let tree = Tree::open(&args.tree)?;
    match args.backend {
        Some(Backend::Vulkan) => return vulkan::run(&tree, args, context),
        Some(Backend::Metal) => return metal::run(&tree, args, context),
        None if is_apple(&args.gpu) => return metal::run(&tree, args, context),
        Some(Backend::Hip) | None => {}
    }
    ensure!(args.vulkan_device.is_none(), "command-vulkan-device-backend");
    let pin = source::pins::outside(&tree);
    let with = args.with.as_deref().map(|with| open_with(with, pin.as_deref(), context)).transpose()?;
    if args.chain {
        let trees: Vec<Tree> = std::iter::once(tree).chain(with).collect();
        return chain::run(&trees, args, context);
    }
    let tree = match (pin, with) {
        (Some(_), Some(with)) => with,
        (Some(pin), None) => bail!("command-ollama-without-ggml", tree = tree.label, pin),
        (None, Some(_)) => bail!("command-with-is-for", tree = tree.label),
        (None, None) => tree,
    };
    if let Some(found) = find_rocblas(&tree) {
        return rocblas::run(&tree, &found, args, context);
    }
    if let Some(model) = &args.graph {
        return graph::run(&tree, model, args, context);
    }
    if let Some(other) = &args.against {
        let other = Tree::open(other)?;
        return compare(&tree, &other, &args.gpu, &args.ask, args.format, context);
    }
    rules::run(&tree, args, context)
}

/// Opens the second tree: if it is a clone without a given revision, at the revision that the first one pins.
fn open_with(with: &str, pin: Option<&str>, context: &Context) -> say::Result<Tree> {
    let named = std::path::Path::new(with).is_dir();
    if let Some(pin) = pin.filter(|_| named)
        && let Ok(tree) = Tree::open(&format!("{with}@{pin}"))
    {
        let says = [("pin", pin.to_owned().into()), ("tree", with.to_owned().into())];
        context.note(&context.lang.text_with("source-pin-taken", &says));
        return Ok(tree);
    }
    let tree = Tree::open(with)?;
    if let Some(pin) = pin.filter(|pin| !with.ends_with(*pin)) {
        let says = [("pin", pin.to_owned().into()), ("tree", tree.identity().into())];
        context.note(&context.lang.text_with("source-pin-other", &says));
    }
    Ok(tree)
}
