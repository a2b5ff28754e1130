//! The text output for a directory.

use super::{Catalog, Library};
use crate::{context::Context, verbs::inspect::text::count};
use evidence::Word;
use gpu::Arch;
use inventory::Pack;
use observe::answers::Serving;
use report::{Column, Table, conclusion_text, gaps, plain};
use std::path::{Path, PathBuf};
use tensile::{Files, Layout, Service, Verdict};

/// Longer lists of problems are cut; JSON has them all.
const SHOWN: usize = 5;

pub fn directory(
    (path, shown): (&Path, &Path),
    arch: Option<&Arch>,
    libraries: &[Library],
    catalogs: &[Catalog],
    context: &Context,
) -> String {
    let name = arch.map(ToString::to_string);
    let target = name.as_deref();
    let mut out = format!("{}\n", plain(&shown.to_string_lossy()));
    if !libraries.is_empty() {
        out.push('\n');
        out += &library_table(path, libraries, target.is_some(), context);
    }
    for library in libraries {
        for unread in library.unread.iter().take(SHOWN) {
            let name = unread.path.strip_prefix(path).unwrap_or(&unread.path);
            out += &format!("{}\n", plain(&format!("{}: {}", name.display(), context.lang.written(&unread.why))));
        }
        if let Some(more) = library.unread.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            out += &format!("{}\n", context.lang.text_with("inspect-more", &[("count", count(more as u64).into())]));
        }
    }
    for catalog in catalogs {
        out.push('\n');
        out += &one_catalog(path, target, catalog, context);
    }
    if let (Some(arch), Some(target)) = (arch, target) {
        for library in libraries.iter().filter(|library| library.lacks(arch)) {
            let name = library.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let taken = library.serves.as_ref().and_then(|serves| serves.taken.clone());
            let key = if taken.is_some() { "inspect-dir-stubs-only" } else { "inspect-dir-no-code" };
            let args = [
                ("file", name.into()),
                ("target", target.to_owned().into()),
                ("taken", taken.unwrap_or_default().into()),
            ];
            out += &format!("\n{}", context.lang.text_with(key, &args));
        }
        if libraries.iter().any(|library| library.lacks(arch)) {
            out.push('\n');
        }
    }
    out
}

/// Whether the GPU would find kernels in anything here; with `--gpu` also whether everything serves it; and why, if the
/// answer is incomplete.
pub fn serving(shown: &Path, arch: &Arch, serving: &Serving, all: bool, context: &Context) -> String {
    let lang = &context.lang;
    let say = |conclusion: &evidence::Conclusion, key: &str| {
        let word = conclusion.word();
        let words = [
            ("target", arch.to_string().into()),
            ("dir", shown.display().to_string().into()),
            ("said", conclusion_text(lang, conclusion).into()),
            ("gaps", gaps(lang, conclusion).unwrap_or_default().into()),
            ("files", count(conclusion.answered()).into()),
        ];
        let said = lang.text_with(&format!("inspect-dir-{key}-{}", word.key()), &words);
        format!("\n{}: {}\n", lang.text(&format!("answer-{}", word.key())), plain(&said))
    };
    let mut out = say(&serving.any, "any");
    if all && serving.any.word() == Word::Yes {
        out += say(&serving.all, "all").trim_start();
    }
    out
}

/// Packed files that were not examined: no conclusion covers them.
pub fn packs(packs: &[(PathBuf, Pack)], context: &Context) -> String {
    let Some((first, _)) = packs.first() else { return String::new() };
    let names = packs.iter().take(SHOWN).map(|(path, pack)| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        context.lang.noted(&name.to_string(), pack.key())
    });
    let mut names: Vec<String> = names.collect();
    if packs.len() > SHOWN {
        names.push("...".to_owned());
    }
    let args = [
        ("count", packs.len().into()),
        ("list", context.lang.list(names).into()),
        ("first", first.display().to_string().into()),
    ];
    format!("\n{}\n", context.lang.text_with("inspect-dir-packs", &args))
}

fn library_table(root: &Path, libraries: &[Library], asked: bool, context: &Context) -> String {
    let title = |key: &str| context.lang.text(key);
    let mut columns = vec![
        Column::left("library", title("inspect-column-library")),
        Column::left("version", title("inspect-column-version")),
        Column::left("release", title("inspect-column-release")),
        Column::right("size", title("inspect-column-bytes")),
        Column::right("bundles", title("inspect-column-bundles")),
        Column::right("kernels", title("inspect-column-kernels")),
        Column::left("targets", title("inspect-column-targets")),
    ];
    if asked {
        columns.push(Column::left("serves", title("inspect-column-serves")));
    }
    let mut table = Table::new(columns);
    for library in libraries {
        let generic = |serves: &&inventory::Serves| serves.how.is_some_and(|how| how != gpu::How::Own);
        let serves = match library.answer() {
            Some(true) => {
                let taken = library.serves.as_ref().filter(generic).and_then(|serves| serves.taken.clone());
                taken.map_or_else(|| title("inspect-yes"), |taken| format!("{} ({taken})", title("inspect-yes")))
            }
            Some(false) => title("inspect-no"),
            None if library.targets.is_empty() => "-".to_owned(),
            None => title("inspect-unknown"),
        };
        let path = library.path.strip_prefix(root).unwrap_or(&library.path);
        table.row([
            match library.loose {
                Some(files) => {
                    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
                    let args = [("path", path.display().to_string().into()), ("files", count(files as u64).into())];
                    context.lang.text_with("inspect-dir-loose", &args)
                }
                None => path.display().to_string(),
            },
            library.version.clone().unwrap_or_default(),
            library.release.clone().unwrap_or_default(),
            count(library.size),
            count(library.bundles as u64),
            count(library.kernels),
            targets(library, context),
            serves,
        ]);
    }
    table.text(context.width)
}

