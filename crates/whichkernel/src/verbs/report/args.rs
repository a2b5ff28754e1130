//! The flags of `report`.

use std::path::PathBuf;

/// The investigation as pages that open from disk: both languages, light and dark, every table as CSV
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    pub what: Option<What>,

    /// An investigation file (TOML), or field-notes for the built-in RX 9070 XT notes [default: the file that
    /// `investigate` wrote for this machine, if any]
    pub file: Option<PathBuf>,

    /// The folder to write; an earlier report in it is replaced [default: report]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write one self-contained HTML file instead of a folder, named by `--out` [default: report.html]
    #[arg(long)]
    pub single_file: bool,

    /// Write pages for a public website into this folder. Local paths and the names of users and machines are replaced,
    /// and empty pages are left out
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "single_file", "export", "serve", "open"])]
    pub publish: Option<PathBuf>,

    /// With --publish: a title that replaces the investigation's title
    #[arg(long, value_name = "TEXT", requires = "publish")]
    pub title: Option<String>,

    /// With --publish: your own summary, shown on the first page
    #[arg(long, value_name = "TEXT", requires = "publish")]
    pub note: Option<String>,

    /// With --publish: the URL at which the folder will be published; link previews need it for their image
    #[arg(long, value_name = "URL", requires = "publish")]
    pub url: Option<String>,

    /// Write data for other tools instead of pages; `--out` names the folder or file
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["single_file", "open"])]
    pub export: Option<Export>,

    /// A folder created by `cargo xtask web`; with it, the site also answers questions and reads files [default: the one installed with this program, if any]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["single_file", "export", "serve"])]
    pub web: Option<PathBuf>,

    #[command(flatten)]
    pub given: Given,

    /// Serve the pages on the loopback interface until interrupted, and update them with every new record; only the
    /// printed address gives access
    #[arg(long, conflicts_with_all = ["single_file", "export", "out"])]
    pub serve: bool,

    /// With --serve: the port [default: any free port]
    #[arg(long, value_name = "PORT", requires = "serve", default_value_t = 0, hide_default_value = true)]
    pub port: u16,

    /// Open the report in a browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum What {
    Bundle(super::bundle::Args),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Export {
    /// A folder with a page for each language and one for each question
    Md,
    /// One file: claims, questions, next steps and every observation
    Json,
    /// A folder of Parquet tables (observations, launches, claims) that many machines can write into; `ledger verify --parquet` checks it
    Parquet,
    /// A trace of the launches in the file of --launches, for Perfetto
    Perfetto,
    /// The same for the Firefox Profiler
    Profiler,
}

// The inputs of an export besides the ledger. This must not be a doc comment, because clap would use it as the verb's
// text.
#[derive(Debug, clap::Args)]
pub struct Given {
    /// For perfetto and profiler: a trace of `watch --trace`, `dryrun` or the preload library
    #[arg(long, value_name = "FILE", requires = "export")]
    pub launches: Option<PathBuf>,
    /// For parquet: name of this machine in the tables [default: the IDs of ledger and machine]
    #[arg(long, value_name = "NAME", requires = "export")]
    pub host: Option<String>,
}
