//! `inspect PID`: the GPU stack that a process has loaded, and the edge that loaded each library.

use super::Args;
use crate::context::Context;
use crate::emit::Plain;
use evidence::Word;
use observe::answers::ProcessAnswer;
use observe::process::{Loaded, Process};
use report::{Column, Table};
use std::process::ExitCode;

pub fn run(pid: u32, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let process = Process::read(pid)?;
    if args.record {
        super::record::process(&process, context)?;
    }
    let plain = |plain| match plain {
        Plain::Csv => table(&process, true, context).csv(),
        Plain::Md => table(&process, false, context).markdown(),
        Plain::Text => text(&process, context),
    };
    context.emit_as(args.format, || ProcessAnswer::from(&process), |format| Ok(plain(format)))?;
    Ok(ExitCode::SUCCESS)
}

fn text(process: &Process, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = lang.text_with(
        "inspect-process",
        &[
            ("pid", process.pid.to_string().into()),
            ("name", process.name.clone().into()),
            ("program", process.program.display().to_string().into()),
        ],
    );
    out.push('\n');
    if !process.library_path.is_empty() {
        out += &format!("LD_LIBRARY_PATH={}\n", process.library_path);
    }
    if !process.preload.is_empty() {
        out += &format!("LD_PRELOAD={}\n", process.preload.join(" "));
    }
    let gpu = process.libraries.iter().filter(|library| library.part.is_some()).count();
    out.push('\n');
    if process.gpu_stack().word() == Word::No {
        out += &format!("{}\n", lang.text("inspect-process-no-stack"));
    } else {
        out += &table(process, false, context).text(context.width);
    }
    let others = process.libraries.len() - gpu;
    out += &format!("\n{}\n", lang.text_with("inspect-process-others", &[("count", others.into())]));
    for library in &process.libraries {
        let Some(problem) = library.problem.as_ref().map(|problem| lang.written(problem)) else { continue };
        let path = library.path.display().to_string();
        out += &format!(
            "{}\n",
            lang.text_with("inspect-process-unread", &[("path", path.into()), ("why", problem.into())])
        );
    }
    for archive in &process.archives {
        let words = [("path", archive.display().to_string().into())];
        out += &format!("{}\n", lang.text_with("inspect-process-kpack", &words));
    }
    out += &backends(process, context);
    let mixed = process.mixed_releases();
    if !mixed.is_empty() {
        let names = |list: &[&Loaded]| lang.list(list.iter().map(|library| name(library)));
        let said: Vec<String> = mixed.iter().map(|(release, list)| format!("{release}: {}", names(list))).collect();
        out += &format!("{}\n", lang.text_with("inspect-process-mixed", &[("releases", said.join("; ").into())]));
    }
    out + &format!("{}\n", lang.text("inspect-process-not-dispatched"))
}

/// The available ways to a GPU, and which of them ggml uses if there are several.
fn backends(process: &Process, context: &Context) -> String {
    let lang = &context.lang;
    let mut lines = Vec::new();
    let names = process.backends();
    let held = if process.devices.is_empty() { "-".to_owned() } else { lang.list(&process.devices) };
    let words = [("list", lang.list(&names).into()), ("held", held.into())];
    match names.as_slice() {
        [] => {}
        [_] => lines.push(lang.text_with("inspect-process-backend", &words)),
        _ => lines.push(lang.text_with("inspect-process-backends", &words)),
    }
    if let Some(vulkan) = process.vulkan() {
        let base = |paths: &[String]| {
            let names = paths.iter().filter_map(|path| path.rsplit('/').next());
            let names: Vec<&str> = names.collect();
            if names.is_empty() { "-".to_owned() } else { lang.list(names) }
        };
        let words = [
            ("loader", base(&vulkan.loader).into()),
            ("drivers", base(&vulkan.drivers).into()),
            ("layers", base(&vulkan.layers).into()),
        ];
        lines.push(lang.text_with("inspect-process-vulkan", &words));
        lines.extend(vulkan.stand_in.then(|| lang.text("inspect-process-stand-in")));
        lines.extend((vulkan.processor_only && !vulkan.stand_in).then(|| lang.text("inspect-process-lavapipe")));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The GPU stack for users; everything in a table for programs.
fn table(process: &Process, all: bool, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("library", title("inspect-column-library")),
        Column::left("version", title("inspect-column-version")),
        Column::left("release", title("inspect-column-release")),
        Column::left("origin", title("inspect-column-origin")),
        Column::left("how", title("inspect-column-how")),
        Column::left("needed_by", title("inspect-column-needed-by")),
        Column::left("path", title("inspect-column-path")),
    ]);
    for library in process.libraries.iter().filter(|library| all || library.part.is_some()) {
        let deleted = if library.deleted { context.lang.text("inspect-process-deleted") } else { String::new() };
        table.row([
            name(library),
            library.version.clone().unwrap_or_default(),
            library.release.clone().unwrap_or_default(),
            library.origin.name().to_owned(),
            library.how.name().to_owned(),
            library.needed_by.join(" "),
            format!("{}{deleted}", library.path.display()),
        ]);
    }
    table
}

fn name(library: &Loaded) -> String {
    let base = || library.path.file_name().map(|name| name.to_string_lossy().into_owned());
    library.soname.clone().or_else(base).unwrap_or_default()
}
