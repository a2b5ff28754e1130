//! The template arguments of a launched symbol, in the encoding of the Itanium C++ ABI (5.1, `<template-arg>`), as far
//! as kernels use it.

use crate::argument::Argument;

/// The maximum nesting depth; kernels stay below it.
const DEEPEST: usize = 16;
/// The maximum length of a name. Substitutions let a short symbol expand to a very long name.
const LONGEST: usize = 4096;

/// Template arguments in order. The list ends at the first argument that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    pub list: Vec<Argument>,
    pub complete: bool,
}

/// None for text that is not the symbol of a plain function.
pub fn arguments(symbol: &str) -> Option<Arguments> {
    let mut reader = Reader { rest: symbol.strip_prefix("_Z")?, met: Vec::new(), depth: 0 };
    reader.eat("L");
    let name = reader.identifier()?;
    if !reader.rest.starts_with('I') {
        return Some(Arguments { list: Vec::new(), complete: true });
    }
    reader.met.push(name.to_owned());
    reader.rest = reader.rest.get(1..)?;
    let mut list = Vec::new();
    loop {
        if reader.eat("E") {
            return Some(Arguments { list, complete: true });
        }
        match reader.argument() {
            Some(argument) => list.push(argument),
            None => return Some(Arguments { list, complete: false }),
        }
    }
}

struct Reader<'s> {
    rest: &'s str,
    /// The meaning of the substitutions `S_`, `S0_` and so on.
    met: Vec<String>,
    depth: usize,
}

impl<'s> Reader<'s> {
    fn eat(&mut self, what: &str) -> bool {
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn identifier(&mut self) -> Option<&'s str> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = self.rest.get(..digits)?.parse().ok()?;
        let name = self.rest.get(digits..digits.checked_add(length)?)?;
        self.rest = self.rest.get(digits + length..)?;
        Some(name)
    }

    fn argument(&mut self) -> Option<Argument> {
        match self.rest.chars().next()? {
            'L' => self.literal(),
            'X' => {
                let function = if self.eat("XadL_Z") { self.function()? } else { return None };
                self.eat("EE").then_some(Argument::Function(function))
            }
            'J' => {
                self.eat("J");
                Some(Argument::Pack(self.list()?))
            }
            _ => self.ty().map(Argument::Type),
        }
    }

    /// The arguments up to the end of a list, which is consumed.
    fn list(&mut self) -> Option<Vec<Argument>> {
        self.depth += 1;
        let mut list = Vec::new();
        while !self.eat("E") {
            list.push((self.depth < DEEPEST).then(|| self.argument()).flatten()?);
        }
        self.depth -= 1;
        Some(list)
    }

    fn literal(&mut self) -> Option<Argument> {
        if self.eat("L_Z") {
            let function = self.function()?;
            return self.eat("E").then_some(Argument::Function(function));
        }
        self.eat("L");
        let ty = self.ty()?;
        let (value, rest) = self.rest.split_once('E')?;
        self.rest = rest;
        if ["float", "double"].contains(&ty.as_str()) || ty.ends_with('*') {
            return Some(Argument::Unknown);
        }
        let number = match value.strip_prefix('n') {
            Some(value) => format!("-{value}"),
            None => value.to_owned(),
        };
        Some(number.parse().map_or(Argument::Unknown, Argument::Number))
    }

    /// A function as an argument: its name. The types of its parameters are skipped.
    fn function(&mut self) -> Option<String> {
        self.eat("L");
        let mut name = self.identifier()?.to_owned();
        if self.rest.starts_with('I') {
            self.met.push(name.clone());
            name = self.instance(&name)?;
            // The return type.
            self.ty()?;
        }
        while !self.rest.starts_with('E') {
            self.ty()?;
        }
        Some(name)
    }

    /// `name<...>`, from the `I` on.
    fn instance(&mut self, name: &str) -> Option<String> {
        self.eat("I");
        let list = self.list()?;
        let written = format!("{name}<{}>", crate::argument::joined(&list));
        (written.len() <= LONGEST && list.iter().all(Argument::is_known)).then_some(written)
    }

