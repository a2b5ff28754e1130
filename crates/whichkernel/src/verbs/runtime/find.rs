//! `runtime find`: Ollama, llama.cpp, ROCm and CUDA on this machine.

use crate::context::{Context, Format};
use crate::emit::Show;
use report::bytes;
use report::{Column, Lang, Table};
use runtime::Findings;
use std::{path::Path, process::ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// text, json, csv or md
    #[arg(long, default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    context.emit(args.format, &Findings::from(runtime::find::find(Path::new("/"))))?;
    Ok(ExitCode::SUCCESS)
}

impl Show for Findings {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("kind", lang.text("runtime-kind")),
            Column::left("path", lang.text("runtime-path")),
            Column::left("version", lang.text("runtime-version")),
            Column::right("libraries", lang.text("runtime-libraries")),
            Column::right("size", lang.text("runtime-size")),
            Column::left("by", lang.text("runtime-found-by")),
        ]);
        for one in &self.found {
            table.row([
                one.kind.name(),
                &one.path,
                one.version.as_deref().unwrap_or_default(),
                &one.libraries.len().to_string(),
                &bytes(one.libraries.iter().map(|library| library.size).sum()),
                &one.by,
            ]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        if self.found.is_empty() {
            return format!("{}\n", context.lang.text("runtime-find-nothing"));
        }
        self.table(&context.lang).map(|table| table.text(context.width)).unwrap_or_default()
    }
}
