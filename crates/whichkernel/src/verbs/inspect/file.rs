//! One file: its content, its kernels, its code objects as files.

use super::extract::Extract;
use super::kernels::{self, Rows};
use super::{Args, bundle_table, has_target, launch_map, modules, nvidia, record, text};
use crate::bundle_progress::Progress;
use crate::context::{COULD_NOT_RUN, Context, Format};
use crate::emit::Plain;
use answer::Answer as _;
use findings::kernel_rows::{KernelRows, RowText};
use inventory::{File, FileReport, Options, inspect};
use observe::answers::{Extracted, FileAnswer, Kernels};
use observe::shipped::{Gather, Gathered};
use say::{Context as _, Say as _, bail, say};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use sys::files::{self, Access};

pub fn run(file: &File, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let path = file.path();
    if let Some(target) = &args.has_target {
        return has_target::run(file, target, args, context);
    }
    if args.launch_map {
        return launch_map::run(file, args, context);
    }
    let report = if args.kernels {
        list_kernels(file, args, context)?
    } else if args.bundles {
        bundle_table::run(file, args, context)?
    } else if args.modules {
        modules::run(file, args, context)?
    } else if let Some(dir) = &args.extract {
        extract(file, dir, args, context)?
    } else {
        overview(file, args, context)?
    };
    if args.record && (args.kernels || args.bundles || args.modules || args.extract.is_some()) {
        record::look(path, args, context)?;
    }
    Ok(verdict(path, &report, context))
}

fn overview(file: &File, args: &Args, context: &Context) -> say::Result<FileReport> {
    let mut progress = Progress::new(context, "inspect-progress");
    let target = args.wanted_target()?;
    let select = args.select()?;
    let wanted = target.as_ref().filter(|_| args.record);
    let mut kernels = Gathered::default();
    let gather = Gather { target: wanted, list: args.record };
    let hash = args.hash || args.record || args.format == Format::Json;
    let report = inspect(file, &Options::all(), hash, &gather, |bundle, found| {
        kernels.extend(found);
        progress.step(bundle)
    })?;
    if args.record {
        record::file(file.path(), &report, wanted, &kernels, context)?;
    }
    report.nvidia.iter().for_each(|found| nvidia::complain(file, found, context));
    select.check_target(&report)?;
    let named = |target: &str| select.named(target);
    context.emit_as(
        args.format,
        || FileAnswer::new(file.path(), &report, &named),
        |plain| match plain {
            Plain::Text => Ok(text::file(file.path(), &report, &select, context)),
            Plain::Csv | Plain::Md => bail!("command-formats-overview"),
        },
    )?;
    Ok(report)
}

fn list_kernels(file: &File, args: &Args, context: &Context) -> say::Result<FileReport> {
    let look = KernelRows { select: args.select()?, format: Rows(args.format) };
    match args.format {
        // Same form as `Kernels`, written incrementally.
        Format::Json => {
            let (schema, file) = (json!(Kernels::SCHEMA), json!(file.path().to_string_lossy()));
            context.print(&format!("{{\"schema\":{schema},\"file\":{file},\"kernels\":[\n"))?;
        }
        format => context.print(&kernels::header(format))?,
    }
    let mut rows = 0;
    let mut write = |out: RowText| {
        if args.format == Format::Json && rows > 0 && out.count > 0 {
            context.print(",\n")?;
        }
        rows += out.count;
        context.print(&out.rows)
    };
    let report = inspect(file, &Options::all(), false, &look, |_, out: RowText| write(out))?;
    if let Some(found) = &report.nvidia {
        nvidia::complain(file, found, context);
        write(look.nvidia(found))?;
    }
    if args.format == Format::Json {
        context.print("\n]}\n")?;
    }
    if !report.modules.is_empty() {
        let words = [("count", text::count(report.modules.len() as u64).into())];
        context.note(&context.lang.text_with("inspect-modules-apart", &words));
    }
    look.select.check_target(&report)?;
    look.select.check(file)?;
    Ok(report)
}

fn extract(file: &File, dir: &Path, args: &Args, context: &Context) -> say::Result<FileReport> {
    files::create_dir_all(dir, Access::Public).with_context(|| say!("command-cannot-make", path = dir))?;
    let look = Extract { select: args.select()?, dir: dir.to_owned(), names: Mutex::default() };
    let (mut files, mut bytes) = (0, 0);
    let report = inspect(file, &Options::all(), false, &look, |_, mut out: super::extract::Files| {
        if !out.failed.is_empty() {
            return Err(out.failed.swap_remove(0));
        }
        for (path, size) in out.written {
            files += 1;
            bytes += size;
            if args.format == Format::Csv {
                let mut line = String::new();
                report::csv_line(&mut line, [path.to_string_lossy().as_ref(), &size.to_string()].into_iter());
                context.print(&line)?;
            }
        }
        Ok(())
    })?;
    let words = [
        ("files", text::count(files).into()),
        ("bytes", text::count(bytes).into()),
        ("dir", dir.display().to_string().into()),
    ];
    let whole = || Extracted { dir: dir.to_string_lossy().into_owned(), files, bytes };
    context.emit_as(args.format, whole, |plain| {
        Ok(match plain {
            Plain::Csv => String::new(),
            Plain::Text | Plain::Md => format!("{}\n", context.lang.text_with("inspect-extracted", &words)),
        })
    })?;
    look.select.check_target(&report)?;
    Ok(report)
}

/// Reports errors on stderr, with file, offset and field. Readable content was already shown.
pub fn verdict(path: &Path, found: &FileReport, context: &Context) -> ExitCode {
    const SHOWN: usize = 20;
    let problems = found.all_problems().count();
    for error in found.all_problems().take(SHOWN) {
        let said = context.lang.written(&error.message());
        crate::context::tell(format_args!("whichkernel: {}", report::plain(&format!("{}: {said}", path.display()))));
    }
    if problems > SHOWN {
        let more = context.lang.say(&say!("inspect-more-problems", count = problems - SHOWN));
        crate::context::tell(format_args!("whichkernel: {}: {more}", report::plain(&path.display().to_string())));
    }
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) }
}
