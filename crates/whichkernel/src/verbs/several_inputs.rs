//! Several inputs for one verb: files, patterns, packages. Each is answered separately; the exit code is the worst of
//! all.

use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, said};
use crate::emit::Failure;
use answer::Answer;
use runtime::inputs;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The answers for several inputs, in the given order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Many {
    /// Each answer as for a single input, with its own schema; `whichkernel.error/1` with the file for an input that
    /// failed.
    pub answers: Vec<Value>,
}

impl Answer for Many {
    const SCHEMA: &'static str = "whichkernel.many/1";
}

/// Runs `each` on every input. With several inputs and JSON, the answers are in one array, with errors in place of
/// missing answers.
pub fn run(
    given: &[PathBuf],
    json: bool,
    context: &Context,
    mut each: impl FnMut(&Path) -> say::Result<ExitCode>,
) -> say::Result<ExitCode> {
    let all = inputs::expand(given)?;
    over(&all, json, context, |_, path| each(path))
}

/// Like [`run`], for inputs that are already listed.
pub fn over(
    all: &[PathBuf],
    json: bool,
    context: &Context,
    mut each: impl FnMut(usize, &Path) -> say::Result<ExitCode>,
) -> say::Result<ExitCode> {
    if let [one] = all {
        return each(0, one);
    }
    if json {
        // Same form as `Many`, written incrementally.
        context.print(&format!("{{\"schema\":\"{}\",\"answers\":[\n", Many::SCHEMA))?;
    }
    let mut worst = 0;
    for (i, path) in all.iter().enumerate() {
        if i > 0 {
            context.print(if json { ",\n" } else { "\n" })?;
        }
        let before = context.written();
        match each(i, path) {
            Ok(code) => worst = worst.max(rank(code)),
            Err(error) => {
                worst = COULD_NOT_RUN;
                if json {
                    let comma = if context.written() > before { "," } else { "" };
                    let file = Some(path.to_string_lossy().into_owned());
                    let failure = Failure { file, ..Failure::new(said(&error, &report::Lang::ENGLISH)) };
                    context.print(&format!("{comma}{}", answer::json(&failure)?))?;
                }
                crate::context::fail(&error, false, &context.lang);
            }
        }
    }
    if json {
        context.print("]}\n")?;
    }
    Ok(ExitCode::from(worst))
}

fn rank(code: ExitCode) -> u8 {
    if code == ExitCode::SUCCESS {
        0
    } else if code == ExitCode::from(CHECK_FAILED) {
        CHECK_FAILED
    } else {
        COULD_NOT_RUN
    }
}
