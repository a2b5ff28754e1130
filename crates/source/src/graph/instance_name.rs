//! Converts a launched symbol to the evaluator's notation for kernels.

/// A launched symbol in the evaluator's notation, the kernel's name with the numbers among its template arguments:
/// `_ZL18flash_attn_ext_f16ILi128ELi128ELb0EEv...` is `flash_attn_ext_f16<128,128,0>`. Text that is not a symbol is
/// returned unchanged.
pub fn instance(symbol: &str) -> String {
    let Some(rest) = symbol.strip_prefix("_Z") else { return symbol.to_owned() };
    let Some((name, rest)) = identifier(rest.trim_start_matches('L')) else { return symbol.to_owned() };
    let name = name.strip_prefix("__device_stub__").unwrap_or(name);
    let numbers = rest.strip_prefix('I').map(numbers).unwrap_or_default();
    format!("{name}<{}>", numbers.join(","))
}

/// `3abcREST` is `abc` and `REST`.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text.get(..digits)?.parse().ok()?;
    Some((text.get(digits..digits.checked_add(length)?)?, text.get(digits.checked_add(length)?..)?))
}

/// The text after a function's name and parameter types; None if the name contains an unknown part.
fn encoding(text: &str) -> Option<&str> {
    let (_, mut rest) = identifier(text.trim_start_matches('L'))?;
    if rest.starts_with('I') {
        rest = arguments(rest)?;
        rest = parameter(rest)?;
    }
    while !rest.starts_with('E') {
        rest = parameter(rest)?;
    }
    Some(rest)
}

/// Skips `I...E`.
fn arguments(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('I')?;
    loop {
        if let Some(rest) = rest.strip_prefix('E') {
            return Some(rest);
        }
        rest = match rest.strip_prefix('L') {
            Some(literal) => literal.split_once('E')?.1,
            None => parameter(rest)?,
        };
    }
}

/// Skips a type.
fn parameter(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(['P', 'K', 'R', 'O', 'V']);
    let rest = match rest.chars().next()? {
        'S' | 'T' => rest.split_once('_')?.1,
        '1'..='9' => identifier(rest)?.1,
        'a'..='z' => rest.get(1..)?,
        _ => return None,
    };
    if rest.starts_with('I') { arguments(rest) } else { Some(rest) }
}

/// The literals of a template argument list, up to its end or to an argument that is an expression.
fn numbers(mut text: &str) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(first) = text.chars().next() {
        text = match first {
            'L' => {
                let Some((item, rest)) = text.get(1..).and_then(|text| text.split_once('E')) else { break };
                // The literal's type is a letter, a name, or a back-reference (S0_).
                let value = match (identifier(item), item.strip_prefix('S').and_then(|item| item.split_once('_'))) {
                    (Some((_, value)), _) | (_, Some((_, value))) => value,
                    _ => item.get(1..).unwrap_or_default(),
                };
                out.push(value.replace('n', "-"));
                rest
            }
            // A function as an argument: `XadL_Z...EE`.
            'X' => match text.strip_prefix("XadL_Z").and_then(encoding).and_then(|rest| rest.strip_prefix("EE")) {
                Some(rest) => rest,
                None => break,
            },
            'S' | 'T' => text.split_once('_').map_or("", |(_, rest)| rest),
            '1'..='9' => identifier(text).map_or("", |(_, rest)| rest),
            // A class template, such as a vector type.
            'I' => text.split_once('E').map_or("", |(_, rest)| rest),
            'a'..='z' => text.get(1..).unwrap_or_default(),
            _ => break,
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_come_out_of_a_symbol() {
        let fattn = "_ZL18flash_attn_ext_f16ILi128ELi128ELi8ELi4ELb0ELb0EEvPKcS1_";
        assert_eq!(instance(fattn), "flash_attn_ext_f16<128,128,8,4,0,0>");
        assert_eq!(instance("_ZL24__device_stub__mul_mat_qIL9ggml_type12ELi128ELb0EEvPKc"), "mul_mat_q<12,128,0>");
        assert_eq!(instance("_ZL13mul_mat_vec_fI6__halfS0_Li1ELi256ELb0ELb0EEvPKT_"), "mul_mat_vec_f<1,256,0,0>");
        assert_eq!(
            instance("_ZL10k_get_rowsILi32ELi1EXadL_ZL15dequantize_q8_0PKvliR15HIP_vector_type"),
            "k_get_rows<32,1>"
        );
        assert_eq!(
            instance("_ZL18flash_attn_ext_vecILi64ELi2EL9ggml_type2ELS0_2ELb0EEvPKc"),
            "flash_attn_ext_vec<64,2,2,2,0>"
        );
        assert_eq!(instance("_ZL9cpy_f32_qIXadL_ZL17cpy_blck_f32_q8_0PKcPcEELi32EEvS1_S2_l"), "cpy_f32_q<32>");
        assert_eq!(instance("_ZL1kILi32EXadL_ZL15dequantize_q8_0PKvliR15HIP_vector_typeIfLj2EEEELi7EEvPKv"), "k<32,7>");
        assert_eq!(instance("_ZL1kIXadL_ZL1fM1aiEELi7EEvv"), "k<>", "what is not known ends the list");
        assert_eq!(instance("HOST"), "HOST");
        assert_eq!(instance("_Z99999999999999999999x"), "_Z99999999999999999999x");
    }
}
