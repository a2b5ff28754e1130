//! `whichkernel explain`: why this kernel, at once and offline, from the decision tables that come with the program; and
//! what the words mean.

mod ask;
mod export;
mod screen;

use crate::context::{Context, Format};
use ask::{Asked, Question};
use report::terms;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// What you have, in any order: a GPU (9070xt, "AMD Radeon RX 9070 XT", rtx-4090, gfx1201), a type (Q4_K, Q4_K_M), a
    /// number of tokens, a version (0.12.6, b9999); or a word to look up (MMVQ, ne11, rung)
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,

    /// The GPU: a card (rx-9070-xt) or a target (gfx1201, sm_90)
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,

    /// Type of the weights, or of the file (Q4_K_M) [default: Q4_K]
    #[arg(long = "type", value_name = "TYPE")]
    pub ty: Option<String>,

    /// Columns: tokens in one micro-batch [default: all there are]
    #[arg(long, value_name = "N")]
    pub columns: Option<i64>,

    /// Whose rules: b10586, 0.12.6, ollama@0.12.6, 4fda6980 [default: the newest llama.cpp there is a table of]
    #[arg(long = "source", alias = "version", value_name = "VERSION", id = "release")]
    pub version: Option<String>,

    /// List the words that can be looked up
    #[arg(long, exclusive = true)]
    pub terms: bool,

    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let lang = &context.lang;
    if args.terms {
        let list: Vec<&str> = terms().collect();
        let text = lang.text_with("glossary-list", &[("terms", list.join(", ").into())]);
        let lines = report::wrap(&text, context.width.unwrap_or(usize::MAX));
        context.print(&format!("{}\n", lines.join("\n")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match ask::asked(args, lang)? {
        Asked::Term { written, text } => match args.format {
            Format::Json => {
                let value = serde_json::json!({"schema": "whichkernel.term/1", "term": written, "text": text});
                format!("{value:#}\n")
            }
            _ => screen::term(written, &text, context),
        },
        Asked::Kernel(question) => kernel(args.format, &question, context)?,
    };
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn kernel(format: Format, question: &Question, context: &Context) -> anyhow::Result<String> {
    Ok(match format {
        Format::Json => format!("{:#}\n", export::json(question)?),
        Format::Csv => export::others(question, context).csv(),
        Format::Md => export::others(question, context).markdown(),
        Format::Text => screen::kernel(question, context),
    })
}
