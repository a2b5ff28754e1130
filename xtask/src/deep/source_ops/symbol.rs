//! A launched symbol as the evaluator writes it: the kernel's name with the numbers among its template arguments.

/// `_ZL18flash_attn_ext_f16ILi128ELi128ELb0EEv...` is `flash_attn_ext_f16<128,128,0>`; words that are no symbol stay.
pub fn kernel(symbol: &str) -> String {
    if symbol.starts_with("BLAS ") {
        return "BLAS".to_owned();
    }
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
    Some((text.get(digits..digits + length)?, text.get(digits + length..)?))
}

/// The literals of a template argument list, up to its end or to an argument that is an expression.
fn numbers(mut text: &str) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(first) = text.chars().next() {
        text = match first {
            'L' => {
                let Some((item, rest)) = text.get(1..).and_then(|text| text.split_once('E')) else { break };
                // The literal's type is a letter, a name, or a name that came before (S0_).
                let value = match (identifier(item), item.strip_prefix('S').and_then(|item| item.split_once('_'))) {
                    (Some((_, value)), _) | (_, Some((_, value))) => value,
                    _ => item.get(1..).unwrap_or_default(),
                };
                out.push(value.replace('n', "-"));
                rest
            }
            'S' | 'T' => text.split_once('_').map_or("", |(_, rest)| rest),
            '1'..='9' => identifier(text).map_or("", |(_, rest)| rest),
            // A template of a class, such as a vector type.
            'I' => text.split_once('E').map_or("", |(_, rest)| rest),
            'a'..='z' => text.get(1..).unwrap_or_default(),
            _ => break,
        };
    }
    out
}

#[test]
fn names_and_numbers_come_out_of_a_symbol() {
    let fattn = "_ZL18flash_attn_ext_f16ILi128ELi128ELi8ELi4ELb0ELb0EEvPKcS1_";
    assert_eq!(kernel(fattn), "flash_attn_ext_f16<128,128,8,4,0,0>");
    assert_eq!(kernel("_ZL24__device_stub__mul_mat_qIL9ggml_type12ELi128ELb0EEvPKc"), "mul_mat_q<12,128,0>");
    assert_eq!(kernel("_ZL13mul_mat_vec_fI6__halfS0_Li1ELi256ELb0ELb0EEvPKT_"), "mul_mat_vec_f<1,256,0,0>");
    assert_eq!(kernel("_ZL10k_get_rowsILi32ELi1EXadL_ZL15dequantize_q8_0PKvliR15HIP_vector_type"), "k_get_rows<32,1>");
    assert_eq!(
        kernel("_ZL18flash_attn_ext_vecILi64ELi2EL9ggml_type2ELS0_2ELb0EEvPKc"),
        "flash_attn_ext_vec<64,2,2,2,0>"
    );
    assert_eq!(kernel("HOST"), "HOST");
}
