//! Several inputs for one verb: files, patterns, packages. Each is answered by itself; the exit code is the worst of all.

use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use runtime::inputs;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs `each` on every input. With several and JSON, the answers stand in one array, an error in the place of its answer.
pub fn run(
    given: &[PathBuf],
    json: bool,
    context: &Context,
    mut each: impl FnMut(&Path) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let all = inputs::expand(given)?;
    over(&all, json, context, |_, path| each(path))
}

/// The same for what is named already.
pub fn over(
    all: &[PathBuf],
    json: bool,
    context: &Context,
    mut each: impl FnMut(usize, &Path) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    if let [one] = all {
        return each(0, one);
    }
    if json {
        context.print("{\"schema\":\"whichkernel.many/1\",\"answers\":[\n")?;
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
                    let value = json!({ "file": path.to_string_lossy(), "error": format!("{error:#}") });
                    context.print(&format!("{comma}{value}\n"))?;
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
