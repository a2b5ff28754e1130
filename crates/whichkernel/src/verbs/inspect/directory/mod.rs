//! `inspect DIR`: a runtime directory (an Ollama bundle, an unpacked tree) or a rocBLAS/hipBLASLt library directory.
//!
//! Lists its GPU libraries with their targets, and the kernel catalogs; with `--gpu`, whether everything serves one
//! GPU.

mod text;

use super::Args;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::{Plain, exit_code};
use evidence::{Conclusion, Word};
use gpu::Arch;
use inventory::{Pack, Unread};
use observe::answers::{self, Directory, Serving};
use observe::directory::{CatalogSaid, DirectorySurvey, Library, Survey, survey};
use observe::libraries::serves;
use runtime::catalogs::{self, LibraryDir};
use say::{Context as _, Message, Say as _, bail, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tensile::{Files, Service, serve};

/// A catalog directory, and how it would serve the requested GPU.
struct Catalog {
    dir: LibraryDir,
    service: Option<Service>,
    /// The runtime was fetched without this target's files: missing files show nothing about the package.
    filtered: Option<runtime::Index>,
}

impl Catalog {
    fn said(&self) -> CatalogSaid<'_> {
        CatalogSaid {
            path: self.dir.dir(),
            files: self.dir.listing().names().count() as u64,
            serves: self.service.as_ref().map(serves),
        }
    }
}

/// A temporarily unpacked package: it is shown under its own name, and parts that were not unpacked are unknown.
pub struct Package<'a> {
    pub path: &'a Path,
    pub refused: &'a [String],
}

pub fn run(path: &Path, package: Option<&Package<'_>>, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let shown = package.map_or(path, |package| package.path);
    let arch_asked = args.has_target.as_deref().map(Arch::parse).transpose()?;
    let arch = arch_asked.clone().or(args.wanted()?);
    let target = arch.as_ref().map(processor);
    let found = catalogs::find(path).about(path.display())?;
    let skip: Vec<_> = found.iter().map(|dir| dir.dir().to_owned()).collect();
    let mut survey = survey(path, &skip, arch.as_ref(), &mut |path| context.progress(&path.display().to_string()));
    if let Some(package) = package {
        named_inside(&mut survey, path, package);
    }
    for place in &survey.unread {
        context.note(&context.lang.say(&say!("inspect-dir-unread", path = place)));
    }
    let serve_one = |dir: LibraryDir| {
        let mut progress = |name: &str| context.progress(name);
        let filtered = target.as_deref().and_then(|target| left_out(dir.dir(), target));
        let wanted = target.as_deref().filter(|_| filtered.is_none());
        let service = wanted.map(|target| serve(&dir, target, &mut progress));
        Catalog { dir, service, filtered }
    };
    let catalogs: Vec<Catalog> = found.into_iter().map(serve_one).collect();
    let place =
        DirectorySurvey { path: shown, survey: &survey, catalogs: catalogs.iter().map(Catalog::said).collect() };
    let serving = arch.as_ref().map(|arch| Serving { any: place.presence(), all: place.service(arch) });
    let nothing = survey.libraries.is_empty() && survey.packs.is_empty() && survey.unread.is_empty();
    if nothing && catalogs.is_empty() && arch_asked.is_none() {
        bail!("command-inspect-nothing", path = shown);
    }
    if args.record {
        super::record::catalogs(catalogs.iter().map(|catalog| (&catalog.dir, catalog.service.as_ref())), context)?;
    }
    let code = match &serving {
        Some(serving) if arch_asked.is_some() => exit_code(&serving.any),
        Some(serving) if args.strict => strict(serving),
        // Everything readable was shown, but it may not be complete.
        _ if !survey.unread.is_empty() => ExitCode::from(COULD_NOT_RUN),
        _ => ExitCode::SUCCESS,
    };
    let whole = || answer(shown, target.as_deref(), &survey, &catalogs, place.completeness(), serving.clone());
    context.emit_as(args.format, whole, |plain| match plain {
        Plain::Text => {
            let mut out = text::directory((path, shown), arch.as_ref(), &survey.libraries, &catalogs, context);
            out += &text::packs(&survey.packs, context);
            if let (Some(arch), Some(serving)) = (&arch, &serving) {
                out += &text::serving(shown, arch, serving, arch_asked.is_none(), context);
            }
            Ok(out)
        }
        Plain::Csv | Plain::Md => bail!("command-formats-directory"),
    })?;
    Ok(code)
}

/// `--strict`: fails if no file supports the GPU, or if any file does not.
fn strict(serving: &Serving) -> ExitCode {
    if serving.any.word() == Word::No { ExitCode::from(CHECK_FAILED) } else { exit_code(&serving.all) }
}

/// Uses the names in the package instead of the temporary ones, and adds the parts that were not unpacked.
fn named_inside(survey: &mut Survey, root: &Path, package: &Package<'_>) {
    let inside = |path: &PathBuf| path.strip_prefix(root).map_or_else(|_| path.clone(), |rest| package.path.join(rest));
    let unread = survey.unread.iter_mut().chain(survey.libraries.iter_mut().flat_map(|library| &mut library.unread));
    unread.for_each(|one| one.path = inside(&one.path));
    survey.packs.iter_mut().for_each(|(path, _)| *path = inside(path));
    survey.unread.extend(package.refused.iter().map(|why| Unread::new(package.path, Message::verbatim(why))));
}

/// The index of the cached runtime that `dir` belongs to, if it was fetched for other targets only.
fn left_out(dir: &Path, target: &str) -> Option<runtime::Index> {
    let dir = dir.canonicalize().ok()?;
    let index = dir.ancestors().find_map(|dir| runtime::Index::read(dir).ok())?;
    (!index.targets.is_empty() && !index.targets.iter().any(|known| known == target)).then_some(index)
}

/// Catalogs are sorted by processor: `gfx90a:xnack-` -> `gfx90a`.
fn processor(arch: &Arch) -> String {
    match arch {
        Arch::Amd(target) => target.processor.clone(),
        other => other.to_string(),
    }
}

fn answer(
    path: &Path,
    target: Option<&str>,
    survey: &Survey,
    catalogs: &[Catalog],
    conclusion: Conclusion,
    serves: Option<Serving>,
) -> Directory {
    let pack = |(path, pack): &(PathBuf, Pack)| answers::Pack { path: answers::shown(path), kind: pack.key() };
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
        problem: library.unread.first().map(|unread| unread.message().to_string()),
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
        target: target.map(str::to_owned),
        libraries: survey.libraries.iter().map(library).collect(),
        catalogs: catalogs.iter().map(catalog).collect(),
        conclusion,
        serves,
        unread: survey.unread.iter().map(|unread| unread.message().to_string()).collect(),
        not_looked_into: survey.packs.iter().map(pack).collect(),
    }
}
