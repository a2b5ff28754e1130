//! The kernel-name grammar: reads library, family, path, data types, tile and variant from a mangled or demangled name.
//!
//! It works on the text alone, without tables from any binary. A name that no rule matches has [`Library::Unknown`] and
//! is counted and shown. Parts of a known name that are not understood are kept in [`Facts::unread`].

mod blas;
mod cxx;
mod facts;
mod family_words;
mod ggml;
mod libraries;
mod range;
mod scalar;
mod tensile;
mod tensile_codes;
mod vulkan;

pub use facts::{Facts, Family, Library, Path, Tile};
pub use ggml::known_kernels;
pub use range::{Variants, variants};
pub use scalar::ggml_type;
pub use vulkan::pipeline;

/// The maximum length of a name. Demangling a longer one is not worth the cost.
const LIMIT: usize = 1 << 15;

/// Reads a kernel's name. Mangled names are demangled first; a trailing `.kd` is ignored.
pub fn read(name: &str) -> Facts {
    let name = name.trim();
    let name = name.strip_suffix(".kd").unwrap_or(name);
    if name.len() > LIMIT {
        return Facts::new(Library::Unknown, Family::Other, name.get(..80).unwrap_or(""));
    }
    if let Some(facts) = tensile::read(name) {
        return facts;
    }
    let demangled = codeobject::demangle(name);
    let function = cxx::function(demangled.as_deref().unwrap_or(name));
    ggml::read(&function)
        .or_else(|| blas::read(&function))
        .or_else(|| libraries::read(&function))
        .unwrap_or_else(|| Facts::new(Library::Unknown, Family::Other, function.name))
}
