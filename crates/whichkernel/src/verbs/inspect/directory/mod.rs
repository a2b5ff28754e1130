//! `inspect DIR`: a runtime directory (an Ollama bundle, an unpacked tree) or a rocBLAS/hipBLASLt library directory.
//!
//! What GPU libraries lie in it, which targets each ships code for, which kernel catalogs there are; with `--gpu`,
//! whether all that serves one GPU.

mod libraries;
mod text;

use super::Args;
use super::select::wanted;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use anyhow::{Context as _, bail};
use gpu::Arch;
use inventory::Pack;
use libraries::{Found, Library};
use observe::answers::{self, Directory};
use runtime::catalogs::{self, LibraryDir};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tensile::{Files, Service, Verdict, serve};

/// A catalog directory, and how it would serve the GPU that was asked about.
struct Catalog {
    dir: LibraryDir,
    service: Option<Service>,
    /// The runtime was fetched without this target's files: what is not here says nothing about the package.
    filtered: Option<runtime::Index>,
}

/// `package`: what was unpacked to `path` for the time of the answer, and is called by its own name.
pub fn run(path: &Path, package: Option<&Path>, args: &Args, context: &Context) -> anyhow::Result<ExitCode> {
    let shown = package.unwrap_or(path);
    let arch_asked = args.has_target.as_deref().map(Arch::parse).transpose()?;
    let arch = arch_asked.clone().or(wanted(args)?);
    let target = arch.as_ref().map(processor);
    let found = catalogs::find(path).with_context(|| path.display().to_string())?;
    let skip: Vec<_> = found.iter().map(|dir| dir.dir().to_owned()).collect();
    let Found { libraries, unread, packs } = libraries::find(path, &skip, arch.as_ref(), context);
    for place in &unread {
        context.note(&context.lang.text_with("inspect-dir-unread", &[("path", place.clone().into())]));
    }
    let serve_one = |dir: LibraryDir| {
        let mut progress = |name: &str| context.progress(name);
        let filtered = target.as_deref().and_then(|target| left_out(dir.dir(), target));
        let wanted = target.as_deref().filter(|_| filtered.is_none());
        let service = wanted.map(|target| serve(&dir, target, &mut progress));
        Catalog { dir, service, filtered }
    };
    let catalogs: Vec<Catalog> = found.into_iter().map(serve_one).collect();
    if libraries.is_empty() && catalogs.is_empty() && packs.is_empty() && unread.is_empty() {
        bail!("{}: no GPU library, code object or kernel catalog lies in it", shown.display());
    }
    if args.record {
        super::record::catalogs(catalogs.iter().map(|catalog| (&catalog.dir, catalog.service.as_ref())), context)?;
    }
    match args.format {
        Format::Json => {
            let pack = |(path, pack): &(PathBuf, Pack)| answers::Pack { path: answers::shown(path), kind: pack.key() };
            let not_looked_into = packs.iter().map(pack).collect();
            let answer = answer(shown, target.as_deref(), &libraries, &catalogs);
            context.print(&answer::json(&Directory { unread: unread.clone(), not_looked_into, ..answer })?)?;
        }
        Format::Text => {
            let mut out = text::directory((path, shown), arch.as_ref(), &libraries, &catalogs, context);
            out += &text::packs(&packs, context);
            context.print(&out)?;
        }
        Format::Csv | Format::Md => bail!("a directory has the formats text and json"),
    }
    let served =
        |catalog: &Catalog| catalog.service.as_ref().is_none_or(|service| service.verdict() >= Verdict::FallbackOnly);
    let mut loose = libraries.iter().filter(|library| library.loose.is_some()).peekable();
    let lacks = |library: &Library| arch.as_ref().is_some_and(|arch| library.lacks(arch));
    let shipped = !libraries.iter().any(lacks)
        && (target.is_none() || loose.peek().is_none() || loose.any(|library| library.answer() == Some(true)));
    if arch_asked.is_some() {
        return Ok(has_target(&libraries, unread.is_empty() && packs.is_empty()));
    }
    // What could be read was shown; that it is all there is cannot be said.
    if !unread.is_empty() {
        return Ok(ExitCode::from(COULD_NOT_RUN));
    }
    Ok(if args.strict && !(catalogs.iter().all(served) && shipped) {
        ExitCode::from(CHECK_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// The index of the cached runtime that `dir` belongs to, if it was fetched for other targets only.
fn left_out(dir: &Path, target: &str) -> Option<runtime::Index> {
    let dir = dir.canonicalize().ok()?;
    let index = dir.ancestors().find_map(|dir| runtime::Index::read(dir).ok())?;
    (!index.targets.is_empty() && !index.targets.iter().any(|known| known == target)).then_some(index)
}

/// Whether anything in the directory has kernels for the target that was asked for. 0 yes, 1 no, 2 nobody can say.
fn has_target(libraries: &[Library], all_read: bool) -> ExitCode {
    let mut answers = libraries.iter().filter(|library| library.serves.is_some()).map(Library::answer);
    if answers.clone().any(|answer| answer == Some(true)) {
        ExitCode::SUCCESS
    } else if all_read && answers.all(|answer| answer == Some(false)) {
        ExitCode::from(CHECK_FAILED)
    } else {
        ExitCode::from(COULD_NOT_RUN)
    }
}

/// Catalogs are sorted by processor: `gfx90a:xnack-` -> `gfx90a`.
fn processor(arch: &Arch) -> String {
    match arch {
        Arch::Amd(target) => target.processor.clone(),
        other => other.to_string(),
    }
}

fn answer(path: &Path, target: Option<&str>, libraries: &[Library], catalogs: &[Catalog]) -> Directory {
    let library = |library: &Library| answers::Library {
        path: answers::shown(&library.path),
        loose_files: library.loose,
        size: library.size,
        soname: library.soname.clone(),
        part: library.part,
        version: library.version.clone(),
        release: library.release.clone(),
        bundles: library.bundles,
        kernels: library.kernels,
        targets: library.targets.clone(),
        stubs: library.stubs,
        spirv_modules: library.modules,
        serves: library.answer(),
        taken: library.serves.as_ref().and_then(|serves| serves.taken.clone()),
        problem: library.problem.clone(),
    };
    let catalog = |catalog: &Catalog| answers::Catalog {
        path: answers::shown(catalog.dir.dir()),
        library: catalog.dir.library().to_owned(),
        layout: text::layout(catalog.dir.listing().layout()),
        files: catalog.dir.listing().names().count(),
        targets: catalog.dir.listing().per_target(),
        service: catalog.service.as_ref().map(Into::into),
        fetched_for: catalog.filtered.as_ref().map(|index| index.targets.clone()),
    };
    Directory {
        directory: answers::shown(path),
        gpu: target.map(str::to_owned),
        libraries: libraries.iter().map(library).collect(),
        catalogs: catalogs.iter().map(catalog).collect(),
        unread: Vec::new(),
        not_looked_into: Vec::new(),
    }
}
