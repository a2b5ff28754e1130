//! Which code objects and kernels were asked for.

use super::Args;
use anyhow::Context as _;
use codeobject::TargetId;
use inventory::Found;
use regex::Regex;

#[derive(Debug)]
pub struct Select {
    target: Option<TargetId>,
    kernel: Option<Regex>,
}

impl Select {
    pub fn new(args: &Args) -> anyhow::Result<Self> {
        let target = wanted_target(args)?;
        let kernel = args.kernel.as_deref().map(Regex::new).transpose().context("--kernel is no regular expression")?;
        Ok(Select { target, kernel })
    }

    /// Every target matches where none was asked for; a host entry matches none.
    pub fn object(&self, found: &Found<'_>) -> bool {
        match (&self.target, found.target) {
            (None, _) => true,
            (Some(wanted), Some(target)) => target.answers(wanted),
            (Some(_), None) => false,
        }
    }

    pub fn kernel(&self, mangled: &str, name: &str) -> bool {
        self.kernel.as_ref().is_none_or(|regex| regex.is_match(mangled) || regex.is_match(name))
    }
}

/// `--target`, or `--gpu`, which may also be the name of a card.
pub fn wanted_target(args: &Args) -> anyhow::Result<Option<TargetId>> {
    if let Some(target) = &args.gpu_target {
        return parse_target(target).map(Some);
    }
    let Some(gpu) = &args.gpu else { return Ok(None) };
    if gpu.starts_with("gfx") {
        return parse_target(gpu).map(Some);
    }
    parse_target(gpu::find(gpu)?.processor()).map(Some)
}

pub fn parse_target(text: &str) -> anyhow::Result<TargetId> {
    TargetId::parse(text).with_context(|| {
        format!("{text} is no GPU target; they look like gfx1201, gfx90a:sramecc+:xnack- or gfx12-generic")
    })
}
