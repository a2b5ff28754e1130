//! Names for people. The mangled name stays the key.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer names than this are left as they are: demangling can take time and memory that grow with the square.
const LIMIT: usize = 16 << 10;

/// The C++ name, or None where the name is not mangled (Tensile's) or cannot be read.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > LIMIT {
        return None;
    }
    let symbol = Symbol::new_with_options(name, &ParseOptions::default().recursion_limit(512)).ok()?;
    let mut text = String::new();
    symbol.structured_demangle(&mut text, &DemangleOptions::new()).ok()?;
    Some(text)
}
