//! Checks every Tensile catalog in the cache, for every target with files: all leaves and kernels must be found, and
//! the kernels that we read from each code object are compared with `llvm-readelf --symbols`.

use anyhow::Context;
use codeobject::ReadAt;
use runtime::catalogs::{LibraryDir, find, kernels_in};
use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, process::Command};
use tensile::{Files, serve};

pub fn run() -> anyhow::Result<bool> {
    let readelf = llvm_oracle::find("llvm-readelf").context("llvm-readelf is not installed")?;
    let mut rows = String::new();
    let mut agreed = true;
    let home = test_artifacts::cache().join("runtimes");
    let mut runtimes: Vec<_> = fs::read_dir(&home).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    runtimes.sort();
    for runtime in runtimes.iter().filter(|path| path.join("index.json").is_file()) {
        let name = runtime.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let index = runtime::Index::read(runtime)?;
        for dir in find(&runtime.join("root"))? {
            let targets = dir.listing().per_target();
            let whole = |target: &&String| index.targets.is_empty() || index.targets.contains(target);
            for target in targets.keys().filter(whole) {
                eprintln!("{name} {} {target}", dir.library());
                let service = serve(&dir, target, &mut |_| ());
                let (objects, kernels, wrong) = compare(&readelf, &dir, target)?;
                for word in wrong.iter().take(5) {
                    eprintln!("  {word}");
                }
                let absent: usize = service.leaves.iter().map(|leaf| leaf.absent.len()).sum();
                let problems = service.problems.len() + service.leaves.iter().map(|l| l.problems.len()).sum::<usize>();
                agreed &= wrong.is_empty() && absent == 0 && problems == 0;
                writeln!(
                    rows,
                    "| {name} | {} | {target} | {} | {} | {} | {objects} | {kernels} | {} | {absent} | {problems} |",
                    dir.library(),
                    service.verdict().name(),
                    service.files,
                    service.leaves.len(),
                    wrong.len()
                )?;
            }
        }
    }
    let text = format!(
        "# Catalogs compared with llvm-readelf\n\n`cargo xtask deep catalogs` wrote this page on {} for the runtimes in the cache. \
         \"objects\" counts the code objects with the target in their name. \"kernels\" counts the kernel symbols that both tools read from them.\n\n\
         | runtime | library | target | verdict | files | leaves | objects | kernels | differences | absent kernels | problems |\n\
         |---|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n{rows}",
        sys::clock::now_to_the_second().get(..10).unwrap_or_default()
    );
    fs::write("docs/measurements/catalogs-oracle.md", text)?;
    Ok(agreed)
}

/// The compared objects and kernels, and the differences.
fn compare(readelf: &Path, dir: &LibraryDir, target: &str) -> anyhow::Result<(usize, usize, Vec<String>)> {
    let (mut objects, mut kernels, mut wrong) = (0, 0, Vec::new());
    let scratch = tempfile::tempdir()?;
    for name in dir.listing().files_for(target).filter(|name| !name.ends_with(".dat")) {
        let file = dir.open_file(name)?;
        let ours: BTreeSet<String> = kernels_in(&file, target)?.into_iter().collect();
        // readelf does not open bundles, so their content is passed to it as a file.
        let mut theirs = BTreeSet::new();
        for (i, object) in elf_images(&file, target)?.into_iter().enumerate() {
            let path = scratch.path().join(format!("{i}.o"));
            fs::write(&path, object)?;
            let output = Command::new(readelf).args(["--symbols", "--wide"]).arg(&path).output()?;
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let name = line.split_whitespace().last().unwrap_or_default();
                theirs.extend(name.strip_suffix(".kd").map(str::to_owned));
            }
        }
        objects += 1;
        kernels += theirs.len();
        if ours != theirs {
            wrong.push(format!("{name}: {} kernels here, {} by readelf", ours.len(), theirs.len()));
        }
    }
    Ok((objects, kernels, wrong))
}

fn elf_images(source: &dyn ReadAt, target: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    if &*source.bytes(0, source.len().min(4), "magic")? == b"\x7fELF" {
        return Ok(vec![source.bytes(0, source.len(), "object")?.into_owned()]);
    }
    let mut out = Vec::new();
    for piece in codeobject::walk(source, codeobject::Range { start: 0, end: source.len() }, 0) {
        let codeobject::Piece::Bundle(bundle) = piece else { continue };
        let opened = bundle.open(source, codeobject::ccob::DEFAULT_LIMIT)?;
        for entry in opened.table.entries.iter().filter(|entry| entry.id.text.contains(target)) {
            let contents = opened.contents(entry)?;
            out.push(contents.bytes(0, contents.len(), "entry")?.into_owned());
        }
    }
    Ok(out)
}
