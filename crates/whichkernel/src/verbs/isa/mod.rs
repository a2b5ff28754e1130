//! `whichkernel isa FILE`: the instruction census.

mod has;
mod list;
mod record;
mod table;
mod text;

use super::several_inputs;
use crate::bundle_progress::Progress;
use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use ::runtime::inputs;
use findings::count::{census, no_kernel, no_kernel_in, nothing, parse_target};
use inventory::{File, FileReport, Pack, Unread};
use launch::NameFilter;
use observe::answers;
use observe::census::{By, Groups, Select, completeness};
use say::{Message, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Libraries, executables, code objects, offload bundles, CCOBs, kpack archives; static libraries and packages (.a,
    /// .whl, .zip, .deb, .tar); directories. Patterns (lib*.so) may be quoted
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Only this GPU target: gfx1201, gfx90a:xnack- (unnamed features match either way)
    #[arg(long, value_name = "GFX")]
    pub target: Option<String>,

    /// Only functions of this name (mangled, demangled or as displayed), or that match a regular expression
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,

    /// How to group the counts [default: by target; with --kernel, by kernel]
    #[arg(long, value_enum)]
    pub by: Option<GroupBy>,

    /// Count mnemonics instead of families
    #[arg(long)]
    pub mnemonics: bool,

    /// List the instructions of matching kernels: address, encoding, mnemonic
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["by", "mnemonics", "has", "record", "kernel"])]
    pub list: Option<String>,

    /// Check for instructions of this family (mfma; matrix matches all matrix families) or with this prefix (v_mfma). Exits 1 if there are none, 2 if
    /// none was found but not everything could be decoded (repeatable)
    #[arg(long, value_name = "WHAT", conflicts_with = "mnemonics")]
    pub has: Vec<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Record the counts in the ledger
    #[arg(long)]
    pub record: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GroupBy {
    Kernel,
    Bundle,
    Target,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let json = args.format == Format::Json;
    several_inputs::run(&args.files, json, context, |path| match inputs::pack(path) {
        Some(Pack::Ar) => {
            let (found, _) = inputs::members(&File::open(path)?)?;
            if found.is_empty() {
                bail!("isa-no-code", file = path);
            }
            let names: Vec<PathBuf> = found.iter().map(|file| file.path().to_owned()).collect();
            several_inputs::over(&names, json, context, |at, _| {
                found.get(at).map_or(Ok(ExitCode::SUCCESS), |file| one(file, args, context))
            })
        }
        Some(pack) => {
            let unpacked = inputs::unpack(path, pack)?;
            below(unpacked.root(), &unpacked.refused, args, context)
        }
        None if path.is_dir() => below(path, &[], args, context),
        None => one(&File::open(path)?, args, context),
    })
}

/// Every file below a directory that has AMD device code. A file that may have some but cannot be examined gives a
/// separate error. `refused`: files that were not even unpacked.
fn below(dir: &Path, refused: &[String], args: &Args, context: &Context) -> say::Result<ExitCode> {
    let (mut found, mut unread) = inputs::device_files(dir);
    unread.extend(refused.iter().map(|why| Unread::new(dir, Message::verbatim(why))));
    if found.is_empty() && unread.is_empty() {
        bail!("isa-no-code", file = dir);
    }
    let mut counted = Vec::new();
    if args.kernel.is_some() || args.list.is_some() || args.target.is_some() {
        (found, counted) = matching(found, !unread.is_empty(), args, context)?;
    }
    let code = found.len();
    found.extend(unread.iter().map(|one| one.path.clone()));
    let several = found.len() > 1 && args.format == Format::Text && !args.has.is_empty();
    several_inputs::over(&found, args.format == Format::Json, context, |at, path| {
        if let Some(unread) = at.checked_sub(code).and_then(|at| unread.get(at)) {
            bail!("isa-file-unread", path = unread);
        }
        if several {
            context.print(&format!("{}\n", path.display()))?;
        }
        let file = File::open(path)?;
        match counted.get_mut(at).and_then(Option::take) {
            Some(counted) => show(&file, counted, args, context),
            None => one(&file, args, context),
        }
    })
}

/// The files of a directory that the filters match, with their counts, and those that can't be read. Other files are no
/// errors, if one matches.
fn matching(
    found: Vec<PathBuf>,
    some_unread: bool,
    args: &Args,
    context: &Context,
) -> say::Result<(Vec<PathBuf>, Vec<Option<Counted>>)> {
    let wanted = args.list.as_deref().or(args.kernel.as_deref()).map(NameFilter::new).transpose()?;
    let target = select(args)?.target;
    let missed = |groups: &Groups| groups.objects == 0 || wanted.is_some() && groups.matched == 0;
    let mut kept = (Vec::new(), Vec::new());
    for path in &found {
        let counted = match (File::open(path), &args.list) {
            (Err(_), ..) => None,
            (Ok(file), Some(kernel)) => {
                if list::find(&file, kernel, args).is_ok_and(|found| found.is_empty()) {
                    continue;
                }
                None
            }
            (Ok(file), ..) => match count(&file, args, context) {
                Ok((groups, _)) if groups.unread.is_empty() && missed(&groups) => continue,
                Ok(counted) => Some(counted),
                // Reported in its turn.
                Err(_) => None,
            },
        };
        kept.0.push(path.clone());
        kept.1.push(counted);
    }
    match wanted {
        _ if !kept.0.is_empty() || some_unread => Ok(kept),
        Some(wanted) => Err(no_kernel_in(&found, target.as_ref(), &wanted)),
        None => Ok((found, Vec::new())),
    }
}

fn one(file: &File, args: &Args, context: &Context) -> say::Result<ExitCode> {
    if let Some(kernel) = &args.list {
        return list::run(file, kernel, args, context);
    }
    show(file, count(file, args, context)?, args, context)
}

type Counted = (Groups, FileReport);

fn count(file: &File, args: &Args, context: &Context) -> say::Result<Counted> {
    let mut progress = Progress::new(context, "isa-progress");
    census(file, select(args)?, by(args), (args.record, false), |bundle| progress.step(bundle))
}

fn show(file: &File, (groups, report): Counted, args: &Args, context: &Context) -> say::Result<ExitCode> {
    if groups.objects == 0 {
        return Err(nothing(file.path(), args.target.as_deref(), &groups, &report));
    }
    if let Some(kernel) = args.kernel.as_deref().filter(|_| groups.matched == 0) {
        let target = args.target.as_deref().map(parse_target).transpose()?;
        return Err(no_kernel(file, target.as_ref(), &NameFilter::new(kernel)?));
    }
    if args.record {
        record::run(file, &groups, &report, context)?;
    }
    if !args.has.is_empty() {
        return has::run(&args.has, &groups, args.format, context);
    }
    let plain = |plain| match plain {
        Plain::Text => text::census(file, &groups, args.mnemonics, context),
        Plain::Md => table::of(&groups, args.mnemonics, context).markdown(),
        Plain::Csv => table::long(&groups, args.mnemonics).csv(),
    };
    context.emit_as(args.format, || answers::census(file, &groups, &report), |format| Ok(plain(format)))?;
    // Counts that are lower bounds are incomplete: a script must not rely on them.
    let whole = completeness(&groups).is_whole();
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
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

pub fn select(args: &Args) -> say::Result<Select> {
    let target = args.target.as_deref().map(parse_target).transpose()?;
    let kernel = args.kernel.as_deref().map(NameFilter::new).transpose()?;
    Ok(Select { target, kernel })
}