/// Target ids, and SPIR-V, which a driver compiles for any target.
fn targets(library: &Library, context: &Context) -> String {
    let mut names: Vec<String> = library.targets.keys().cloned().collect();
    if library.modules > 0 {
        let words = [("count", count(library.modules as u64).into())];
        names.push(context.lang.text_with("inspect-dir-spirv", &words));
    }
    names.join(" ")
}

fn one_catalog(root: &Path, target: Option<&str>, catalog: &Catalog, context: &Context) -> String {
    let lang = &context.lang;
    let listing = catalog.dir.listing();
    let path = catalog.dir.dir().strip_prefix(root).unwrap_or(catalog.dir.dir());
    let path = if path.as_os_str().is_empty() { catalog.dir.dir() } else { path };
    let mut out = lang.text_with(
        "inspect-catalog",
        &[
            ("library", catalog.dir.library().into()),
            ("path", path.display().to_string().into()),
            ("files", count(listing.names().count() as u64).into()),
            ("layout", lang.text(&format!("inspect-layout-{}", layout(listing.layout()))).into()),
        ],
    );
    out.push('\n');
    let per_target: Vec<String> = listing.per_target().iter().map(|(name, n)| format!("{name} {n}")).collect();
    let args = [("list", lang.list(per_target).into())];
    out += &format!("{}\n", lang.text_with("inspect-catalog-targets", &args));
    if let Some(service) = &catalog.service {
        out += &verdict(service, context);
    }
    if let (Some(index), Some(target)) = (&catalog.filtered, target) {
        let args = [
            ("targets", lang.list(&index.targets).into()),
            ("target", target.to_owned().into()),
            ("name", index.name.clone().into()),
        ];
        out += &format!("{}\n", lang.text_with("inspect-catalog-filtered", &args));
    }
    out
}

fn verdict(service: &Service, context: &Context) -> String {
    let lang = &context.lang;
    let own = service.leaves.iter().filter(|leaf| !leaf.fallback).count();
    let args = [
        ("target", service.target.clone().into()),
        ("files", count(service.files as u64).into()),
        ("leaves", count(service.leaves.len() as u64).into()),
        ("own", count(own as u64).into()),
        ("fallback", count((service.leaves.len() - own) as u64).into()),
        ("kernels", count(service.families.values().map(|family| family.kernels as u64).sum()).into()),
    ];
    let mut out = format!("{}\n", lang.text_with(&format!("inspect-serves-{}", service.verdict().name()), &args));
    if service.verdict() <= Verdict::NotKnown {
        return out + &troubles(service, context);
    }
    let title = |key: &str| lang.text(key);
    let mut table = Table::new(vec![
        Column::left("type", title("inspect-column-type")),
        Column::right("leaves", title("inspect-column-leaves")),
        Column::right("fallback", title("inspect-column-fallback")),
        Column::right("solutions", title("inspect-column-solutions")),
        Column::right("kernels", title("inspect-column-kernels")),
        Column::left("tiles", title("inspect-column-tiles")),
    ]);
    for (name, family) in &service.families {
        let tiles = family.macro_tiles.iter().next().zip(family.macro_tiles.iter().next_back());
        let tiles =
            tiles.map(|(low, high)| format!("{}x{} .. {}x{}", low.0, low.1, high.0, high.1)).unwrap_or_default();
        table.row([
            name.clone(),
            count(family.leaves as u64),
            count(family.fallback_leaves as u64),
            count(family.solutions as u64),
            count(family.kernels as u64),
            tiles,
        ]);
    }
    out += &table.text(context.width);
    out + &troubles(service, context)
}

/// Missing and unreadable files and unknown nodes, one line each.
fn troubles(service: &Service, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = String::new();
    let mut problems: Vec<String> =
        service.troubles().map(|trouble| plain(&trouble.to_string()).into_owned()).collect();
    let nodes = service.unknown_nodes.iter();
    problems.extend(nodes.map(|kind| lang.text_with("inspect-unknown-node", &[("kind", kind.clone().into())])));
    for leaf in &service.leaves {
        if !leaf.absent.is_empty() {
            let args = [
                ("leaf", leaf.name.clone().into()),
                ("count", count(leaf.absent.len() as u64).into()),
                ("first", leaf.absent.first().cloned().unwrap_or_default().into()),
            ];
            problems.push(lang.text_with("inspect-absent-kernels", &args));
        }
    }
    for problem in problems.iter().take(SHOWN) {
        out += &format!("  {problem}\n");
    }
    if problems.len() > SHOWN {
        let args = [("count", count((problems.len() - SHOWN) as u64).into())];
        out += &format!("{}\n", lang.text_with("inspect-more", &args));
    }
    out
}

/// The name of a layout, which is also the last part of the key of its description.
pub fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::Lazy => "lazy",
        Layout::Single => "single",
        Layout::None => "none",
    }
}
