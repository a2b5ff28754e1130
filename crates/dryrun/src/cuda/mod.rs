//! The CUDA stand-in: its libraries, its description of the card, and the kernels of a program's own fatbins.
//!
//! Only documented, public interfaces are answered. A program whose CUDA runtime is linked statically calls the driver through
//! private tables, so it is refused.

mod images;
mod kernels;
mod libraries;

pub(crate) use images::loaded;
pub(crate) use kernels::describe;
pub(crate) use libraries::libraries;

use crate::error::{DryrunError, io_at};
use crate::session::Request;
use gpu::{CUDA_ATTRIBUTES, Profile};
use launch::nullgpu_input::{ATTRIBUTES, UNKNOWN_ATTRIBUTE};
use std::path::{Path, PathBuf};
use sys::private_dir::put;

/// The stand-in itself. The other names lead to it.
const LIBRARY: &str = "libwhichkernel-cuda.so";
/// `cudaDeviceAttr` of the slot, which differs between the devices of a run.
const PCI_BUS: usize = 33;

impl Request<'_> {
    pub(crate) fn is_cuda(&self) -> bool {
        self.profiles.iter().any(Profile::is_nvidia)
    }

    fn program(&self) -> Option<&Path> {
        self.command.first().map(Path::new)
    }

    /// The release of the CUDA runtime that the program's files ask for. All devices of a run have the same vendor.
    pub(crate) fn cuda_release(&self) -> Result<Option<u32>, DryrunError> {
        if !self.is_cuda() {
            return Ok(None);
        }
        if !self.profiles.iter().all(Profile::is_nvidia) {
            return Err(DryrunError::MixedVendors);
        }
        Ok(Some(libraries::release(&libraries(self.place, self.program())?)))
    }

    /// Directories that NVIDIA's run-time compiler must find on the library path.
    pub(crate) fn compilers(&self) -> Vec<PathBuf> {
        if self.is_cuda() { libraries::compilers(self.place, self.program()) } else { Vec::new() }
    }
}

/// The libraries to preload, in order. All of them, because a program's own search path (DT_RPATH) comes before
/// LD_LIBRARY_PATH, and only a name that is already loaded comes before that.
pub(crate) fn preloads() -> Vec<&'static str> {
    std::iter::once(LIBRARY).chain(embedded_shims::CUDA_CARRIERS.iter().map(|(soname, _)| *soname)).collect()
}

/// Writes the libraries and the attributes of the devices.
pub(crate) fn lay_out(profiles: &[Profile], directory: &Path, libraries: &Path) -> Result<(), DryrunError> {
    let write = |path: PathBuf, bytes: &[u8]| put(&path, bytes).map_err(io_at(path));
    write(libraries.join(LIBRARY), embedded_shims::NULLCUDA)?;
    for (soname, bytes) in embedded_shims::CUDA_CARRIERS {
        write(libraries.join(soname), bytes)?;
    }
    write(directory.join("attributes"), &attributes(profiles))
}

/// One row per device; an attribute that a profile does not have stays unknown.
fn attributes(profiles: &[Profile]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, profile) in profiles.iter().enumerate() {
        let mut row = [UNKNOWN_ATTRIBUTE; ATTRIBUTES];
        for (name, attribute) in CUDA_ATTRIBUTES {
            let value = profile.properties.get(*name).and_then(|number| i32::try_from(number.value).ok());
            if let (Some(slot), Some(value)) = (row.get_mut(*attribute), value) {
                *slot = value;
            }
        }
        if let Some(slot) = row.get_mut(PCI_BUS) {
            *slot = crate::device::PCI_BUS + i32::try_from(number).unwrap_or(0);
        }
        out.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    }
    out
}
