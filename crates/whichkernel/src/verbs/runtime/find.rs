//! `runtime find`: Ollama, llama.cpp, ROCm and CUDA on this machine.

use super::{list::render, words::bytes};
use crate::context::{Context, Format};
use report::{Column, Table};
use serde_json::json;
use std::{path::Path, process::ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// text, json, csv or md
    #[arg(long, default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let lang = &context.lang;
    let found = runtime::find::find(Path::new("/"));
    if args.format == Format::Json {
        let entries: Vec<_> = found
            .iter()
            .map(|one| {
                let libraries: Vec<_> =
                    one.libraries.iter().map(|library| json!({"path": library.path, "size": library.size})).collect();
                json!({"kind": one.kind.name(), "path": one.path, "version": one.version, "by": one.by, "libraries": libraries})
            })
            .collect();
        context.print(&format!("{:#}\n", json!({"schema": "whichkernel.runtime/1", "found": entries})))?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() && args.format == Format::Text {
        context.print(&format!("{}\n", lang.text("runtime-find-nothing")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(vec![
        Column::left("kind", lang.text("runtime-kind")),
        Column::left("path", lang.text("runtime-path")),
        Column::left("version", lang.text("runtime-version")),
        Column::right("libraries", lang.text("runtime-libraries")),
        Column::right("size", lang.text("runtime-size")),
        Column::left("by", lang.text("runtime-found-by")),
    ]);
    for one in &found {
        table.row([
            one.kind.name().to_owned(),
            one.path.display().to_string(),
            one.version.clone().unwrap_or_default(),
            one.libraries.len().to_string(),
            bytes(one.libraries.iter().map(|library| library.size).sum()),
            one.by.clone(),
        ]);
    }
    context.print(&render(&table, args.format, context))?;
    Ok(ExitCode::SUCCESS)
}
