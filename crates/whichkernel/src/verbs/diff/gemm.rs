//! `diff A B --library hipblaslt`: the GEMM kernels that two releases choose for the same products.

use crate::asked::gemm::{Ask, Blas, Catalog, Change, answered, change, products_of, read_products};
use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use answer::Answer;
use report::{Column, Lang, Table};
use say::{bail, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct GemmAsk {
    /// When comparing the GEMM kernels of two runtimes: the library (hipblaslt, rocblas). Needs --gemm or --model, and one --gpu
    #[arg(long, value_name = "NAME")]
    pub library: Option<Blas>,

    /// With --library: the products, as M,N,K or as a file that `explain gemm --from` takes
    #[arg(long, value_name = "M,N,K|FILE", requires = "library")]
    pub gemm: Option<String>,

    /// With --library and --model: numbers of tokens, comma-separated [default: 1,16,512]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "library")]
    pub tokens: Vec<u64>,
}

/// The GEMM kernels that two releases choose for the same products.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GemmDiff {
    /// hipblaslt or rocblas
    pub library: String,
    pub card: String,
    pub target: String,
    pub runtime_a: String,
    pub version_a: String,
    pub runtime_b: String,
    pub version_b: String,
    pub products: usize,
    pub same: usize,
    /// Products that differ, the largest change first.
    pub changes: Vec<Change>,
}

impl Answer for GemmDiff {
    const SCHEMA: &'static str = "whichkernel.gemm-diff/1";
}

/// The maximum number of changes in the text; CSV and JSON have all.
const SHOWN: usize = 20;

pub fn run(
    (a, b): (&str, &str),
    gpus: &[String],
    model: Option<&Path>,
    ask: &GemmAsk,
    (format, context): (Format, &Context),
) -> say::Result<ExitCode> {
    let [gpu] = gpus else { bail!("command-gemm-one-gpu") };
    let Some(library) = ask.library else { bail!("command-gemm-what") };
    let plain = Ask::default();
    let products = match (&ask.gemm, model) {
        (Some(given), _) => match sizes(given) {
            Some(sizes) => vec![plain.product(sizes)?],
            None => read_products(&PathBuf::from(given))?,
        },
        (None, Some(model)) => {
            let tokens = if ask.tokens.is_empty() { &[1, 16, 512][..] } else { &ask.tokens };
            products_of(model, tokens, &plain)?
        }
        (None, None) => bail!("command-gemm-what"),
    };
    let a = Catalog::open(Some(a), library.into(), gpu)?;
    let b = Catalog::open(Some(b), library.into(), gpu)?;
    let (left, right) = (answered(&a.selector(), products.clone()), answered(&b.selector(), products));
    let mut changes: Vec<Change> = left.iter().zip(&right).filter_map(|(a, b)| change(a, b)).collect();
    changes.sort_by(|a, b| b.factor.total_cmp(&a.factor).then(b.parameters.cmp(&a.parameters)));
    let diff = GemmDiff {
        library: a.library.name().to_owned(),
        card: a.profile.name.clone(),
        target: a.profile.processor().to_owned(),
        runtime_a: a.runtime.clone(),
        version_a: a.version_text(),
        runtime_b: b.runtime.clone(),
        version_b: b.version_text(),
        products: left.len(),
        same: left.len() - changes.len(),
        changes,
    };
    let whole = |format| match format {
        Plain::Text => text(&diff, context),
        Plain::Csv => table(&diff, diff.changes.len(), &context.lang).csv(),
        Plain::Md => table(&diff, diff.changes.len(), &context.lang).markdown(),
    };
    context.emit_as(format, || &diff, |format| Ok(whole(format)))?;
    Ok(if diff.changes.is_empty() && diff.products > 0 { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

fn sizes(text: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = text.split([',', 'x']).map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

fn text(diff: &GemmDiff, context: &Context) -> String {
    let lang = &context.lang;
    if diff.products == 0 {
        return format!("{}\n", lang.text("gemm-diff-none"));
    }
    let count = |kind: &str| diff.changes.iter().filter(|change| change.change == kind).count();
    let summary = say!(
        "gemm-diff-summary",
        total = diff.products,
        same = diff.same,
        tile = count("tile"),
        kernel = count("kernel"),
        other = count("other"),
        unknown = count("not-computed")
    );
    let mut out = format!("{}\n", lang.say(&summary));
    for (runtime, version) in [(&diff.runtime_a, &diff.version_a), (&diff.runtime_b, &diff.version_b)] {
        out += &format!("  {}\n", lang.say(&say!("gemm-of-runtime", library = diff.library, version, runtime)));
    }
    if !diff.changes.is_empty() {
        out += &format!("\n{}", table(diff, SHOWN, lang).text(context.width));
    }
    if diff.changes.len() > SHOWN {
        out += &format!("\n{}\n", lang.say(&say!("gemm-diff-more", count = diff.changes.len() - SHOWN)));
    }
    out + &format!("\n{}\n", lang.text("gemm-limits"))
}

fn table(diff: &GemmDiff, most: usize, lang: &Lang) -> Table {
    let mut table = Table::new(vec![
        Column::left("id", lang.text("gemm-column-id")),
        Column::left("change", lang.text("gemm-diff-change")),
        Column::left("tile_a", format!("{} A", lang.text("gemm-column-tile"))),
        Column::left("tile_b", format!("{} B", lang.text("gemm-column-tile"))),
        Column::right("index_a", format!("{} A", lang.text("gemm-column-index"))),
        Column::right("index_b", format!("{} B", lang.text("gemm-column-index"))),
    ]);
    let number = |index: Option<i64>| index.map_or("-".to_owned(), |index| index.to_string());
    let tile = |tile: &Option<String>| tile.clone().unwrap_or_else(|| "-".to_owned());
    for change in diff.changes.iter().take(most) {
        let what = match change.change {
            "tile" => "gemm-diff-tile",
            "kernel" => "gemm-diff-kernel",
            "other" => "gemm-diff-other",
            _ => "gemm-diff-unknown",
        };
        table.row([
            change.id.clone(),
            lang.text(what),
            tile(&change.tile_a),
            tile(&change.tile_b),
            number(change.index_a),
            number(change.index_b),
        ]);
    }
    table
}
