//! The kernels of images that the program compiled and loaded itself (Triton, NVRTC).

use super::kernels::info;
use crate::loaded::{Loaded, kept};
use codeobject::nvidia::cubin;
use launch::trace::Trace;
use std::path::Path;

/// The largest image that the stand-in keeps.
const MOST: u64 = 64 << 20;

pub(crate) fn loaded(directory: &Path, traces: &[Trace]) -> Loaded {
    let mut found = Loaded::new();
    for module in traces.iter().flat_map(|trace| &trace.modules).filter(|module| module.hash != 0) {
        let path = kept(directory, module.hash);
        let Some(image) = sys::regular_file::whole(&path, MOST).ok().and_then(|bytes| cubin(&bytes)) else { continue };
        for kernel in &image.kernels {
            found.insert((module.hash, kernel.name.clone()), info(kernel, false, 0));
        }
    }
    found
}
