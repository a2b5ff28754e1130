//! `source TREE --backend metal`: the choices of ggml's Metal backend on Apple GPUs.

use super::Args;
use crate::asked::metal::{compare, show, unheeded};
use crate::context::Context;
use source::Tree;
use std::process::ExitCode;

pub fn run(tree: &Tree, args: &Args, context: &Context) -> say::Result<ExitCode> {
    unheeded(&[
        ("--chain", args.chain),
        ("--record", args.record),
        ("--thresholds", args.thresholds),
        ("--code", args.code.is_some()),
        ("--with", args.with.is_some()),
        ("--vulkan-device", args.vulkan_device.is_some()),
    ])?;
    match &args.against {
        Some(other) => compare([tree, &Tree::open(other)?], &args.gpu, &args.ask, args.format, context),
        None => show(tree, &args.gpu, &args.ask, args.format, context),
    }
}
