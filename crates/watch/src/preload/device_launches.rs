//! CUDA kernels that launch other kernels: such launches do not pass through any host function. The code of a kernel
//! shows whether it can do that.

use crate::preload::tree::Tree;
use crate::{Gap, Maker, Tally, Unseen};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use sys::unix::MetadataExt;

/// The maximum size of one image in bytes.
const IMAGE: usize = 256 << 20;

#[derive(Debug, Default)]
pub struct DeviceLaunches {
    /// Kernels that were launched and can launch others.
    pub gaps: Vec<Unseen>,
    /// Kernels that were launched and whose code is in no file that the process mapped.
    pub unread: BTreeSet<String>,
}

pub fn device_launches(tree: &Tree, tally: &Tally) -> DeviceLaunches {
    let mut files: BTreeMap<String, Option<BTreeSet<String>>> = BTreeMap::new();
    let mut found = DeviceLaunches::default();
    for ((file, kernel), launches) in tally.kernels_of(Maker::Nvidia) {
        let launchers = files.entry(file).or_insert_with_key(|file| launchers(tree, file));
        match launchers {
            Some(launchers) if launchers.contains(&kernel) => {
                found.gaps.push(Gap::DeviceRuntime { kernel }.times(launches));
            }
            Some(_) => {}
            None => drop(found.unread.insert(kernel)),
        }
    }
    found
}

/// None if the kernel did not see this file mapped, if it has changed since, or if it has no readable device code.
fn launchers(tree: &Tree, path: &str) -> Option<BTreeSet<String>> {
    let mut mapped = tree.images.iter().flat_map(|image| &image.files).filter(|file| file.path == path);
    let inode = mapped.next()?.inode;
    let same = std::fs::metadata(Path::new(path)).is_ok_and(|file| file.is_file() && file.ino() == inode);
    let file = same.then(|| inventory::File::open(Path::new(path)).ok()).flatten()?;
    inventory::DeviceCode::of(&file).nvidia.then(|| codeobject::nvidia::device_launchers(&file, IMAGE).ok()).flatten()
}
