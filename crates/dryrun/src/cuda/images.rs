//! The kernels of images that the program compiled and loaded itself (Triton, NVRTC).

use super::kernels::info;
use codeobject::nvidia::cubin;
use launch::table::KernelInfo;
use launch::trace::Trace;
use std::collections::HashMap;
use std::path::Path;

/// A kernel by the hash of its image and its name.
pub type Loaded = HashMap<(u64, String), KernelInfo>;

/// The largest image that the stand-in keeps.
const MOST: u64 = 64 << 20;

pub(crate) fn loaded(directory: &Path, traces: &[Trace]) -> Loaded {
    let mut found = Loaded::new();
    for module in traces.iter().flat_map(|trace| &trace.modules).filter(|module| module.hash != 0) {
        let path = directory.join(format!("image.{:016x}", module.hash));
        let Some(image) = sys::regular_file::whole(&path, MOST).ok().and_then(|bytes| cubin(&bytes)) else { continue };
        for kernel in &image.kernels {
            found.insert((module.hash, kernel.name.clone()), info(kernel, false, 0));
        }
    }
    found
}
