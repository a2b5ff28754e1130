//! NVIDIA fatbins: containers in `.nv_fatbin` and `__nv_relfatbin`, the PTX and cubin entries in them, and the kernels
//! of both.
//!
//! There is no published specification. The layout comes from real files of CUDA 11.8 to 13.2, checked entry by entry
//! against `cuobjdump`. Fields with unknown meaning are kept raw. No machine code is decoded.

mod chosen;
mod container;
mod cubin;
mod device_launch;
mod inventory;
mod ptx;

pub use chosen::{Chosen, chosen};
pub use container::{Compression, Container, Entry, EntryKind, FatbinError, MAGIC, Walk, walk};
pub use cubin::{Cubin, CubinKernel, cubin};
pub use device_launch::{device_launchers, launchers_of};
pub use inventory::{Inventory, Region, Row, Section, Walked, host_sections, walk_sections};
pub use ptx::{Ptx, ptx, ptx_number};
