//! `map --library hipblaslt --gpu CARD`: the macro tile that the library chooses, over M and N at one K.

use crate::asked::dry;
use crate::asked::gemm::{Ask, Blas, Catalog};
use crate::context::{CHECK_FAILED, Context};
use crate::emit::Plain;
use answer::Answer;
use report::{Column, Table};
use say::{Context as _, bail, ensure, say};
use schemars::JsonSchema;
use serde::Serialize;
use site::{TileCell, TileMap};
use std::path::PathBuf;
use std::process::ExitCode;
use sys::files::Access;
use tensile::select::Choice;

#[derive(Debug, clap::Args)]
pub struct GemmAsk {
    /// Show the macro tiles of this BLAS library (hipblaslt, rocblas) over M and N, instead of paths; needs one --gpu
    #[arg(long, value_name = "NAME")]
    pub library: Option<Blas>,

    /// With --library: K of the products [default: 4096]
    #[arg(long, value_name = "K", requires = "library")]
    pub k: Option<u64>,

    /// With --library: the element type of A and B, as in `explain gemm` [default: f16]
    #[arg(long, value_name = "TYPE", requires = "library")]
    pub element: Option<String>,

    /// With --library: write a page with a heat map into this folder, which is new or from an earlier run
    #[arg(long, value_name = "DIR", requires = "library")]
    pub out: Option<PathBuf>,

    /// With --library: which of A and B are transposed: NN, NT, TN or TT [default: TN]
    #[arg(long, value_name = "OPS", requires = "library")]
    pub trans: Option<String>,
}

/// The macro tiles that a library chooses over M and N at one K.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GemmMap {
    /// hipblaslt or rocblas
    pub library: String,
    pub version: String,
    pub runtime: String,
    pub card: String,
    pub target: String,
    pub k: u64,
    pub cells: Vec<GemmCell>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GemmCell {
    pub m: u64,
    pub n: u64,
    /// determined, set, none or not-computed
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
    /// M x N of the macro tile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip)]
    sides: Option<[u64; 2]>,
}

impl Answer for GemmMap {
    const SCHEMA: &'static str = "whichkernel.gemm-map/1";
}

