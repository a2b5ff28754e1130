//! Code that the program loaded and that was in no table before the run. Its file is examined after the run.

use crate::RunRoot;
use crate::kernels::{of_image, targets_at};
use crate::loaded::kept;
use gpu::{Arch, How};
use launch::tables::Tables;
use launch::trace::{Event, Module, Trace};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Launches of kernels from one file that has no code for the device, or for which this is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjudged {
    pub device: u32,
    /// The path of the file as the program sees it.
    pub file: String,
    pub launches: u64,
    /// The targets in the file. Empty if the file could not be read.
    pub targets: Vec<String>,
}

/// The launches, one entry per device and file. Refused launches do not count.
pub fn of(
    (place, directory): (&RunRoot, &Path),
    traces: &[Trace],
    tables: &Tables,
    names: &HashMap<u64, String>,
    devices: &[Arch],
) -> Vec<Unjudged> {
    let mut unknown: BTreeMap<(u32, String, u64), (u64, u64)> = BTreeMap::new();
    for trace in traces {
        for event in &trace.events {
            let Event::Launch(launch) = event else { continue };
            let Some(kernel) = trace.kernel(launch.head.kernel).filter(|_| launch.head.status == 0) else { continue };
            let module = trace.module(kernel.module);
            if tables.kernel(launch.head.device, kernel, module).is_some() {
                continue;
            }
            // An image was examined when it was loaded, unless it was compressed. A file of a catalog is identified by
            // its content.
            let image = |module: &Module| module.hash != 0;
            let Some(module) = module.filter(|m| !image(m) || (m.address != 0 && !names.contains_key(&m.hash))) else {
                continue;
            };
            let name = if module.path.is_empty() { format!("image {:016x}", module.hash) } else { module.path.clone() };
            let entry = unknown.entry((launch.head.device, name, module.address)).or_default();
            *entry = (entry.0 + 1, module.hash);
        }
    }
    let mut found: Vec<Unjudged> = Vec::new();
    for ((device, file, address), (launches, hash)) in unknown {
        let of_kept = || of_image(&kept(directory, hash), devices.get(device as usize)?).map(|(targets, _)| targets);
        let targets = if hash != 0 { of_kept() } else { targets_at(&place.on_host(&file), address) };
        let taken = |arch: &Arch, targets: &[String]| {
            arch.takes(targets.iter().map(String::as_str)).is_some_and(|taken| taken.how > How::Compiled)
        };
        if let (Some(targets), Some(arch)) = (&targets, devices.get(device as usize))
            && taken(arch, targets)
        {
            continue;
        }
        match found.iter_mut().find(|known| known.device == device && known.file == file) {
            Some(known) => known.launches += launches,
            None => found.push(Unjudged { device, file, launches, targets: targets.unwrap_or_default() }),
        }
    }
    found
}
