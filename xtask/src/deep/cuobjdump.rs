//! Compares registers, stack and shared memory of every kernel of every cubin in the cache with `cuobjdump -res-usage`.

use anyhow::Context;
use codeobject::nvidia::{Inventory, Region};
use inventory::File;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const LIMIT: usize = 1 << 30;

/// (sm, kernel) to (registers, stack, shared).
type Resources = BTreeMap<(u32, String), (u64, u64, u64)>;

pub fn run() -> anyhow::Result<bool> {
    let tool = env::var_os("CUOBJDUMP").map_or_else(|| PathBuf::from("cuobjdump"), PathBuf::from);
    if Command::new(&tool).arg("--version").output().is_err() {
        eprintln!("SKIPPED: cuobjdump is not on PATH (PyPI nvidia-cuda-cuobjdump has it; CUOBJDUMP names it)");
        return Ok(true);
    }
    let mut files = Vec::new();
    libraries(&test_artifacts::cache(), &mut files);
    files.sort();
    let mut rows = String::from(
        "| file | kernels compared | differences | not in cuobjdump's answer |\n| --- | ---: | ---: | ---: |\n",
    );
    let mut agreed = true;
    for path in files {
        let file = File::open(&path)?;
        if !codeobject::nvidia::host_sections(&file).is_ok_and(|sections| !sections.is_empty()) {
            continue;
        }
        let ours = ours(&file)?;
        let theirs = theirs(&tool, &path)?;
        let (mut compared, mut wrong, mut silent) = (0, 0, 0);
        for (kernel, resources) in &ours {
            match theirs.get(kernel) {
                Some(theirs) => {
                    compared += 1;
                    wrong += u64::from(theirs != resources);
                }
                None => silent += 1,
            }
        }
        agreed &= wrong == 0;
        let name = path.strip_prefix(test_artifacts::cache()).unwrap_or(&path).display();
        writeln!(rows, "| {name} | {compared} | {wrong} | {silent} |")?;
        eprintln!("{name}: {compared} compared, {wrong} differ, {silent} not listed by cuobjdump");
    }
    let version = Command::new(&tool).arg("--version").output()?;
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.lines().last().unwrap_or("").trim();
    let text = format!(
        "# NVIDIA resources compared with cuobjdump\n\n`cargo xtask deep cuobjdump` wrote this page with {version}. The comparison covers the registers, stack and static shared\nmemory of every kernel in every linked cubin. cuobjdump stops early on some files; the last column counts the kernels that it doesn't list.\n\n{rows}"
    );
    fs::write("docs/measurements/nvidia-oracle.md", text)?;
    Ok(agreed)
}

fn libraries(dir: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.is_symlink() {
            libraries(&path, found);
        } else if path.extension().is_some_and(|e| e == "so") {
            found.push(path);
        }
    }
}

fn ours(file: &File) -> anyhow::Result<Resources> {
    let inventory = Inventory::read(file, LIMIT)?;
    let mut all = Resources::new();
    for row in inventory.rows.iter().filter(|row| row.region == Region::Linked) {
        for kernel in row.cubin.iter().flat_map(|cubin| &cubin.kernels) {
            let registers = kernel.registers.map_or(0, u64::from);
            all.insert((row.sm, kernel.name.clone()), (registers, kernel.stack.map_or(0, u64::from), kernel.shared));
        }
    }
    Ok(all)
}

fn theirs(tool: &Path, file: &Path) -> anyhow::Result<Resources> {
    let output = Command::new(tool).arg("-res-usage").arg(file).output().context("cuobjdump does not run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut all = Resources::new();
    let (mut sm, mut function) = (0, String::new());
    for line in text.lines() {
        if let Some(arch) = line.strip_prefix("arch = sm_") {
            sm = arch.trim().parse().unwrap_or(0);
        } else if let Some(name) = line.strip_prefix(" Function ") {
            name.trim_end_matches(':').clone_into(&mut function);
        } else if line.starts_with("  REG:") {
            let field = |name: &str| line.split(name).nth(1)?.split_whitespace().next()?.parse().ok();
            let value = |name: &str| field(name).unwrap_or(u64::MAX);
            all.insert((sm, function.clone()), (value("REG:"), value("STACK:"), value("SHARED:")));
        }
    }
    Ok(all)
}
