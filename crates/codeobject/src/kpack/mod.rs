//! kpack: device code that was moved from a library to a separate file (optional in ROCm 7.14 and later).
//!
//! The library keeps its wrappers, but with another magic (`HIPK`), a number each, and a pointer to a reference that
//! names the archives: `.rocm_kpack_ref`, or `.kpackrf` in Windows files. An archive (`KPAK`) contains the code objects
//! of many libraries, by library, number and target. Earlier tools also wrote a manifest (`.kpm`), which lists archives
//! by target.
//!
//! The format: ROCm/rocm-systems, `shared/kpack` (docs, `runtime/src/{archive,toc_parser,loader}.cpp`).

mod archive;
mod manifest;
mod paths;
mod reference;

pub use archive::{Archive, Entry, MAGIC};
pub use manifest::{Listed, Manifest};
pub use paths::{Environment, candidates, target_in, variants};
pub use reference::{Reference, SECTION};
