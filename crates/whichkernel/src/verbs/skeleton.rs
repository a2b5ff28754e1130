//! `whichkernel skeleton`: a model of any known shape, with the real mix of types and no weights, for any program.

use crate::context::{Context, Format};
use anyhow::Context as _;
use gguf::{Gguf, Mix, Skeleton, known, names, skeleton_of};
use report::{Column, Table};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write a model of any shape without weights, for a dry run of any program
///
/// The file has all shapes, types and metadata that a loader asks for; the weights are a hole that reads as zeros, so it takes
/// next to no room on disk. It is for `whichkernel dryrun`: what a program computes with it means nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model's shape: llama-3.1-8b, gpt-oss-20b, deepseek-r1, gemma-3-4b, qwen3-30b-a3b ... (--list names all)
    #[arg(value_name = "SHAPE", required_unless_present = "list")]
    shape: Option<String>,

    /// A tensor type for every matrix (Q4_K, F16), or a mix as llama-quantize makes it (Q4_K_M, MXFP4_MOE)
    #[arg(long = "type", value_name = "TYPE", default_value = "Q4_K_M")]
    kind: String,

    /// Layers; two hold every kind of matrix and both types of a mix. 0: as many as the model has
    #[arg(long, value_name = "N", default_value = "2")]
    layers: u32,

    /// Without a vocabulary: numbered tokens only, which a benchmark takes and a server does not
    #[arg(long)]
    no_words: bool,

    /// The file to write; one that exists is left alone
    #[arg(long, short, value_name = "FILE", required_unless_present = "list")]
    output: Option<PathBuf>,

    /// List the shapes that are known
    #[arg(long)]
    list: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let (Some(shape), Some(output), false) = (&args.shape, &args.output, args.list) else {
        return list(args.format, context);
    };
    let shape = known(shape)?;
    let mix = Mix::parse(&args.kind)?;
    let layers = if args.layers == 0 { shape.layers } else { args.layers.min(1000) };
    let made = skeleton_of(&shape, mix, layers, !args.no_words)?;
    let on_disk = write(output, &made).with_context(|| output.display().to_string())?;
    let mut types: BTreeMap<String, u64> = BTreeMap::new();
    for tensor in Gguf::parse(&made.header)?.tensors {
        *types.entry(tensor.kind.name()).or_default() += 1;
    }
    let out = match args.format {
        Format::Json => {
            let value = json!({
                "schema": "whichkernel.skeleton/1", "file": output, "shape": shape.name,
                "architecture": shape.architecture, "type": mix.name(), "layers": layers, "tensors": types,
                "bytes": made.file_size, "bytes_on_disk": on_disk,
            });
            format!("{}\n", serde_json::to_string_pretty(&value)?)
        }
        _ => {
            let types: Vec<String> = types.iter().map(|(name, count)| format!("{name} x{count}")).collect();
            let args = [
                ("file", output.display().to_string().into()),
                ("shape", shape.name.into()),
                ("mix", mix.name().into()),
                ("layers", layers.into()),
                ("types", types.join(", ").into()),
                ("megabytes", (made.file_size >> 20).into()),
                ("kilobytes", on_disk.div_ceil(1024).into()),
            ];
            format!("{}\n", context.lang.text_with("skeleton-written", &args))
        }
    };
    context.print(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// The header, then a hole. Bytes that it takes on disk.
fn write(path: &Path, made: &Skeleton) -> std::io::Result<u64> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(&made.header).and_then(|()| file.set_len(made.file_size));
    match written.and_then(|()| file.metadata()) {
        Ok(metadata) => Ok(metadata.blocks() * 512),
        Err(error) => {
            let _ = std::fs::remove_file(path);
            Err(error)
        }
    }
}

fn list(format: Format, context: &Context) -> anyhow::Result<ExitCode> {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("shape", title("skeleton-shape")),
        Column::left("architecture", title("skeleton-architecture")),
        Column::right("layers", title("skeleton-layers")),
        Column::right("width", title("skeleton-width")),
        Column::left("experts", title("skeleton-experts")),
    ]);
    for name in names() {
        let shape = known(name)?;
        let experts = shape.experts.map(|e| format!("{} / {}", e.used, e.count)).unwrap_or_default();
        table.row([name.into(), shape.architecture.into(), shape.layers.to_string(), shape.width.to_string(), experts]);
    }
    let mixes: Vec<&str> = Mix::names().collect();
    let out = match format {
        Format::Csv => table.csv(),
        Format::Md => table.markdown(),
        Format::Json => {
            let value = json!({"schema": "whichkernel.skeleton-shapes/1", "shapes": table.json(), "mixes": mixes});
            format!("{}\n", serde_json::to_string_pretty(&value)?)
        }
        Format::Text => {
            let args = [("mixes", mixes.join(", ").into())];
            format!("{}\n{}\n", table.text(context.width), context.lang.text_with("skeleton-mixes", &args))
        }
    };
    context.print(&out)?;
    Ok(ExitCode::SUCCESS)
}
