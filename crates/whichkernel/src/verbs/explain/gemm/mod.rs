//! `whichkernel explain gemm`: which kernel a BLAS library chooses for a product, computed from its catalog.

mod record;
mod screen;

use crate::asked::gemm::{Ask, Blas, Catalog, Choices, Product, answered, products_of, read_products};
use crate::context::{Context, Format};
use say::{bail, ensure};
use std::path::PathBuf;
use std::process::ExitCode;
use tensile::select::{Choice, Library};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// M, N and K: D (M x N) = A (M x K) x B (K x N), column-major as in BLAS
    #[arg(value_name = "SIZE", num_args = 0..=3)]
    pub sizes: Vec<u64>,

    /// Read many products from a TSV or CSV file with a header (m, n, k; id, batch, trans_a, trans_b, type_a, ..., workspace, requested)
    #[arg(long, value_name = "FILE", conflicts_with = "sizes")]
    pub from: Option<PathBuf>,

    /// Use the matrix products of a model, given as a GGUF file or a config.json from Hugging Face
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "from"])]
    pub model: Option<PathBuf>,

    /// With --model: numbers of tokens, comma-separated [default: 1,16,512]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "model")]
    pub tokens: Vec<u64>,

    /// The GPU: a card (rx-9070-xt) or a target (gfx1201)
    #[arg(long, value_name = "GPU")]
    pub gpu: String,

    /// The library: hipblaslt or rocblas [default: hipblaslt]
    #[arg(long, value_name = "NAME")]
    pub library: Option<Blas>,

    /// The runtime whose catalog is read: a name in the cache, or a directory [default: debian-sid]
    #[arg(long, value_name = "NAME|DIR")]
    pub runtime: Option<String>,

    #[command(flatten)]
    pub ask: Ask,

    /// Record the computed kernels in the ledger, on the rung Declared
    #[arg(long)]
    pub record: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

const DEFAULT_TOKENS: [u64; 3] = [1, 16, 512];

impl Args {
    fn products(&self) -> say::Result<Vec<Product>> {
        if let Some(path) = &self.from {
            return read_products(path);
        }
        if let Some(path) = &self.model {
            let tokens = if self.tokens.is_empty() { &DEFAULT_TOKENS[..] } else { &self.tokens };
            ensure!(tokens.iter().all(|count| (1..=1 << 20).contains(count)), "command-gemm-tokens");
            return products_of(path, tokens, &self.ask);
        }
        match *self.sizes.as_slice() {
            [m, n, k] => Ok(vec![self.ask.product([m, n, k])?]),
            _ => bail!("command-gemm-what"),
        }
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let products = args.products()?;
    let library = args.library.map_or(Library::HipBlasLt, Library::from);
    let catalog = Catalog::open(args.runtime.as_deref(), library, &args.gpu)?;
    let selector = catalog.selector();
    if args.record {
        record::keep(&catalog, &answered(&selector, products.clone()), context)?;
    }
    if let (Format::Text, None, [product]) = (args.format, &args.model, products.as_slice())
        && args.from.is_none()
    {
        let screen = screen::Screen { catalog: &catalog, selector: &selector, product, context };
        let (text, choice) = screen.text();
        context.print(&text)?;
        return Ok(exit(std::iter::once(&choice)));
    }
    let answered = answered(&selector, products);
    let english = report::Lang::new("en");
    let lang = if args.format == Format::Text || args.format == Format::Md { &context.lang } else { &english };
    context.emit(args.format, &Choices::new(&catalog, &answered, lang))?;
    Ok(exit(answered.iter().map(|one| &one.choice)))
}

/// Exit code 1 if an answer was not computed.
fn exit<'c>(mut choices: impl Iterator<Item = &'c Choice>) -> ExitCode {
    let open = choices.any(|choice| matches!(choice, Choice::NotComputed(_)));
    if open { ExitCode::from(crate::context::CHECK_FAILED) } else { ExitCode::SUCCESS }
}
