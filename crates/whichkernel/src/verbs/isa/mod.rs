//! `whichkernel isa FILE`: the instruction census.

mod has;
mod json;
mod list;
mod record;
mod table;
mod text;

use crate::context::{Context, Format};
use crate::verbs::inspect::text::count as digits;
use anyhow::Context as _;
use codeobject::TargetId;
use inventory::{File, FileReport, Options, inspect};
use observe::census::{By, Census, Groups, Select, Unread};
use regex::Regex;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A library, executable, code object, offload bundle or CCOB
    pub file: PathBuf,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (features that are not named may be either)
    #[arg(long, value_name = "GFX")]
    pub target: Option<String>,

    /// Only functions whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// What to count by [default: target; kernel where --kernel is given]
    #[arg(long, value_enum)]
    pub by: Option<GroupBy>,

    /// Count mnemonics instead of families
    #[arg(long)]
    pub mnemonics: bool,

    /// List the code of the kernels whose name matches: address, encoding, mnemonic
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["by", "mnemonics", "has", "record", "kernel"])]
    pub list: Option<String>,

    /// Answer one question: is there any instruction of this family (mfma) or with this start (v_mfma)? Exits with 1
    /// if there is none, with 2 if none was found but not everything could be decoded. May be given more than once
    #[arg(long, value_name = "WHAT", conflicts_with = "mnemonics")]
    pub has: Vec<String>,

    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Write the counts to the ledger
    #[arg(long)]
    pub record: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GroupBy {
    Kernel,
    Bundle,
    Target,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let file = File::open(&args.file)?;
    if let Some(kernel) = &args.list {
        return list::run(&file, kernel, args, context);
    }
    let (groups, report) = census(&file, select(args)?, by(args), args.record, context)?;
    if groups.objects == 0 {
        let what = if args.target.is_some() { "isa-no-such-target" } else { "isa-no-code" };
        let words = [
            ("file", args.file.display().to_string().into()),
            ("target", args.target.clone().unwrap_or_default().into()),
        ];
        anyhow::bail!("{}", context.lang.text_with(what, &words));
    }
    if args.record {
        record::run(&file, &groups, &report, context)?;
    }
    if !args.has.is_empty() {
        return has::run(&args.has, &groups, args.format, context);
    }
    match args.format {
        Format::Text => context.print(&text::census(&file, &groups, args.mnemonics, context))?,
        Format::Md => context.print(&table::of(&groups, args.mnemonics, context).markdown())?,
        Format::Csv => context.print(&table::long(&groups, args.mnemonics).csv())?,
        Format::Json => context.print(&format!("{:#}\n", json::census(&file, &groups, &report)))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn by(args: &Args) -> By {
    match args.by {
        Some(GroupBy::Kernel) => By::Kernel,
        Some(GroupBy::Bundle) => By::Bundle,
        Some(GroupBy::Target) => By::Target,
        None if args.kernel.is_some() => By::Kernel,
        None => By::Target,
    }
}

pub fn select(args: &Args) -> anyhow::Result<Select> {
    let target = args.target.as_deref().map(parse_target).transpose()?;
    let kernel = args.kernel.as_deref().map(Regex::new).transpose().context("--kernel is no regular expression")?;
    Ok(Select { target, kernel })
}

pub fn parse_target(text: &str) -> anyhow::Result<TargetId> {
    TargetId::parse(text).with_context(|| {
        format!("{text} is no GPU target; they look like gfx1201, gfx90a:sramecc+:xnack- or gfx12-generic")
    })
}

/// Counts a whole file. What the inventory could not read is part of what was not counted.
pub fn census(
    file: &File,
    select: Select,
    by: By,
    hash: bool,
    context: &Context,
) -> anyhow::Result<(Groups, FileReport)> {
    let look = Census::new(select, by);
    let mut groups = Groups::new(by);
    let mut last = Instant::now();
    let report = inspect(file, &Options::default(), hash, &look, |bundle, objects| {
        for object in &objects {
            groups.add(object, &look.select);
        }
        if let Some(bundle) = bundle
            && last.elapsed() > Duration::from_secs(1)
        {
            last = Instant::now();
            let words = [("index", bundle.index.into()), ("offset", digits(bundle.offset).into())];
            context.progress(&context.lang.text_with("isa-progress", &words));
        }
        anyhow::Ok(())
    })?;
    for problem in report.all_problems() {
        groups.unread.push(Unread { what: file.path().display().to_string(), why: problem.to_string() });
    }
    Ok((groups, report))
}
