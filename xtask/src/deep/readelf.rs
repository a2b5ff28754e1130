//! Compares every code object of every artifact in the cache with `llvm-readelf --file-header --notes`.

use anyhow::Context;
use codeobject::{CodeObject, Kernel, ReadAt};
use inventory::{File, Format, Found, Look, Options, inspect};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The comparisons in one file, or in all files of one artifact.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    files: u64,
    objects: u64,
    kernels: u64,
    differences: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.files += other.files;
        self.objects += other.objects;
        self.kernels += other.kernels;
        self.differences += other.differences;
    }
}

struct Compare {
    readelf: PathBuf,
    dir: tempfile::TempDir,
}

#[derive(Default)]
struct Out {
    tally: Tally,
    words: Vec<String>,
}

impl Look for Compare {
    type Out = Out;

    fn entry(&self, found: &Found<'_>, out: &mut Out) -> bool {
        if found.format != Format::Elf || found.kind == "host" {
            return false;
        }
        match self.object(found) {
            Ok((kernels, wrong)) => {
                out.tally.objects += 1;
                out.tally.kernels += kernels;
                out.tally.differences += wrong.len() as u64;
                out.words.extend(wrong);
            }
            Err(error) => {
                out.tally.differences += 1;
                out.words.push(format!("{error:#}"));
            }
        }
        false
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, _: &Kernel, _: &mut Out) {}
}

impl Compare {
    fn object(&self, found: &Found<'_>) -> anyhow::Result<(u64, Vec<String>)> {
        let bytes = found.contents.bytes(0, found.contents.len(), "entry")?.into_owned();
        let path = self.dir.path().join(format!("{}-{}", found.bundle.unwrap_or(0), found.entry));
        fs::write(&path, &bytes)?;
        let said = llvm_oracle::read(&self.readelf, &[&path]);
        fs::remove_file(&path)?;
        let said = said?.pop().context("readelf said nothing")?;
        let object = CodeObject::parse(&bytes)?;
        Ok((said.kernels.len() as u64, llvm_oracle::differences(&object, &said)))
    }

    fn file(&self, path: &Path) -> anyhow::Result<Out> {
        let file = File::open(path)?;
        let mut all = Out::default();
        all.tally.files = 1;
        inspect(&file, &Options::default(), false, self, |_, out: Out| {
            all.tally.add(out.tally);
            all.words.extend(out.words);
            anyhow::Ok(())
        })?;
        Ok(all)
    }
}

pub fn run() -> anyhow::Result<bool> {
    let readelf = llvm_oracle::find("llvm-readelf").context("llvm-readelf is not installed")?;
    let compare = Compare { readelf, dir: tempfile::tempdir()? };
    let state = test_artifacts::cache().join("deep/readelf.tsv");
    fs::create_dir_all(state.parent().context("no directory")?)?;
    let done = read_state(&state);
    let mut log = OpenOptions::new().create(true).append(true).open(&state)?;
    let mut table: BTreeMap<String, Tally> = BTreeMap::new();
    for (artifact, path) in files() {
        let metadata = fs::metadata(&path)?;
        let key = format!("{} {} {:?}", path.display(), metadata.len(), metadata.modified()?);
        let tally = match done.get(&key) {
            Some(tally) => *tally,
            None => {
                let out = compare.file(&path)?;
                for word in out.words.iter().take(5) {
                    eprintln!("{}: {word}", path.display());
                }
                let t = out.tally;
                if t.objects > 50 {
                    eprintln!("{}: {} objects, {} kernels", path.display(), t.objects, t.kernels);
                }
                writeln!(log, "{key}\t{}\t{}\t{}", t.objects, t.kernels, t.differences)?;
                t
            }
        };
        if tally.objects > 0 {
            table.entry(artifact).or_default().add(tally);
        }
    }
    let agreed = table.values().all(|tally| tally.differences == 0);
    write_table(&compare.readelf, &table)?;
    Ok(agreed)
}

/// Every file in the cache that may contain device code.
fn files() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for home in ["artifacts", "runtimes"] {
        let home = test_artifacts::cache().join(home);
        for entry in fs::read_dir(&home).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            test_artifacts::files(&entry.path(), &mut |path| {
                if inventory_worthy(path) {
                    found.push((name.clone(), path.to_owned()));
                }
            });
        }
    }
    found.sort();
    found
}

fn inventory_worthy(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let magic = file.bytes(0, file.len().min(4), "magic");
    magic.is_ok_and(|magic| [&b"\x7fELF"[..], b"CCOB", b"__CL"].contains(&&*magic))
}

fn read_state(path: &Path) -> HashMap<String, Tally> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let mut cells = line.split('\t');
        let key = cells.next()?.to_owned();
        let mut number = || cells.next()?.parse::<u64>().ok();
        let tally = Tally { files: 1, objects: number()?, kernels: number()?, differences: number()? };
        // Objects with differences are compared again.
        (tally.differences == 0).then_some((key, tally))
    };
    text.lines().filter_map(line).collect()
}

fn write_table(readelf: &Path, table: &BTreeMap<String, Tally>) -> anyhow::Result<()> {
    let version = Command::new(readelf).arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version);
    let version = version.lines().find(|line| line.contains("version")).unwrap_or("").trim().to_owned();
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output()?.stdout;
    let mut text = format!(
        "# Code objects compared with llvm-readelf\n\n`cargo xtask deep readelf` wrote this page on {} with {version}.\n\nFor every kernel, the comparison covers the name, symbol, SGPRs, VGPRs, AGPRs, spills, LDS, scratch, wavefront size,\nkernarg size and alignment, and largest workgroup. It also covers the offset, size, kind, name, type and address space of\nevery argument. For every object, it covers e_flags, `amdhsa.target` and the number of kernels.\n\n| artifact | files | code objects | kernels | differences |\n|---|---:|---:|---:|---:|\n",
        String::from_utf8_lossy(&date).trim()
    );
    let mut all = Tally::default();
    for (name, tally) in table {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} |",
            tally.files, tally.objects, tally.kernels, tally.differences
        );
        all.add(*tally);
    }
    let _ = writeln!(text, "| **total** | {} | {} | {} | {} |", all.files, all.objects, all.kernels, all.differences);
    print!("{text}");
    fs::write("docs/measurements/deep-readelf.md", text)?;
    Ok(())
}
