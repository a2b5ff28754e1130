//! The investigation as pages: HTML in a folder or in one file, from the ledger only.

use crate::context::Context;
use crate::graded::chosen;
use crate::pages::{Gathered, browse};
use crate::web_module;
use say::{Context as _, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};

mod args;
mod bundle;
mod export;
mod publish;
mod serve;

pub use args::Args;

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if let Some(args::What::Bundle(args)) = &args.what {
        return bundle::run(args, context);
    }
    if args.serve {
        return serve::run(chosen(args.file.as_deref(), context)?, args.port, args.open, context);
    }
    let investigation = chosen(args.file.as_deref(), context)?;
    if let Some(dir) = &args.publish {
        return publish::run(args, dir, investigation, context);
    }
    let gathered = Gathered::from_ledger(investigation, &context.ledger);
    if let Some(problem) = &gathered.problem {
        context.note(&context.lang.text_with("report-problem", &[("what", problem.as_str().into())]));
    }
    if let Some(what) = args.export {
        let path = export::write(&gathered, what, &args.given, args.out.as_deref(), context)?;
        context
            .print(&format!("{}\n", context.lang.text_with("report-at", &[("path", path.to_string_lossy().into())])))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut site = gathered.site(args.single_file);
    if let Some(module) = web_module::read(args.web.as_deref())?.filter(|_| !args.single_file) {
        site.add_module(module);
    }
    let path = if args.single_file {
        let path = args.out.clone().unwrap_or_else(|| PathBuf::from("report.html"));
        files::replace(&path, Access::Public, site.single_file())
            .with_context(|| say!("command-cannot-write", path))?;
        path
    } else {
        site.write(args.out.as_deref().unwrap_or(Path::new("report")))?
    };
    say(&path, site.size(), context)?;
    if args.open {
        browse(&path)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn say(path: &Path, size: usize, context: &Context) -> say::Result<()> {
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let size = format!("{:.1} MB", size as f64 / 1e6);
    let args = [("path", shown.to_string_lossy().into()), ("size", size.into())];
    context.print(&format!("{}\n", context.lang.text_with("report-written", &args)))
}
