//! `--has-target`: would a GPU of this target find kernels in the file? 0 yes, 1 no, 2 unknown.

use super::Args;
use super::file::verdict;
use super::text::count;
use crate::bundle_progress::Progress;
use crate::context::{Context, Format};
use crate::emit::exit_code;
use evidence::Word;
use gpu::{Arch, How};
use inventory::{File, FileReport, Nothing, Options, Serves, inspect};
use observe::answers::HasTarget;
use observe::shipped::presence;
use std::process::ExitCode;

pub fn run(file: &File, target: &str, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let wanted = Arch::parse(target)?;
    let mut progress = Progress::new(context, "inspect-progress");
    let report =
        inspect(file, &Options::all(), args.format == Format::Json, &Nothing, |bundle, ()| progress.step(bundle))?;
    let serves = report.serves(&wanted);
    let whole = || HasTarget::new(file.path(), &report, &wanted, &serves);
    context.emit_as(args.format, whole, |_| Ok(sentence(file, &wanted, &serves, &report, context)))?;
    verdict(file.path(), &report, context);
    Ok(exit_code(&presence(file.path(), &report, &serves)))
}

/// Yes, No or Not known, with the reason.
pub fn sentence(file: &File, wanted: &Arch, serves: &Serves, report: &FileReport, context: &Context) -> String {
    let conclusion = presence(file.path(), report, serves);
    let key = match (conclusion.word(), serves.how, serves.taken.is_some()) {
        (Word::Yes, Some(How::Generic), _) => "inspect-has-target-generic",
        (Word::Yes, Some(How::Compiled), _) => "inspect-has-target-compiled",
        (Word::Yes, ..) => "inspect-has-target",
        (Word::No, _, true) => "inspect-has-stubs-only",
        (Word::No, ..) => "inspect-has-not-target",
        (Word::Partly | Word::NotKnown, ..) => "inspect-target-unknown",
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