    /// A type in the evaluator's spelling, without `const`.
    fn ty(&mut self) -> Option<String> {
        self.depth += 1;
        let found = (self.depth < DEEPEST).then(|| self.any_type()).flatten();
        self.depth -= 1;
        found
    }

    fn any_type(&mut self) -> Option<String> {
        let first = self.rest.chars().next()?;
        let found = match first {
            'K' | 'V' | 'P' | 'R' | 'O' => {
                self.rest = self.rest.get(1..)?;
                let inner = self.ty()?;
                match first {
                    'P' => format!("{inner} *"),
                    'R' | 'O' => format!("{inner} &"),
                    _ => inner,
                }
            }
            'S' => {
                self.rest = self.rest.get(1..)?;
                let (number, rest) = self.rest.split_once('_')?;
                let at = if number.is_empty() { 0 } else { usize::from_str_radix(number, 36).ok()?.checked_add(1)? };
                let known = self.met.get(at)?.clone();
                self.rest = rest;
                if !self.rest.starts_with('I') {
                    return Some(known);
                }
                self.instance(&known)?
            }
            '1'..='9' => {
                let name = self.identifier()?;
                if self.rest.starts_with('I') {
                    self.met.push(name.to_owned());
                    self.instance(name)?
                } else {
                    name.to_owned()
                }
            }
            _ => {
                let name = builtin(first)?;
                self.rest = self.rest.get(1..)?;
                return Some(name.to_owned());
            }
        };
        self.met.push(found.clone());
        Some(found)
    }
}

/// Builtin types on 64-bit Linux, in the evaluator's words.
fn builtin(letter: char) -> Option<&'static str> {
    Some(match letter {
        'v' => "void",
        'b' => "bool",
        'c' | 'a' => "int8_t",
        'h' => "uint8_t",
        's' => "int16_t",
        't' => "uint16_t",
        'i' => "int",
        'j' => "uint32_t",
        'l' | 'x' => "int64_t",
        'm' | 'y' => "uint64_t",
        'f' => "float",
        'd' => "double",
        _ => return None,
    })
}

/// Whether the source and a symbol name the same thing; None if one of them is unknown.
pub(super) fn same(declared: &Argument, seen: &Argument) -> Option<bool> {
    match (declared, seen) {
        (Argument::Number(a), Argument::Number(b)) => Some(a == b),
        (Argument::Function(a), Argument::Function(b)) => {
            let name = |text: &str| text.split('<').next().unwrap_or_default().to_owned();
            match a == b {
                true => Some(true),
                // The same name with differently written arguments.
                false if name(a) == name(b) => None,
                false => Some(false),
            }
        }
        (Argument::Type(a), Argument::Type(b)) => match (plain(a), plain(b)) {
            (Some(a), Some(b)) => Some(a == b),
            // One of two different names may be an alias of the other.
            _ => (a == b).then_some(true),
        },
        (Argument::Pack(a), Argument::Pack(b)) => {
            let known = a.iter().all(Argument::is_known);
            if a.len() != b.len() {
                return known.then_some(false);
            }
            same_all(a.iter(), b.iter())
        }
        // An alias, a constant under another name, or an unknown argument.
        (Argument::Unknown | Argument::Other(_), _) | (_, Argument::Unknown | Argument::Other(_)) => None,
        _ => Some(false),
    }
}

pub(super) fn same_all<'a>(
    declared: impl Iterator<Item = &'a Argument>,
    seen: impl Iterator<Item = &'a Argument>,
) -> Option<bool> {
    let pairs: Vec<Option<bool>> = declared.zip(seen).map(|(a, b)| same(a, b)).collect();
    match pairs.contains(&Some(false)) {
        true => Some(false),
        false => pairs.into_iter().collect::<Option<Vec<bool>>>().map(|_| true),
    }
}

