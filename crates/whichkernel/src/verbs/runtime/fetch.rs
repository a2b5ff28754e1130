//! `runtime fetch`: shows the files and their size, asks, and fetches them.

use crate::context::{Context, Format};
use crate::fetching::{agreed, bring};
use report::bytes;
use runtime::fetch::Request;
use runtime::{Cache, Index};
use say::bail;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// debian-sid, debian-backports (the same ggml built with ROCm 5.7), debian-experimental (rocBLAS with gfx1201),
    /// debian-trixie (rocBLAS 5.5, one catalog file), debian-sid-catalogs or debian-experimental-catalogs (kernel catalogs only); vllm or
    /// vllm-0.32.0 (vLLM from PyPI for `explain vllm`)
    #[arg(value_name = "NAME")]
    suite: String,
    /// Parts to fetch: ggml, tools, hip, rocblas, hipblaslt, vulkan; added to those in the cache [default: ggml,tools for sid, else rocblas]
    #[arg(long, value_delimiter = ',', value_name = "PART,...")]
    parts: Vec<String>,
    /// Unpack only these targets' kernel libraries, e.g. gfx1100,gfx900, or `all` [default: those in the cache, else all]
    #[arg(long, value_delimiter = ',', value_name = "GFX,...")]
    targets: Option<Vec<String>>,
    /// Debian mirror [default: the one in this system's apt sources]
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Keyring to verify the archive's signature [default: from the apt sources, else debian-archive-keyring]
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,
    /// Check the mirror for newer versions even if the cache is complete
    #[arg(long)]
    update: bool,
    /// Continue without asking; required in a pipe
    #[arg(long, short)]
    yes: bool,
    /// text or json (an index of the fetched files)
    #[arg(long, default_value = "text")]
    format: Format,
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let lang = &context.lang;
    let cache = Cache::from_env();
    let all = |targets: &Vec<String>| if targets.iter().any(|t| t == "all") { Vec::new() } else { targets.clone() };
    if let Some(version) = vllm::fetch::wanted(&args.suite) {
        return python(version, args, &cache, context);
    }
    let request = Request {
        suite: args.suite.clone(),
        parts: args.parts.clone(),
        targets: args.targets.as_ref().map(all),
        mirror: args.mirror.clone(),
        keyring: args.keyring.clone(),
    };
    let Some((index, key)) = bring(&request, args.update, args.yes, context)? else {
        context.print(&format!("{}\n", lang.text("runtime-fetch-declined")))?;
        return Ok(ExitCode::from(crate::context::COULD_NOT_RUN));
    };
    tell(&index, key, args, &cache, context)
}

fn tell(index: &Index, key: &str, args: &Args, cache: &Cache, context: &Context) -> say::Result<ExitCode> {
    let lang = &context.lang;
    if args.format == Format::Json {
        context.print(&format!("{:#}\n", serde_json::to_value(index)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let said = lang.text_with(
        key,
        &[
            ("name", index.name.clone().into()),
            ("packages", index.packages.len().into()),
            ("files", index.files.into()),
            ("size", bytes(index.bytes).into()),
            ("path", cache.runtime(&index.name).display().to_string().into()),
        ],
    );
    context.print(&format!("{said}\n"))?;
    refused(index, context)?;
    Ok(ExitCode::SUCCESS)
}

/// vLLM from PyPI. pip downloads about 1 GB, so it asks first.
fn python(version: Option<&str>, args: &Args, cache: &Cache, context: &Context) -> say::Result<ExitCode> {
    let lang = &context.lang;
    let here = version.is_some_and(|version| cache.root(&format!("vllm-{version}")).is_some());
    if !here {
        context.note(&lang.text("vllm-fetching"));
        if !(args.yes || io::stdin().is_terminal() && io::stderr().is_terminal()) {
            bail!("runtime-fetch-needs-yes");
        }
        if !args.yes && !agreed(context)? {
            context.print(&format!("{}\n", lang.text("runtime-fetch-declined")))?;
            return Ok(ExitCode::from(crate::context::COULD_NOT_RUN));
        }
    }
    let index = vllm::fetch::fetch(cache, version)?;
    let key = if here { "runtime-fetch-here" } else { "runtime-fetched" };
    tell(&index, key, args, cache, context)
}

/// Reports entries that were not written, because a runtime must not silently lack something.
pub fn refused(index: &Index, context: &Context) -> say::Result<()> {
    for entry in &index.refused {
        let said = context.lang.text_with("runtime-refused", &[("entry", entry.as_str().into())]);
        context.print(&format!("{said}\n"))?;
    }
    Ok(())
}
