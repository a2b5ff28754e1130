//! Names for people. The mangled name stays the key.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer names than this are left as they are: demangling can take time and memory that grow with the square.
const LIMIT: usize = 16 << 10;

/// The C++ name, or None where the name is not mangled (Tensile's) or cannot be read.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > LIMIT {
        return None;
    }
    plain(name).or_else(|| with_parameter_kinds(name))
}

fn plain(name: &str) -> Option<String> {
    let symbol = Symbol::new_with_options(name, &ParseOptions::default().recursion_limit(512)).ok()?;
    let mut text = String::new();
    symbol.structured_demangle(&mut text, &DemangleOptions::new()).ok()?;
    Some(text)
}

/// Clang 18 and later state the type of a non-type template parameter where it depends on another one: `Tn <type>`
/// before the argument. The demangler does not know it. Without the two letters the type reads as an argument of its
/// own, which keeps the numbering of substitutions; it is then taken out of the text again.
fn with_parameter_kinds(name: &str) -> Option<String> {
    if !name.contains("TnPF") {
        return None;
    }
    let mut text = plain(&name.replace("TnPF", "PF"))?;
    while let Some((start, end)) = declared_type(&text) {
        text.replace_range(start..end, "");
    }
    Some(text)
}

/// A pointer-to-function type directly before an address argument, its separator included.
fn declared_type(text: &str) -> Option<(usize, usize)> {
    for (at, _) in text.match_indices("(*)(") {
        let edge = |byte: u8, depth: &mut i32| {
            *depth += i32::from(matches!(byte, b')' | b'>')) - i32::from(matches!(byte, b'(' | b'<'));
        };
        let mut depth = 0;
        let left = text.get(..at)?.bytes().rposition(|byte| {
            edge(byte, &mut depth);
            depth < 0 || (depth == 0 && byte == b',')
        })?;
        depth = 0;
        let right = at
            + text.get(at..)?.bytes().position(|byte| {
                let separator = depth == 0 && byte == b',';
                edge(byte, &mut depth);
                separator || depth > 0
            })?;
        let after = text.get(right..)?.strip_prefix(',')?.trim_start();
        if after.starts_with('&') || after.starts_with("(&") {
            return Some((left + 1, right + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn a_dependent_non_type_parameter_is_read() {
        let name = "_ZL13k_get_rows_kqI6__halfTnPFvPKvlPT_iEXadL_ZL15dequantize_q4_KIS0_EvS2_lS4_iEEEvS2_PKiS4_ll15HIP_vector_typeIjLj3EEmmmmmmmmm";
        let text = demangle(name).expect("readable");
        let head = "void k_get_rows_kq<__half, &void dequantize_q4_K<__half>(void const*, long, __half*, int)>(void const*, int const*";
        assert!(text.starts_with(head), "{text}");
    }
}
