//! The kernels of images that the program compiled and loaded itself (Triton, NVRTC).

use super::kernels::info;
use crate::RunRoot;
use crate::loaded::{Loaded, kept};
use codeobject::nvidia::cubin;
use launch::record::{FNV, fnv};
use launch::trace::{Module, Trace};
use std::path::Path;

/// The largest image that the stand-in keeps.
const MOST: u64 = 64 << 20;

/// Reads the images that the stand-in kept, and files that still have the content that was loaded.
pub(crate) fn loaded(place: &RunRoot, directory: &Path, traces: &[Trace]) -> Loaded {
    let mut found = Loaded::new();
    for module in traces.iter().flat_map(|trace| &trace.modules).filter(|module| module.hash != 0) {
        let Some(image) = image(place, directory, module).and_then(|bytes| cubin(&bytes)) else { continue };
        for kernel in &image.kernels {
            found.insert((module.hash, kernel.name.clone()), info(kernel, false, 0));
        }
    }
    found
}

fn image(place: &RunRoot, directory: &Path, module: &Module) -> Option<Vec<u8>> {
    if let Ok(bytes) = sys::regular_file::whole(&kept(directory, module.hash), MOST) {
        return Some(bytes);
    }
    if module.path.is_empty() {
        return None;
    }
    let bytes = sys::regular_file::whole(&place.on_host(&module.path), MOST).ok()?;
    let size = usize::try_from(module.size).ok()?;
    (fnv(FNV, bytes.get(..size)?) == module.hash).then_some(bytes)
}
