//! `whichkernel skeleton`: a model of any known shape, with a realistic mix of types and no weights, for any program.

use crate::context::{Context, Format};
use crate::emit::Show;
use gguf::{Mix, Shapes, Skeleton, Written, known, skeleton_of};
use report::{Column, Lang, Table};
use say::Context as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::files::{self, Access};
use sys::unix::MetadataExt;

/// Write a model of any shape without weights, for dry runs of any program // The file has all shapes, types and
/// metadata that a loader needs. The weights are a hole that reads as zeros, so the file takes almost no disk space. It
/// is for `whichkernel dryrun`: the results that a program computes with it are meaningless.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model shape: llama-3.1-8b, gpt-oss-20b, deepseek-r1, gemma-3-4b, qwen3-30b-a3b ... (see --list)
    #[arg(value_name = "SHAPE", required_unless_present = "list")]
    shape: Option<String>,

    /// A tensor type for all matrices (Q4_K, F16), or a mix as in llama-quantize (Q4_K_M, MXFP4_MOE)
    #[arg(long = "type", value_name = "TYPE", default_value = "Q4_K_M")]
    kind: String,

    /// Number of layers, or 0 for as many as the model has; matrix kinds that are missing, or only in the last layer, are listed
    #[arg(long, value_name = "N", default_value = "2")]
    layers: u32,

    /// Omit the vocabulary and write only numbered tokens, which work for a benchmark but not for a server
    #[arg(long)]
    no_words: bool,

    /// The file to write; an existing file is not overwritten
    #[arg(long, short, value_name = "FILE", required_unless_present = "list")]
    output: Option<PathBuf>,

    /// List the known shapes
    #[arg(long)]
    list: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let (Some(shape), Some(output), false) = (&args.shape, &args.output, args.list) else {
        context.emit(args.format, &Shapes::known()?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let shape = known(shape)?;
    let mix = Mix::parse(&args.kind)?;
    let layers = if args.layers == 0 { shape.layers } else { args.layers.min(1000) };
    let made = skeleton_of(&shape, mix, layers, !args.no_words)?;
    let on_disk = write(output, &made).about(output.display())?;
    let file = output.display().to_string();
    let written = Written::new(file, &shape, (mix, layers), &made, on_disk)?;
    context.emit(args.format, &written)?;
    Ok(ExitCode::SUCCESS)
}

impl Show for Written {
    fn table(&self, _: &Lang) -> Option<Table> {
        None
    }

    fn text(&self, context: &Context) -> String {
        let types: Vec<String> = self.tensors.iter().map(|(name, count)| format!("{name} x{count}")).collect();
        let args = [
            ("file", self.file.as_str().into()),
            ("shape", self.shape.into()),
            ("mix", self.mix.as_str().into()),
            ("layers", self.layers.into()),
            ("types", context.lang.list(&types).into()),
            ("megabytes", (self.bytes >> 20).into()),
            ("kilobytes", self.bytes_on_disk.div_ceil(1024).into()),
        ];
        let mut out = format!("{}\n", context.lang.text_with("skeleton-written", &args));
        if !self.absent.is_empty() {
            let args = [("list", context.lang.list(&self.absent).into())];
            out.push_str(&format!("{}\n", context.lang.text_with("skeleton-absent", &args)));
        }
        out
    }
}

/// Writes the header, then a hole. Returns the bytes that it takes on disk.
fn write(path: &Path, made: &Skeleton) -> std::io::Result<u64> {
    let mut file = files::create_new(path, Access::Public)?;
    let written = file.write_all(&made.header).and_then(|()| file.set_len(made.file_size));
    match written.and_then(|()| file.metadata()) {
        Ok(metadata) => Ok(metadata.blocks() * 512),
        Err(error) => {
            let _ = files::remove(path);
            Err(error)
        }
    }
}

impl Show for Shapes {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("shape", lang.text("skeleton-shape")),
            Column::left("architecture", lang.text("skeleton-architecture")),
            Column::right("layers", lang.text("skeleton-layers")),
            Column::right("width", lang.text("skeleton-width")),
            Column::left("experts", lang.text("skeleton-experts")),
        ]);
        for one in &self.shapes {
            let experts = one.experts.map(|e| format!("{} / {}", e.used, e.count)).unwrap_or_default();
            let (layers, width) = (one.layers.to_string(), one.width.to_string());
            table.row([one.shape.into(), one.architecture.into(), layers, width, experts]);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let table = self.table(&context.lang).map(|table| table.text(context.width)).unwrap_or_default();
        let args = [("mixes", context.lang.list(&self.mixes).into())];
        format!("{table}\n{}\n", context.lang.text_with("skeleton-mixes", &args))
    }
}
