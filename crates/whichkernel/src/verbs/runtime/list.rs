//! `runtime list`: what is in the cache, with sizes and versions.

use super::words::bytes;
use crate::context::{Context, Format};
use report::{Column, Table};
use runtime::{Cache, Index, index};
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// text, json, csv or md
    #[arg(long, default_value = "text")]
    format: Format,
    /// Show one runtime's packages instead
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let cache = Cache::from_env();
    match &args.name {
        Some(name) => packages(&Index::read(&cache.runtime(name))?, args.format, context)?,
        None => all(&cache, args.format, context)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn all(cache: &Cache, format: Format, context: &Context) -> anyhow::Result<()> {
    let lang = &context.lang;
    let runtimes = index::list(cache);
    if format == Format::Json {
        let entries: Vec<_> = runtimes
            .iter()
            .map(|(name, index)| match index {
                Ok(index) => json!({"name": name, "path": cache.runtime(name), "index": index}),
                Err(error) => json!({"name": name, "path": cache.runtime(name), "error": error.to_string()}),
            })
            .collect();
        let value = json!({"schema": "whichkernel.runtime/1", "cache": cache.dir(), "runtimes": entries});
        return context.print(&format!("{value:#}\n"));
    }
    if runtimes.is_empty() && format == Format::Text {
        return context.print(&format!("{}\n", lang.text("runtime-list-empty")));
    }
    let mut table = Table::new(vec![
        Column::left("name", lang.text("runtime-name")),
        Column::right("size", lang.text("runtime-size")),
        Column::right("files", lang.text("runtime-files")),
        Column::left("parts", lang.text("runtime-parts")),
        Column::left("targets", lang.text("runtime-targets")),
        Column::left("versions", lang.text("runtime-versions")),
        Column::left("date", lang.text("runtime-date")),
        Column::left("origin", lang.text("runtime-origin")),
    ]);
    for (name, index) in &runtimes {
        match index {
            Ok(index) => table.row([
                name.clone(),
                bytes(index.bytes),
                index.files.to_string(),
                index.parts.join(","),
                targets(index, context),
                versions(index),
                index.date.get(..10).unwrap_or_default().to_owned(),
                index.origin.clone(),
            ]),
            Err(error) => table.row([name.clone(), String::new(), String::new(), error.to_string()]),
        }
    }
    context.print(&render(&table, format, context))
}

fn packages(index: &Index, format: Format, context: &Context) -> anyhow::Result<()> {
    let lang = &context.lang;
    if format == Format::Json {
        return context.print(&format!("{:#}\n", serde_json::to_value(index)?));
    }
    let mut table = Table::new(vec![
        Column::left("package", lang.text("runtime-package")),
        Column::left("version", lang.text("runtime-version")),
        Column::right("size", lang.text("runtime-size")),
        Column::right("files", lang.text("runtime-files")),
        Column::right("skipped_files", lang.text("runtime-skipped")),
        Column::left("sha256", "SHA-256"),
    ]);
    for package in &index.packages {
        table.row([
            package.package.clone(),
            package.version.clone(),
            bytes(package.bytes),
            package.files.to_string(),
            package.skipped_files.to_string(),
            package.sha256.clone(),
        ]);
    }
    context.print(&render(&table, format, context))
}

pub fn render(table: &Table, format: Format, context: &Context) -> String {
    match format {
        Format::Csv => table.csv(),
        Format::Md => table.markdown(),
        _ => table.text(context.width),
    }
}

/// Which targets' kernel libraries came; a runtime without such libraries has none to name.
fn targets(index: &Index, context: &Context) -> String {
    let split = index.parts.iter().any(|part| part == "rocblas" || part == "hipblaslt");
    match (index.targets.is_empty(), split) {
        (false, _) => index.targets.join(","),
        (true, true) => context.lang.text("runtime-all-targets"),
        (true, false) => String::new(),
    }
}

/// The packages that name the runtime, without the libraries they rest on.
fn versions(index: &Index) -> String {
    const TELLING: [&str; 5] = ["libggml0", "llama.cpp-tools", "librocblas", "libhipblaslt", "libamdhip64"];
    let telling = |name: &str| {
        TELLING
            .iter()
            .any(|start| name == *start || name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-') == *start)
    };
    let all = index.packages.iter().filter(|package| telling(&package.package));
    all.map(|package| format!("{} {}", package.package, package.version)).collect::<Vec<_>>().join(", ")
}
