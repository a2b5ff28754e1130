//! Builds a version's program and asks it for the default table.

use super::symbol::{Answer, tile};
use source::{DEFAULT_COLUMNS, DEFAULT_GPUS, Device, Vendor};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// GPU, type and columns, with the launch of the program.
pub type Compiled = BTreeMap<(String, String, i64), Answer>;

/// ggml's type numbers for the types in a default table.
const NUMBERS: &[(&str, u32)] =
    &[("Q4_0", 2), ("Q4_K", 12), ("Q5_K", 13), ("Q6_K", 14), ("Q8_0", 8), ("IQ1_S", 19), ("F16", 1), ("F32", 0)];

pub fn ask(vendor: Vendor, headers: &Path, sources: &Path, home: &Path, into: &mut Compiled) -> anyhow::Result<()> {
    let name = if vendor == Vendor::Hip { "hip" } else { "cuda" };
    let oracle = home.join(format!("oracle-{name}"));
    if !oracle.is_file() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deep/source/build.sh");
        Command::new("bash").arg(script).arg(name).arg(headers).arg(sources).arg(home).status()?;
    }
    for gpu in DEFAULT_GPUS {
        let device = Device::find(gpu)?;
        if device.vendor != vendor || !oracle.is_file() {
            continue;
        }
        let mut command = Command::new(&oracle);
        command.env("NM", home.join(format!("oracle-{name}.names"))).arg(gpu);
        for property in
            ["major", "minor", "warpSize", "multiProcessorCount", "sharedMemPerBlock", "sharedMemPerBlockOptin"]
        {
            command.arg(device.number(property).unwrap_or(0).to_string());
        }
        command.arg(NUMBERS.len().to_string()).args(NUMBERS.iter().map(|(_, number)| number.to_string()));
        command.args(DEFAULT_COLUMNS.iter().map(i64::to_string));
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines();
        let cc = lines.next().and_then(|line| line.strip_prefix("cc ")).and_then(|cc| cc.parse().ok()).unwrap_or(0);
        for line in lines {
            let mut words = line.splitn(4, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (ty, columns, blocks, kernel) = (word(), word(), word(), word());
            let ty = NUMBERS.iter().find(|(_, number)| number.to_string() == ty).map_or("?", |(name, _)| name);
            // A few commits print additional lines.
            let (Ok(columns), Ok(blocks)) = (columns.parse(), blocks.parse()) else { continue };
            into.insert(((*gpu).to_owned(), ty.to_owned(), columns), Answer::new(cc, blocks, kernel));
        }
    }
    find_tiles(into);
    Ok(())
}

/// Kernels of early 2024 have no tile parameter: the tile follows from the number of blocks over the columns.
fn find_tiles(compiled: &mut Compiled) {
    let mut blocks: BTreeMap<(String, String), Vec<(i64, i64)>> = BTreeMap::new();
    for ((gpu, ty, columns), answer) in compiled.iter() {
        if let Some(count) = answer.blocks {
            blocks.entry((gpu.clone(), ty.clone())).or_default().push((*columns, count));
        }
    }
    for ((gpu, ty, _), answer) in compiled.iter_mut().filter(|(_, answer)| answer.blocks.is_some()) {
        let known = blocks.get(&(gpu.clone(), ty.clone())).and_then(|blocks| tile(blocks));
        answer.variant = known.unwrap_or(-1);
    }
}