const SIZES: [u64; 11] = [1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

pub fn run(dry: &dry::Ask, ask: &GemmAsk, context: &Context) -> say::Result<ExitCode> {
    let [gpu] = dry.gpu.as_slice() else { bail!("command-gemm-one-gpu") };
    let Some(library) = ask.library else { bail!("command-gemm-what") };
    let catalog = Catalog::open(dry.runtime.as_deref(), library.into(), gpu)?;
    let trans = ask.trans.clone().unwrap_or_else(|| "TN".to_owned());
    let one = Ask { ty: ask.element.clone(), trans: Some(trans.clone()), ..Ask::default() };
    let (selector, k) = (catalog.selector(), ask.k.unwrap_or(4096));
    let mut cells = Vec::new();
    for (m, n) in SIZES.iter().flat_map(|m| SIZES.iter().map(move |n| (*m, *n))) {
        cells.push(GemmCell::new(m, n, &selector.choose(&one.product([m, n, k])?.call)));
    }
    let map = GemmMap {
        library: catalog.library.name().to_owned(),
        version: catalog.version_text(),
        runtime: catalog.runtime.clone(),
        card: catalog.profile.name.clone(),
        target: catalog.profile.processor().to_owned(),
        k,
        cells,
    };
    let title = say!(
        "gemm-map-title",
        library = map.library,
        version = map.version,
        runtime = map.runtime,
        gpu = catalog.profile.title,
        target = map.target,
        type = ask.element.clone().unwrap_or_else(|| "f16".to_owned()),
        trans,
        k
    );
    let plain = |plain| match plain {
        Plain::Text => {
            let lang = &context.lang;
            format!("{}\n{}\n\n{}", lang.say(&title), lang.text("gemm-map-axes"), picture(&map).text(context.width))
        }
        Plain::Md => picture(&map).markdown(),
        Plain::Csv => list(&map).csv(),
    };
    if let Some(out) = &ask.out {
        let ours = out.join("map.csv").exists() || !out.join("index.html").exists();
        ensure!(ours, "command-gemm-folder", path = out.display().to_string());
        sys::files::create_dir_all(out, Access::Public).about(out.display())?;
        let kind = ask.element.as_deref().unwrap_or("f16");
        for (name, text) in site::tile_map(&page(&map, (&catalog.profile.title, kind, &trans))) {
            source::atlas::put(out, &name, text)?;
        }
        let index = out.join("index.html").display().to_string();
        context.note(&context.lang.say(&say!("gemm-page-written", index)));
    }
    context.emit_as(dry.format, || &map, |format| Ok(plain(format)))?;
    let open = map.cells.iter().any(|cell| cell.verdict == "not-computed");
    Ok(if open { ExitCode::from(CHECK_FAILED) } else { ExitCode::SUCCESS })
}

fn page(map: &GemmMap, (gpu, kind, trans): (&str, &str, &str)) -> TileMap {
    let cell =
        |cell: &GemmCell| TileCell { m: cell.m, n: cell.n, tile: cell.sides, index: cell.index, mark: cell.mark() };
    TileMap {
        library: format!("{} {}", map.library, map.version),
        runtime: map.runtime.clone(),
        gpu: gpu.to_owned(),
        target: map.target.clone(),
        kind: kind.to_owned(),
        trans: trans.to_owned(),
        k: map.k,
        cells: map.cells.iter().map(cell).collect(),
        columns: SIZES.len(),
        csv: list(map).csv(),
    }
}

impl GemmCell {
    fn new(m: u64, n: u64, choice: &Choice) -> GemmCell {
        let mut cell = GemmCell { m, n, verdict: "none", index: None, tile: None, kernel: None, sides: None };
        match choice {
            Choice::Determined(chosen) => {
                cell.verdict = "determined";
                cell.index = Some(chosen.index);
                cell.tile = Some(format!("{}x{}", chosen.macro_tile[0], chosen.macro_tile[1]));
                cell.kernel = Some(chosen.kernel.clone());
                cell.sides = Some(chosen.macro_tile);
            }
            Choice::OneOf(_) => cell.verdict = "set",
            Choice::NotComputed(_) => cell.verdict = "not-computed",
            Choice::None | Choice::Gemv => {}
        }
        cell
    }

    fn mark(&self) -> &'static str {
        match self.verdict {
            "set" => "*",
            "not-computed" => "?",
            _ => "-",
        }
    }

    fn shown(&self) -> String {
        self.tile.clone().unwrap_or_else(|| self.mark().to_owned())
    }
}

const KEYS: [&str; 11] = ["n1", "n16", "n32", "n64", "n128", "n256", "n512", "n1024", "n2048", "n4096", "n8192"];

fn picture(map: &GemmMap) -> Table {
    let mut columns = vec![Column::right("m", "M")];
    columns.extend(KEYS.iter().zip(SIZES).map(|(key, n)| Column::right(key, n.to_string())));
    let mut table = Table::new(columns);
    for row in map.cells.chunks(SIZES.len()) {
        let m = row.first().map_or(0, |cell| cell.m).to_string();
        table.row(std::iter::once(m).chain(row.iter().map(GemmCell::shown)));
    }
    table
}

fn list(map: &GemmMap) -> Table {
    let mut table = Table::new(
        ["m", "n", "k", "verdict", "index", "tile", "kernel"].map(|key| Column::left(key, key)).into_iter().collect(),
    );
    for cell in &map.cells {
        let index = cell.index.map_or(String::new(), |index| index.to_string());
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (m, n, k) = (cell.m.to_string(), cell.n.to_string(), map.k.to_string());
        table.row([m, n, k, cell.verdict.to_owned(), index, text(&cell.tile), text(&cell.kernel)]);
    }
    table
}
