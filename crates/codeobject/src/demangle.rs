//! Demangles names with the spelling of llvm-cxxfilt. The mangled name remains the key.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer names are not demangled, because that can take quadratic time and memory.
const LIMIT: usize = 16 << 10;

/// The C++ name, or None if the name is not mangled (Tensile's) or cannot be read.
pub fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > LIMIT {
        return None;
    }
    plain(name).or_else(|| with_parameter_kinds(name)).map(|text| spelled(&text))
}

/// Converts the demangler's spelling to that of c++filt and llvm-cxxfilt: `(unsigned int)64` becomes `64u`, `> >`
/// becomes `>>` (LLVM), and an empty pack leaves no comma. Signatures of generic lambdas differ between all three and
/// are not converted.
fn spelled(text: &str) -> String {
    const SUFFIXES: [(&str, &str); 5] = [
        ("(unsigned int)", "u"),
        ("(unsigned long)", "ul"),
        ("(unsigned long long)", "ull"),
        ("(long)", "l"),
        ("(long long)", "ll"),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['(', ',', ' ']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        rest = found;
        let literal = || {
            let (cast, suffix) = SUFFIXES.iter().find(|(cast, _)| rest.starts_with(cast))?;
            let after = rest.get(cast.len()..)?;
            let sign = usize::from(after.starts_with('-'));
            let digits = after.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
            (digits > 0).then(|| (after.split_at(sign + digits), *suffix))
        };
        if let Some(((number, after), suffix)) = literal() {
            out.push_str(number);
            out.push_str(suffix);
            rest = after;
        } else if rest.starts_with(", >") || rest.starts_with(", )") {
            rest = rest.get(2..).unwrap_or_default();
        } else if rest.starts_with(" >") && out.ends_with('>') {
            rest = rest.get(1..).unwrap_or_default();
        } else {
            let (one, after) = rest.split_at(1);
            out.push_str(one);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn plain(name: &str) -> Option<String> {
    let symbol = Symbol::new_with_options(name, &ParseOptions::default().recursion_limit(512)).ok()?;
    let mut text = String::new();
    symbol.structured_demangle(&mut text, &DemangleOptions::new()).ok()?;
    Some(text)
}

/// Clang 18 and later state the type of a non-type template parameter if it depends on another one: `Tn <type>` before
/// the argument. The demangler does not support this. Without the two letters it reads the type as a separate argument,
/// which preserves the numbering of substitutions; the type is then removed from the text.
fn with_parameter_kinds(name: &str) -> Option<String> {
    if let Some(text) = without_builtin_kinds(name).and_then(|name| plain(&name)) {
        return Some(text);
    }
    if !name.contains("TnPF") {
        return None;
    }
    let mut text = plain(&name.replace("TnPF", "PF"))?;
    while let Some((start, end)) = declared_type(&text) {
        text.replace_range(start..end, "");
    }
    Some(text)
}

/// A built-in type (`TnDa` for `auto`, as in rocRAND's kernel_wrapper) does not take part in substitutions, so it can
/// simply be removed.
fn without_builtin_kinds(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once("Tn") {
        out.push_str(before);
        let kind = after.strip_prefix("Da").or_else(|| after.strip_prefix(|c: char| "bcahstijlmxyno".contains(c)));
        // The argument comes after the type, as a literal or an expression.
        match kind.filter(|argument| argument.starts_with(['L', 'X'])) {
            Some(argument) => rest = argument,
            None => {
                out.push_str("Tn");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    (out.len() < name.len()).then_some(out)
}

/// A pointer-to-function type directly before an address argument, including its separator.
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
    fn names_are_spelled_as_llvm_cxxfilt_spells_them() {
        let pairs = [
            ("_Z1kILj64ELm128ELln3EEvv", "void k<64u, 128ul, -3l>()"),
            ("_Z1kI1aI1bIfEEEvv", "void k<a<b<float>>>()"),
            ("_Z1kIfJEEvDpT0_", "void k<float>()"),
            ("_Z1kILy7ELs2EEvv", "void k<7ull, (short)2>()"),
            ("_Z1wITnDaXadL_Z1fIiEvPT_EEiJfEEvDpT1_", "void w<&void f<int>(int*), int, float>(float)"),
        ];
        for (mangled, name) in pairs {
            assert_eq!(demangle(mangled).as_deref(), Some(name), "{mangled}");
        }
    }

    #[test]
    fn a_dependent_non_type_parameter_is_read() {
        let name = "_ZL13k_get_rows_kqI6__halfTnPFvPKvlPT_iEXadL_ZL15dequantize_q4_KIS0_EvS2_lS4_iEEEvS2_PKiS4_ll15HIP_vector_typeIjLj3EEmmmmmmmmm";
        let text = demangle(name).expect("readable");
        let head = "void k_get_rows_kq<__half, &void dequantize_q4_K<__half>(void const*, long, __half*, int)>(void const*, int const*";
        assert!(text.starts_with(head), "{text}");
    }
}