/// A type with an unambiguous name, without its stars: numbers, and the two half types under all of their names.
fn plain(text: &str) -> Option<(&str, usize)> {
    let name = text.trim_end_matches([' ', '*']);
    let stars = text.matches('*').count();
    let name = match name {
        "half" | "__half" => "half",
        "nv_bfloat16" | "__nv_bfloat16" | "hip_bfloat16" | "__hip_bfloat16" => "bfloat16",
        "void" | "bool" | "float" | "double" | "int" => name,
        _ if (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t") => name,
        _ => return None,
    };
    Some((name, stars))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(symbol: &str) -> String {
        let found = arguments(symbol).expect("a symbol");
        let text = crate::argument::joined(&found.list);
        if found.complete { text } else { format!("{text}...") }
    }

    #[test]
    fn arguments_come_out_of_a_symbol() {
        let add = "_ZL11k_bin_bcastIXadL_ZL6op_addffEEfffJPKfEEvPKT0_PKT1_PT2_jjj15HIP_vector_typeIjLj3EESB_DpT3_";
        assert_eq!(shown(add), "op_add,float,float,float,float *");
        assert_eq!(shown("_ZL9rope_neoxILb1ELb0Ef6__halfEvPKT1_PT2_i"), "1,0,float,__half");
        assert_eq!(shown("_ZL13mul_mat_vec_fI6__halfS0_Li1ELi256ELb0EEvPKT_"), "__half,__half,1,256,0");
        assert_eq!(shown("_ZL18flash_attn_ext_vecILi64ELi2EL9ggml_type2ELS0_2ELb0EEvPKc"), "64,2,2,2,0");
        assert_eq!(shown("_ZL21unary_gated_op_kernelIXadL_ZL7op_silufEEfEvPKT0_S2_PS0_llll"), "op_silu,float");
        let rows = "_ZL10k_get_rowsILi32ELi2EXadL_ZL15dequantize_q4_0PKvliR15HIP_vector_typeIfLj2EEEEfEvPKv";
        assert_eq!(shown(rows), "32,2,dequantize_q4_0,float");
        assert_eq!(shown("_ZL13quantize_q8_1PKfPvlllllj15HIP_vector_typeIjLj3EE"), "");
        assert_eq!(shown("_ZL1kILi7EXadL_ZL1fM1aiEELi7EEvv"), "7...", "what is not known ends the list");
        assert_eq!(arguments("HOST"), None);
        assert_eq!(arguments("_Z99999999999999999999x"), None);
        assert!(!arguments(&format!("_ZL1kI{}", "J".repeat(100_000))).expect("one").complete, "bounded");
        assert!(!arguments(&format!("_ZL1kI{}f", "P".repeat(100_000))).expect("one").complete, "bounded");
        let twice = |n: u32| format!("1aIS{0}_S{0}_E", char::from_digit(2 * n + 1, 36).expect("a digit"));
        let doubled = format!("_ZL1kI1aIffE{}E", (0..16).map(twice).collect::<String>());
        assert!(!arguments(&doubled).expect("one").complete, "bounded");
        for end in 0..rows.len() {
            let _ = arguments(&rows[..end]);
        }
    }

    #[test]
    fn only_what_is_known_of_both_is_told_apart() {
        let ty = |text: &str| Argument::Type(text.to_owned());
        let function = |text: &str| Argument::Function(text.to_owned());
        assert_eq!(same(&ty("half"), &ty("__half")), Some(true));
        assert_eq!(same(&ty("float"), &ty("__half")), Some(false));
        assert_eq!(same(&ty("float *"), &ty("float")), Some(false));
        assert_eq!(same(&ty("block_q4_0"), &ty("other")), None, "one can be the other's alias");
        assert_eq!(same(&function("op_add"), &function("op_mul")), Some(false));
        assert_eq!(same(&Argument::Unknown, &function("op_mul")), None);
        let pack = |list: &[Argument]| Argument::Pack(list.to_vec());
        assert_eq!(same(&pack(&[ty("float")]), &pack(&[ty("float"), ty("float")])), Some(false));
        assert_eq!(same(&pack(&[Argument::Unknown]), &pack(&[ty("float"), ty("float")])), None);
    }
}
