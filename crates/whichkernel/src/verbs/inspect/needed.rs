//! `inspect FILE|DIR --needed`: the chain of libraries as a tree, determined without running anything.

use super::Args;
use crate::context::Context;
use crate::emit::Plain;
use observe::answers::Needed;
use report::{Column, Table};
use runtime::linkage::{Chain, FileAt, How, Inside, Search};
use say::{Context as _, bail};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// A limit: a directory with a million files is not a runtime.
const FILES: usize = 10_000;

pub fn run(path: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let path = path.canonicalize().about(path.display())?;
    let (inside, at) = tree_of(&path);
    // Like ldd: the caller's own LD_LIBRARY_PATH counts, but not inside another tree.
    let library_path = match inside.root() == Path::new("/") {
        true => std::env::var("LD_LIBRARY_PATH").unwrap_or_default(),
        false => String::new(),
    };
    let search = Search::new(inside, &library_path);
    let starts = if path.is_dir() { starts(&path, &at)? } else { vec![at] };
    let mut chains: Vec<Chain> = starts.iter().map(|start| Chain::of(&search, start, &[])).collect();
    if path.is_dir() {
        // A library that another one of the directory loads is shown there.
        let brought: HashSet<PathBuf> =
            chains.iter().flat_map(|chain| chain.objects.iter().skip(1).map(|object| object.real.clone())).collect();
        chains.retain(|chain| chain.objects.first().is_some_and(|first| !brought.contains(&first.real)));
    } else if let Some(problem) = chains.first().and_then(|chain| chain.objects.first()?.problem.clone()) {
        bail!("about-why", what = path, why = problem);
    }
    if args.record {
        super::record::needed(&path, &search, &chains, context)?;
    }
    let plain = |plain| match plain {
        Plain::Text => chains.iter().map(|chain| text(chain, context)).collect(),
        Plain::Csv => edges(&chains, context).csv(),
        Plain::Md => edges(&chains, context).markdown(),
    };
    let whole = || Needed::new(&path, search.inside.root(), &chains);
    context.emit_as(args.format, whole, |format| Ok(plain(format)))?;
    Ok(ExitCode::SUCCESS)
}

/// A file in a cached runtime is examined as the programs of that tree would see it.
pub fn tree_of(path: &Path) -> (Inside, PathBuf) {
    let root = path.ancestors().find(|dir| {
        dir.file_name().is_some_and(|name| name == "root")
            && dir.join("usr/lib").is_dir()
            && dir.parent().is_some_and(|up| up.join("index.json").is_file())
    });
    match root.and_then(|root| Some((root, path.strip_prefix(root).ok()?))) {
        Some((root, rest)) => (Inside::new(root), Path::new("/").join(rest)),
        None => (Inside::new("/"), path.to_owned()),
    }
}

/// ELF files of a directory that have dependencies, by their paths inside the tree.
fn starts(dir: &Path, at: &Path) -> say::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    let mut queue = vec![(dir.to_owned(), at.to_owned())];
    while let Some((dir, at)) = queue.pop() {
        for entry in std::fs::read_dir(&dir).about(dir.display())? {
            let entry = entry?;
            let (path, inside) = (entry.path(), at.join(entry.file_name()));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                queue.push((path, inside));
            } else if kind.is_file() {
                let file = sys::regular_file::open(&path).and_then(FileAt::new);
                let dynamic = file.ok().and_then(|file| runtime::linkage::Dynamic::read(&file).ok());
                // Device code is ELF too, but has no dependencies.
                if dynamic.is_some_and(|dynamic| dynamic.is_dynamic && dynamic.machine == 62) {
                    out.push(inside);
                }
            }
            if out.len() > FILES {
                bail!("command-many-libraries", most = FILES, dir);
            }
        }
    }
    out.sort();
    Ok(out)
}

fn text(chain: &Chain, context: &Context) -> String {
    let mut out = String::new();
    let mut shown = HashSet::new();
    for (index, object) in chain.objects.iter().enumerate() {
        if object.parent.is_none() {
            branch(chain, index, 0, &mut shown, &mut out, context);
        }
    }
    out
}

fn branch(chain: &Chain, index: usize, depth: usize, shown: &mut HashSet<usize>, out: &mut String, context: &Context) {
    let Some(object) = chain.objects.get(index) else { return };
    let found = match object.how {
        How::Start => String::new(),
        How::Missing => format!("  {}", context.lang.text("inspect-needed-missing")),
        how => format!("  {}  [{}]", object.path.display(), how.name()),
    };
    let again = !shown.insert(index);
    let mark = if again && chain.edges.iter().any(|edge| edge.from == index) { "  ..." } else { "" };
    out.push_str(&format!("{:width$}{}{found}{mark}\n", "", object.name, width = depth * 2));
    if again {
        return;
    }
    for edge in chain.edges.iter().filter(|edge| edge.from == index) {
        branch(chain, edge.to, depth + 1, shown, out, context);
    }
}

fn edges(chains: &[Chain], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::left("from", title("inspect-column-from")),
        Column::left("needed", title("inspect-column-needed")),
        Column::left("path", title("inspect-column-path")),
        Column::left("how", title("inspect-column-how")),
    ]);
    for chain in chains {
        for edge in &chain.edges {
            let (Some(from), Some(to)) = (chain.objects.get(edge.from), chain.objects.get(edge.to)) else { continue };
            let from = from.dynamic.soname.clone().unwrap_or_else(|| from.name.clone());
            table.row([from, to.name.clone(), to.path.display().to_string(), to.how.name().to_owned()]);
        }
    }
    table
}
