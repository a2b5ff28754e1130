//! `whichkernel atlas CLONE --out DIR`: the choices of every release, as a site and as tables.

use crate::context::Context;
use crate::web_module;
use say::bail;
use source::atlas::{make, put, question};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A git clone of llama.cpp with its tags
    pub tree: PathBuf,

    /// The output folder: new, empty, or from an earlier run that is continued
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// The first release, such as b6000 [default: the oldest]
    #[arg(long, value_name = "RELEASE")]
    pub since: Option<String>,

    /// GPUs: cards (rx-9070-xt) or targets (gfx1201, sm_90), comma-separated [default: 25 targets]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub gpu: Vec<String>,

    /// A folder created by `cargo xtask web`; with it, the site also answers questions and reads files [default: the one installed with this program, if any]
    #[arg(long, value_name = "DIR")]
    pub web: Option<PathBuf>,

    /// Weight types, comma-separated [default: all]
    #[arg(long = "type", value_name = "LIST", value_delimiter = ',')]
    pub types: Vec<String>,

    /// Leave the launch shape (grid, block, warps, dynamic shared memory) out of the answer
    #[arg(long)]
    pub no_shape: bool,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let lang = &context.lang;
    if !Path::new(&args.tree).is_dir() {
        bail!("command-atlas-clone", path = args.tree);
    }
    if let Some(since) = args.since.as_deref().filter(|since| source::pins::number(since).is_none()) {
        bail!("command-atlas-since", since);
    }
    let types: Vec<String> =
        args.types.iter().map(|ty| ty.trim_start_matches("GGML_TYPE_").to_ascii_uppercase()).collect();
    crate::asked::tree::known_types(&types)?;
    let mut question = question(&args.gpu, &types)?;
    question.launch_shapes = !args.no_shape;
    let atlas = make(&args.tree, &args.out, &question, args.since.as_deref(), |release, fresh, at, of| {
        if fresh {
            let says = [("name", release.name.clone().into()), ("at", at.into()), ("of", of.into())];
            context.note(&lang.text_with("atlas-evaluated", &says));
        }
    })?;
    let module = web_module::read(args.web.as_deref())?;
    let files = site::atlas(&atlas, module.is_some());
    for (name, bytes) in module.into_iter().flatten() {
        put(&args.out, name, bytes)?;
    }
    let mut bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    for (name, text) in &files {
        put(&args.out, name, text)?;
    }
    for sheet in site::sheets(&atlas) {
        let parquet = export::parquet::sheet(sheet.columns, sheet.numbers, &sheet.rows)?;
        bytes += parquet.len();
        put(&args.out, &format!("{}.parquet", sheet.name), parquet)?;
    }
    let says = [
        ("releases", atlas.releases.len().into()),
        ("tables", atlas.tables.len().into()),
        ("looked", atlas.count.looked_at.into()),
        ("evaluated", atlas.count.evaluated.into()),
        ("unreadable", atlas.releases.iter().filter(|release| release.unreadable.is_some()).count().into()),
        ("kilobytes", (bytes / 1000).into()),
        ("index", args.out.join("index.html").display().to_string().into()),
    ];
    context.print(&format!("{}\n", lang.text_with("atlas-done", &says)))?;
    Ok(ExitCode::SUCCESS)
}
