//! `cargo xtask web`: the web page with its WebAssembly module, in a folder that any static server can serve and that also opens from disk.

mod toolchain;

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
pub use toolchain::Toolchain;

pub const USAGE: &str = "\
cargo xtask web [--out DIR]

  --out DIR     where to (target/web/page)
";

/// The maximum download of a visitor, compressed with gzip as by any server: 1 MiB.
const MOST: usize = 1 << 20;

const TARGET: &str = "wasm32-unknown-unknown";

/// The script for pages that are opened from disk.
const OFFLINE: &str = "offline.js";

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let mut out = top.join("target/web/page");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--out" => out = args.next().with_context(|| format!("--out needs a value\n{USAGE}"))?.into(),
            other => bail!("unknown argument {other}\n{USAGE}"),
        }
    }
    let files = files(&top)?;
    let visited = downloaded(&files)?;
    fs::create_dir_all(&out)?;
    for (name, bytes) in &files {
        fs::write(out.join(name), bytes)?;
    }
    println!("{}: {visited} bytes compressed (at most {MOST})", out.display());
    println!("open {} from disk, or serve the folder: python3 -m http.server -d {0}", out.join("index.html").display());
    ensure!(visited <= MOST, "the page is larger than {MOST} bytes compressed");
    Ok(ExitCode::SUCCESS)
}

/// Compiles the crate `web` as a module.
fn module(top: &Path) -> anyhow::Result<Vec<u8>> {
    let toolchain = Toolchain::find(top)?;
    let into = top.join("target/web/build");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(top)
        .args([
            "rustc",
            "--quiet",
            "--release",
            "--package",
            "whichkernel-web",
            "--target",
            TARGET,
            "--crate-type",
            "cdylib",
            // The size of the download matters more than the time of the build.
            "--config",
            "profile.release.lto=\"fat\"",
            "--config",
            "profile.release.codegen-units=1",
        ])
        .env("CARGO_TARGET_DIR", &into)
        .env("CARGO_ENCODED_RUSTFLAGS", remapped(top));
    // An outer cargo sets these for this program only.
    for name in ["RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_MAKEFLAGS", "MAKEFLAGS"] {
        cargo.env_remove(name);
    }
    toolchain.set(&mut cargo);
    ensure!(cargo.status()?.success(), "the module does not compile");
    let file = into.join(TARGET).join("release/web.wasm");
    fs::read(&file).with_context(|| file.display().to_string())
}

/// No path of this machine in the module: the same bytes from every directory.
fn remapped(top: &Path) -> String {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let paths = [Some((top.to_owned(), "/whichkernel")), home.map(|home| (home, "/cargo"))];
    let flags = paths.into_iter().flatten().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    flags.collect::<Vec<_>>().join("\u{1f}")
}

/// Every file of the page, with its module.
pub fn files(top: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let module = module(top)?;
    let mut files: Vec<(String, Vec<u8>)> =
        site::web(&site::embedded(), true).into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    // From disk, a page may neither fetch a file nor start a worker from one: this script has both. Nothing else loads it.
    let offline = json!({"worker": site::WORKER, "module": STANDARD.encode(gzip(&module)?)});
    files.push((OFFLINE.to_owned(), format!("window.whichkernelOffline = {offline};\n").into_bytes()));
    files.push(("whichkernel.wasm".to_owned(), module));
    Ok(files)
}

/// The download size of a visitor who opens everything.
fn downloaded(files: &[(String, Vec<u8>)]) -> anyhow::Result<usize> {
    let mut sum = 0;
    for (_, bytes) in files.iter().filter(|(name, _)| name != OFFLINE) {
        sum += gzip(bytes)?.len();
    }
    Ok(sum)
}

fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}
