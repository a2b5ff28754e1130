//! `whichkernel inspect TARGET`: shows the device code in a file or the GPU stack of a process.

mod args;
mod bundle_table;
mod catalog;
mod directory;
mod extract;
mod file;
mod fingerprint;
mod has_target;
mod kernels;
mod launch_map;
pub mod lint;
mod model;
mod modules;
mod needed;
mod nvidia;
mod process;
mod record;
mod text;
pub mod triton;
mod tuning_tables;

pub use args::Args;

use super::several_inputs;
use crate::context::{Context, Format};
use ::runtime::inputs;
use findings::answers::is_catalog;
use inventory::{File, Pack};
use say::bail;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The kind of TARGET, determined by examining it.
enum Target<'a> {
    File(&'a Path),
    /// A static library.
    Members(&'a Path),
    /// A package, which is unpacked temporarily.
    Package(&'a Path, Pack),
    Directory(&'a Path),
    Fingerprint(&'a Path),
    Needed(&'a Path),
    Lint(&'a Path),
    Tables(&'a Path, &'a Path),
    Triton(&'a Path),
    Model(&'a Path),
    Catalog(&'a Path),
    Process(u32),
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    let usual = if args.targets.is_empty() { usual(context)? } else { Vec::new() };
    let targets = if usual.is_empty() { &args.targets } else { &usual };
    several_inputs::run(targets, args.format == Format::Json, context, |path| one(path, args, context))
}

/// The directories in which Ollama and LM Studio keep their libraries, used without a TARGET.
fn usual(context: &Context) -> say::Result<Vec<PathBuf>> {
    let places = ::runtime::find::server_libraries(sys::support::WINDOWS, |name| std::env::var_os(name));
    let found: Vec<PathBuf> = places.iter().filter(|place| place.is_dir()).cloned().collect();
    let list = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    if found.is_empty() {
        bail!("command-inspect-nowhere", places = list(&places));
    }
    context.note(&context.lang.say(&say::say!("command-inspect-usual", places = list(&found))));
    Ok(found)
}

fn one(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    match target(path, args) {
        Target::File(path) => file::run(&File::open(path)?, args, context),
        Target::Members(path) => members(path, args, context),
        Target::Package(path, pack) => {
            let unpacked = inputs::unpack(path, pack)?;
            let package = directory::Package { path, refused: &unpacked.refused };
            directory::run(unpacked.root(), Some(&package), args, context)
        }
        Target::Directory(path) => directory::run(path, None, args, context),
        Target::Fingerprint(path) => fingerprint::run(path, args, context),
        Target::Needed(path) => needed::run(path, args, context),
        Target::Lint(path) => lint::run(path, args, context),
        Target::Model(path) => model::run(path, args, context),
        Target::Catalog(path) => catalog::run(&File::open(path)?, args, context),
        Target::Triton(path) => triton::run(path, args, context),
        Target::Tables(path, of) => tuning_tables::run(path, of, args, context),
        Target::Process(pid) => {
            crate::platform::inspects_processes()?;
            process::run(pid, args, context)
        }
    }
}

/// Each member with GPU code separately, and the number of others.
fn members(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let archive = File::open(path)?;
    let (found, all) = inputs::members(&archive)?;
    let words = [
        ("path", path.display().to_string().into()),
        ("found", found.len().into()),
        ("others", (all - found.len()).into()),
    ];
    context.note(&context.lang.text_with("inspect-members", &words));
    let names: Vec<PathBuf> = found.iter().map(|file| file.path().to_owned()).collect();
    // Members of unknown kind are not examined: they may contain anything.
    if names.is_empty() {
        bail!("command-inspect-nothing", path);
    }
    several_inputs::over(&names, args.format == Format::Json, context, |at, _| match found.get(at) {
        Some(file) => file::run(file, args, context),
        None => Ok(ExitCode::SUCCESS),
    })
}

/// A number that is not a file name is a process id.
fn target<'a>(path: &'a Path, args: &'a Args) -> Target<'a> {
    if !path.exists()
        && let Some(pid) = path.to_str().and_then(|text| text.parse().ok())
    {
        return Target::Process(pid);
    }
    if let Some(model) = &args.model {
        return Target::Tables(path, model);
    }
    if args.needed {
        return Target::Needed(path);
    }
    if args.lint {
        return Target::Lint(path);
    }
    if args.fingerprint {
        return Target::Fingerprint(path);
    }
    if path.is_dir() {
        let other = args.has_target.is_some() || args.strict || args.record || args.gpu.is_some();
        let triton = args.fits.is_some() || !other && triton::is_cache(path);
        return if triton { Target::Triton(path) } else { Target::Directory(path) };
    }
    if model::is_model(path) {
        return Target::Model(path);
    }
    if File::open(path).is_ok_and(|file| is_catalog(&file)) {
        return Target::Catalog(path);
    }
    match inputs::pack(path) {
        Some(Pack::Ar) => Target::Members(path),
        Some(pack) => Target::Package(path, pack),
        None => Target::File(path),
    }
}
