//! Which library loads which: the loader's search, computed without running anything.
//!
//! Follows ld.so(8) and glibc's `elf/dl-load.c`: breadth first, DT_RPATH of the chain of loaders, LD_LIBRARY_PATH,
//! DT_RUNPATH, ld.so.cache, default directories; a name that is already loaded is not searched again. All lookups
//! happen inside a root, so that a process in another namespace, or an unpacked tree, is read as it would see itself.

mod chain;
mod dynamic;
mod file;
pub mod ldcache;
mod search;

pub use chain::{Chain, Edge, Object, roots_of};
pub use dynamic::Dynamic;
pub use file::FileAt;
pub use search::{How, Search};
pub use sys::rooted::Inside;
