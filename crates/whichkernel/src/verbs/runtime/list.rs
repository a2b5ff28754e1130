//! `runtime list`: the content of the cache, with sizes and versions.

use crate::context::{Context, Format};
use crate::emit::Show;
use report::bytes;
use report::{Column, Lang, Table};
use runtime::{Cache, Holdings, Index, State};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// text, json, csv or md
    #[arg(long, default_value = "text")]
    format: Format,
    /// Show the packages of this runtime instead of the list
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let cache = Cache::from_env();
    match &args.name {
        Some(name) => context.emit(args.format, &Index::read(&cache.runtime(name))?)?,
        None => context.emit(args.format, &Holdings::of(&cache))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Show for Holdings {
    fn table(&self, lang: &Lang) -> Option<Table> {
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
        for one in &self.runtimes {
            match &one.state {
                State::Index(index) => table.row([
                    one.name.clone(),
                    bytes(index.bytes),
                    index.files.to_string(),
                    index.parts.join(","),
                    targets(index, lang),
                    versions(index),
                    index.date.get(..10).unwrap_or_default().to_owned(),
                    index.origin.clone(),
                ]),
                State::Error(error) => table.row([one.name.as_str(), "", "", error]),
            }
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        if self.runtimes.is_empty() {
            return format!("{}\n", context.lang.text("runtime-list-empty"));
        }
        self.table(&context.lang).map(|table| table.text(context.width)).unwrap_or_default()
    }
}

impl Show for Index {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("package", lang.text("runtime-package")),
            Column::left("version", lang.text("runtime-version")),
            Column::right("size", lang.text("runtime-size")),
            Column::right("files", lang.text("runtime-files")),
            Column::right("skipped_files", lang.text("runtime-skipped")),
            Column::left("sha256", "SHA-256"),
        ]);
        for package in &self.packages {
            table.row([
                package.package.clone(),
                package.version.clone(),
                bytes(package.bytes),
                package.files.to_string(),
                package.skipped_files.to_string(),
                package.sha256.clone(),
            ]);
        }
        Some(table)
    }
}

/// The targets whose kernel libraries were fetched; a runtime without such libraries has none.
fn targets(index: &Index, lang: &Lang) -> String {
    let split = index.parts.iter().any(|part| part == "rocblas" || part == "hipblaslt");
    match (index.targets.is_empty(), split) {
        (false, _) => index.targets.join(","),
        (true, true) => lang.text("runtime-all-targets"),
        (true, false) => String::new(),
    }
}

/// The packages that name the runtime, without their dependencies.
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
