//! `--has-target`: would a GPU of this target find kernels in the file? 0 yes, 1 no, 2 nobody can say.

use super::file::{Progress, verdict};
use super::select::Select;
use super::text::count;
use super::{Args, json};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use gpu::{Arch, How};
use inventory::{File, FileReport, Nothing, Options, Serves, inspect};
use observe::shipped::presence;
use serde_json::json;
use std::process::ExitCode;

pub fn run(file: &File, target: &str, args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let wanted = Arch::parse(target)?;
    let mut progress = Progress::new(context);
    let report =
        inspect(file, &Options::all(), args.format == Format::Json, &Nothing, |bundle, ()| progress.step(bundle))?;
    let serves = report.serves(&wanted);
    let conclusion = presence(file.path(), &report, &serves);
    if args.format == Format::Json {
        let mut value = json::file(file.path(), &report, &Select::new(args)?);
        value["has_target"] = json!({
            "target": wanted.to_string(),
            "answer": serves.answer(),
            "taken": serves.taken,
            "how": serves.how.map(How::key),
            "kernels": serves.kernels,
            "stubs": serves.stubs,
            "conclusion": conclusion,
        });
        context.print(&format!("{value:#}\n"))?;
    } else {
        context.print(&sentence(file, &wanted, &serves, &report, context))?;
    }
    let problems = verdict(file.path(), &report);
    Ok(match serves.answer() {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::from(CHECK_FAILED),
        None if problems == ExitCode::SUCCESS => ExitCode::from(COULD_NOT_RUN),
        None => problems,
    })
}

/// Yes, No or Not known, and why.
pub fn sentence(file: &File, wanted: &Arch, serves: &Serves, report: &FileReport, context: &Context) -> String {
    let conclusion = presence(file.path(), report, serves);
    let key = match (serves.answer(), serves.how, serves.taken.is_some()) {
        (Some(true), Some(How::Generic), _) => "inspect-has-target-generic",
        (Some(true), Some(How::Compiled), _) => "inspect-has-target-compiled",
        (Some(true), ..) => "inspect-has-target",
        (Some(false), _, true) => "inspect-has-stubs-only",
        (Some(false), ..) => "inspect-has-not-target",
        (None, ..) => "inspect-target-unknown",
    };
    let words = [
        ("target", wanted.to_string().into()),
        ("file", file.path().display().to_string().into()),
        ("taken", serves.taken.clone().unwrap_or_default().into()),
        ("kernels", count(serves.live()).into()),
        ("stubs", count(serves.stubs).into()),
        ("bytes", count(report.size).into()),
        ("gaps", report::gaps(&context.lang, &conclusion).unwrap_or_default().into()),
    ];
    let word = context.lang.text(&format!("answer-{}", conclusion.word().key()));
    format!("{word}: {}\n", context.lang.text_with(key, &words))
}
