//! `whichkernel schema`: the JSON Schemas of every verb's answers, for programs.

use crate::answers;
use crate::context::{Context, Format};
use crate::emit::Show;
use report::{Column, Lang, Table, help_text};
use say::bail;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The `schema` field of an answer, or its short name: ledger-list
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Output format: text, json, csv or md
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "name")]
    format: Format,
}

/// The JSON answers of this version.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kinds {
    answers: Vec<Kind>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Kind {
    /// The value of the field `schema`.
    name: &'static str,
    about: String,
}

impl answer::Answer for Kinds {
    const SCHEMA: &'static str = "whichkernel.schema-list/1";
}

impl Show for Kinds {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let columns =
            vec![Column::left("name", lang.text("schema-name")), Column::left("about", lang.text("schema-about"))];
        let mut table = Table::new(columns);
        for one in &self.answers {
            table.row([one.name, &help_text(lang, &one.about)]);
        }
        Some(table)
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let mut kinds = answers::all();
    kinds.sort_by_key(answer::Kind::name);
    let Some(name) = &args.name else {
        let answers = kinds.iter().map(|kind| Kind { name: kind.name(), about: kind.about() }).collect();
        context.emit(args.format, &Kinds { answers })?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(kind) = kinds.iter().find(|kind| kind.is(name)) else {
        bail!("schema-unknown", name);
    };
    context.print(&format!("{:#}\n", kind.schema()))?;
    Ok(ExitCode::SUCCESS)
}
