//! `cargo xtask dist`: the packages of a release, the same bytes from every directory.
//!
//! Times come from the commit, owners are root, entries are sorted, and the build contains no path of this machine.
//! There is one file here per kind of package; [`contents`] has their common contents.

pub mod build;
mod compress;
mod contents;
mod deb;
mod glibc;
mod manifests;
mod notices;
mod oci;
mod release;
mod rpm;
mod rpm_header;
mod sbom;
mod tarball;
mod third_party;
pub mod trial;
mod web_page;
mod wheel;
mod windows;

use crate::ports::{Port, Root};
use anyhow::{Context as _, bail, ensure};
use contents::Contents;
use release::{Release, TARGET};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub const USAGE: &str = "\
cargo xtask dist [--binary FILE] [--windows FILE] [--arm64 FILE] [--page DIR] [--out DIR] [--quick] [KIND...]

  KIND          tar, deb, rpm, wheel, oci, web, windows, arm64, manifests; without one, all but windows and arm64
  --binary FILE package this program instead of building one; the tree may then have changes
  --windows FILE, --arm64 FILE
                the same for the programs of other systems, which `cargo xtask ports` builds (needs root)
  --page DIR    package this web page, which `cargo xtask web` made, instead of building one
  --out DIR     where to (target/dist/packages)
  --quick       compress fast: larger packages, for tests
";

const KINDS: [&str; 9] = ["tar", "deb", "rpm", "wheel", "oci", "web", "windows", "arm64", "manifests"];
/// The kinds that need a root with another toolchain.
const OTHER_SYSTEMS: [&str; 2] = ["windows", "arm64"];

struct Options {
    binary: Option<PathBuf>,
    windows: Option<PathBuf>,
    arm64: Option<PathBuf>,
    page: Option<PathBuf>,
    out: PathBuf,
    effort: compress::Effort,
    kinds: Vec<String>,
}

fn options(args: &[String]) -> anyhow::Result<Options> {
    let out = build::top().join("target/dist/packages");
    let effort = compress::Effort::Small;
    let mut options = Options { binary: None, windows: None, arm64: None, page: None, out, effort, kinds: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--binary" => options.binary = Some(value()?.into()),
            "--windows" => options.windows = Some(value()?.into()),
            "--arm64" => options.arm64 = Some(value()?.into()),
            "--page" => options.page = Some(value()?.into()),
            "--out" => options.out = value()?.into(),
            "--quick" => options.effort = compress::Effort::Quick,
            kind if KINDS.contains(&kind) => options.kinds.push(kind.to_owned()),
            other => bail!("unknown argument {other}\n{USAGE}"),
        }
    }
    if options.kinds.is_empty() {
        let given = [("windows", options.windows.is_some()), ("arm64", options.arm64.is_some())];
        let wanted = |kind: &&str| !OTHER_SYSTEMS.contains(kind) || given.contains(&(kind, true));
        options.kinds = KINDS.into_iter().filter(wanted).map(str::to_owned).collect();
    }
    Ok(options)
}

pub fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let options = options(args)?;
    let release = Release::of_this_tree(TARGET)?;
    let binary = match &options.binary {
        Some(file) => file.clone(),
        None => build::build(&release)?,
    };
    let needed = glibc::needed(&binary)?;
    println!("{} needs glibc {needed} (at most {})", binary.display(), glibc::FLOOR);
    let contents = Contents::collect(&release, &binary, &binary)?;
    let page = match &options.page {
        Some(dir) => contents::files(dir)?,
        None if options.kinds.iter().any(|kind| kind == "web") => crate::web::files(&build::top())?,
        None => Vec::new(),
    };
    fs::create_dir_all(&options.out)?;
    let mut made = Vec::new();
    for kind in &options.kinds {
        let files = match kind.as_str() {
            "tar" => vec![tarball::package(&release, &contents, options.effort)?],
            "deb" => vec![deb::package(&release, &contents, options.effort)?],
            "rpm" => vec![rpm::package(&release, &contents, options.effort)?],
            "wheel" => vec![wheel::package(&release, &contents, options.effort)?],
            "windows" => vec![other(Port::Windows, options.windows.as_deref(), &binary, options.effort)?],
            "arm64" => vec![other(Port::Arm64, options.arm64.as_deref(), &binary, options.effort)?],
            "web" => vec![web_page::package(&release, &page, &contents, options.effort)?],
            "oci" => vec![oci::package(&release, &contents, &binary, options.effort)?],
            _ => manifests::files(&release, &options.out)?,
        };
        for Package { name, bytes } in files {
            let path = options.out.join(&name);
            fs::create_dir_all(path.parent().unwrap_or(&options.out))?;
            fs::write(&path, &bytes).with_context(|| path.display().to_string())?;
            println!("{:>9} {name}", bytes.len());
            made.push(name);
        }
    }
    fs::write(options.out.join("SHA256SUMS"), sums(&options.out, &made)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The archive for another system, of a program that was built before or is built now.
fn other(port: Port, built: Option<&Path>, speaker: &Path, effort: compress::Effort) -> anyhow::Result<Package> {
    let release = Release::of_this_tree(port.target())?;
    let binary = match built {
        Some(file) => file.to_owned(),
        None => {
            ensure!(!release.has_changes, "the tree has changes: commit them, or name a finished program");
            let epoch = release.epoch.to_string();
            Root::ready()?.build(port, &[("WHICHKERNEL_BUILD", release.build()), ("SOURCE_DATE_EPOCH", epoch)])?
        }
    };
    let contents = Contents::collect(&release, &binary, speaker)?;
    match port {
        Port::Windows => windows::package(&release, &contents, effort),
        _ => tarball::package(&release, &contents, effort),
    }
}

/// A finished file of a release.
pub struct Package {
    pub name: String,
    pub bytes: Vec<u8>,
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The checksums of the files in the form of `sha256sum`, sorted by name.
fn sums(out: &Path, made: &[String]) -> anyhow::Result<String> {
    let mut names: Vec<&String> = made.iter().filter(|name| !name.contains('/')).collect();
    names.sort();
    let mut lines = String::new();
    for name in names {
        lines += &format!("{}  {name}\n", sha256(&fs::read(out.join(name))?));
    }
    Ok(lines)
}
