//! Names of Tensile kernels: `Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_...`.
//!
//! A name has the contraction (the indices of C, A and B, which show the transposition), then data types, then problem
//! flags, then the solution's parameters. Each parameter is an abbreviation made of the capitals of its name, followed
//! by its value. The rules are in Tensile (`SolutionStructs.py`, ProblemType and Solution naming) and in hipBLASLt's
//! tensilelite.

use super::{
    facts::{Facts, Family, Library, Tile},
    tensile_codes::{FLAGS, PARAMETERS, WORDED},
};

/// Type codes, longest first.
const TYPES: [(&str, &str); 20] = [
    ("4xi8", "I8x4"),
    ("F8N", "F8_FNUZ"),
    ("B8N", "BF8_FNUZ"),
    ("I8", "I8"),
    ("F8", "F8"),
    ("B8", "BF8"),
    ("F6", "F6"),
    ("B6", "BF6"),
    ("F4", "F4"),
    ("X", "XF32"),
    ("S", "F32"),
    ("D", "F64"),
    ("C", "C32"),
    ("Z", "C64"),
    ("H", "F16"),
    ("B", "BF16"),
    ("I", "I32"),
    ("E", "E8"),
    ("h", "F16"),
    ("b", "BF16"),
];

/// Reads a Tensile name. None if it does not begin like one.
pub(super) fn read(name: &str) -> Option<Facts> {
    if let Some(facts) = custom(name) {
        return Some(facts);
    }
    let name = name.strip_prefix("Custom_").unwrap_or(name);
    let rest = name.strip_prefix('C')?;
    let mut words = name.split('_');
    let output = words.next()?;
    if rest.is_empty() || !output.bytes().skip(1).all(|b| b.is_ascii_lowercase()) || output.len() < 3 {
        return None;
    }
    let words: Vec<&str> = words.collect();
    let operand = |word: &str, letter: char| word.starts_with(letter) && word.len() > 2 && word.contains('l');
    match words.as_slice() {
        [a, b, rest @ ..] if operand(a, 'A') && operand(b, 'B') => Some(contraction(name, a, b, rest)),
        [types, rest @ ..] if !types.is_empty() && split_types(types).is_some() => Some(helper(name, types, rest)),
        _ => None,
    }
}

/// Reads the names of handwritten kernels: `DGEMM_Aldebaran_NN_MT128x128x16_MI16x16x4x1_GRVW2_SU4_SUS128_WGM4`.
fn custom(name: &str) -> Option<Facts> {
    let (head, rest) = name.split_once("GEMM_")?;
    let types = split_types(head).filter(|types| types.len() == 1)?;
    let words: Vec<&str> = rest.split('_').collect();
    let from = words.iter().position(|word| word.strip_prefix("MT").and_then(extents).is_some())?;
    let mut facts = Facts::new(Library::Tensile, Family::Gemm, name);
    facts.types.push(("A", types.first()?.to_string()));
    for word in words.get(..from)? {
        if matches!(*word, "NN" | "NT" | "TN" | "TT") {
            facts.put("transposes", *word);
        } else {
            facts.put("made for", *word);
        }
    }
    solution(&mut facts, words.get(from..)?);
    Some(facts)
}

fn contraction(name: &str, a: &str, b: &str, words: &[&str]) -> Facts {
    let mut facts = Facts::new(Library::Tensile, Family::Gemm, name);
    // A leading free index (`Ailk`) means not transposed; a leading summation index (`Alik`) means transposed. For B it
    // is the other way round (`Bljk` is not transposed). A trailing C means conjugate.
    let transposed = |word: &str, summed: bool| {
        let conjugate = word.ends_with('C');
        match ((word.as_bytes().get(1) == Some(&b'l')) == summed, conjugate) {
            (false, _) => 'N',
            (true, false) => 'T',
            (true, true) => 'C',
        }
    };
    let (ta, tb) = (transposed(a, true), transposed(b, false));
    facts.put("transposes", format!("{ta}{tb}"));
    let mut words = words.iter().copied().peekable();
    let mut shown = String::new();
    if let Some(first) = words.next() {
        let flags_follow = words.peek().is_some_and(|next| is_problem_flags(next));
        let (types, flags) = if flags_follow { (first, "") } else { split_single(first) };
        operands(&mut facts, types);
        shown = types.to_owned();
        problem_flags(&mut facts, flags);
        if flags_follow && let Some(flags) = words.next() {
            problem_flags(&mut facts, flags);
        }
    }
    solution(&mut facts, &words.collect::<Vec<_>>());
    let tile = facts.tile.map_or_else(String::new, |tile| format!(" MT{tile}"));
    let instruction = facts.parameter("MatrixInstruction").map_or_else(String::new, |mi| format!(" MI{mi}"));
    facts.readable = format!("Tensile GEMM {ta}{tb} {shown}{tile}{instruction}");
    facts
}

/// Reads the names of helper kernels, which scale C by beta, convert, or add up the slices of a split sum.
fn helper(name: &str, types: &str, words: &[&str]) -> Facts {
    let mut facts = Facts::new(Library::Tensile, Family::GemmHelper, name);
    operands(&mut facts, types);
    let mut what = "scale C by beta".to_owned();
    for word in words {
        if let Some(rest) = word.strip_prefix("PostGSU") {
            what = if rest.is_empty() {
                "add up the slices of a split summation".to_owned()
            } else {
                facts.put("GSU", rest);
                format!("add up {rest} slices of a split summation")
            };
        } else if let Some(width) = word.strip_prefix("VW").filter(|w| w.bytes().all(|b| b.is_ascii_digit())) {
            facts.put("VectorWidth", width);
        } else if let Some(modulo) = word.strip_prefix("mod") {
            facts.put("GSUUnrollUnit", modulo);
        } else if *word == "GA" {
            facts.put("GlobalAccumulation", "true");
            what = "prepare global accumulation".to_owned();
        } else if let Some((_, name, value)) = FLAGS.iter().find(|(code, ..)| code == word) {
            facts.put(name, *value);
        } else if split_types(word).is_some() {
            facts.put("further types", *word);
        } else {
            facts.unread.push((*word).to_owned());
        }
    }
    facts.put("does", what.clone());
    facts.readable = format!("Tensile helper {types}: {what}");
    facts
}

/// Splits a type code and the problem flags after it: `SB`.
fn split_single(word: &str) -> (&str, &str) {
    for (code, _) in TYPES {
        if let Some(flags) = word.strip_prefix(code)
            && is_problem_flags(flags)
        {
            return (word.get(..code.len()).unwrap_or(word), flags);
        }
    }
    (word, "")
}

/// Whether a word has only problem flags: `B` beta, `H` high-precision accumulation, `R`/`RZ` alternative F16 rounding,
/// `I`, `Ic` initial strides.
fn is_problem_flags(word: &str) -> bool {
    let rest = word.strip_prefix('B').unwrap_or(word);
    let rest = rest.strip_prefix('H').unwrap_or(rest);
    let rest = rest.strip_prefix("RZ").or_else(|| rest.strip_prefix('R')).unwrap_or(rest);
    let rest = rest.strip_prefix('I').filter(|r| *r != "c").unwrap_or(rest);
    let rest = rest.strip_prefix("Ic").unwrap_or(rest);
    rest.is_empty() && !word.is_empty()
}

fn problem_flags(facts: &mut Facts, word: &str) {
    for (at, byte) in word.bytes().enumerate() {
        match byte {
            b'B' => facts.put("UseBeta", "true"),
            b'H' => facts.put("HighPrecisionAccumulate", "true"),
            b'R' if word.get(at..) == Some("RZ") => facts.put("Fp16AltImpl", "round to zero"),
            b'R' => facts.put("Fp16AltImpl", "true"),
            b'I' => facts.put("UseInitialStrides", "true"),
            _ => {}
        }
    }
}

fn split_types(word: &str) -> Option<Vec<&'static str>> {
    let mut rest = word;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (code, name) = TYPES.iter().find(|(code, _)| rest.starts_with(code))?;
        found.push(*name);
        rest = rest.get(code.len()..)?;
    }
    (!found.is_empty()).then_some(found)
}

/// Reads the type codes. A single code applies to all operands. Two codes are for A and B. Three are A and B together,
/// D, compute. Four codes are for A, B, D and the computation.
fn operands(facts: &mut Facts, word: &str) {
    let Some(types) = split_types(word) else {
        facts.unread.push(word.to_owned());
        return;
    };
    let roles: &[(&'static str, usize)] = match types.len() {
        1 => &[("A", 0), ("B", 0), ("D", 0), ("compute", 0)],
        2 => &[("A", 0), ("B", 1)],
        3 => &[("A", 0), ("B", 0), ("D", 1), ("compute", 2)],
        _ => &[("A", 0), ("B", 1), ("D", 2), ("compute", 3)],
    };
    // In `F8B8S`, a mixed pair of 8-bit floats is A and B, not A and D.
    let mixed = types.len() == 3 && is_float8(types.first()) && is_float8(types.get(1));
    let roles = if mixed { &[("A", 0), ("B", 1), ("compute", 2)][..] } else { roles };
    for (role, index) in roles {
        if let Some(name) = types.get(*index) {
            facts.types.push((role, (*name).to_owned()));
        }
    }
}

fn is_float8(name: Option<&&str>) -> bool {
    name.is_some_and(|n| n.starts_with("F8") || n.starts_with("BF8"))
}

/// Reads the solution's parameters. A value may have several parts: `WG16_16_1`.
fn solution(facts: &mut Facts, words: &[&str]) {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let mut more: Vec<&str> = Vec::new();
        while let Some(next) = words.get(at).filter(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit())) {
            more.push(next);
            at += 1;
        }
        if let Some(tile) = word.strip_prefix("MT").and_then(extents) {
            facts.tile = Some(tile);
        } else if word.strip_prefix("MI").and_then(extents).is_some() {
            facts.put("MatrixInstruction", word.get(2..).unwrap_or(""));
        } else if let Some((_, name, value)) = FLAGS.iter().find(|(code, ..)| code == word) {
            facts.put(name, *value);
        } else if facts.parameters.last().is_some_and(|(name, _)| name == "UseBias") && split_types(word).is_some() {
            facts.put("BiasDataTypeList", *word);
        } else if facts.parameters.last().is_some_and(|(name, _)| name == "ActivationType")
            && split_types(word).is_some()
        {
            facts.put("ActivationComputeDataType", *word);
        } else if let Some((name, value)) = coded(word) {
            let parts: Vec<&str> = std::iter::once(value).chain(more.iter().copied()).collect();
            facts.put(name, parts.join("x").replace("n1", "-1"));
            continue;
        } else {
            facts.unread.push(word.to_string());
        }
        facts.unread.extend(more.into_iter().map(str::to_owned));
    }
}

/// Parses extents: `128x64x32`.
fn extents(text: &str) -> Option<Tile> {
    let mut numbers = text.split('x').map(str::parse::<u32>);
    let (rows, columns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Tile { rows, columns, depth: numbers.next().and_then(Result::ok).unwrap_or(0) })
}

/// The longest parameter code at the start of this word, and the value after it.
fn coded(word: &str) -> Option<(&'static str, &str)> {
    let fits = |code: &str| word.strip_prefix(code).is_some_and(|value| is_value(code, value));
    let (code, name) = PARAMETERS.iter().filter(|(code, _)| fits(code)).max_by_key(|(code, _)| code.len())?;
    Some((name, word.get(code.len()..)?))
}

/// Whether a text is a valid value: a number (`n1` is -1, `0p25` is a quarter, an ISA number ends in a letter), an
/// empty text (an empty list), or the capitals of a word.
fn is_value(code: &str, text: &str) -> bool {
    let digits = text.strip_prefix('n').unwrap_or(text);
    let number = digits.bytes().next().is_some_and(|b| b.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
    let list = text.is_empty() && code.starts_with("AS");
    number || list || (WORDED.contains(&code) && !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rocblas_kernel() {
        let facts = read(
            "Cijk_Ailk_Bljk_HHS_BH_GB_MT64x32x16_MI16x16x16x1_SE_1LDSB1_GSU1_GSUASB_ISA90a_KLA_VSn1_WS64_WG32_8_1_WGM1",
        );
        let facts = facts.expect("a contraction");
        assert_eq!(facts.parameter("transposes"), Some("NN"));
        assert_eq!(
            (facts.type_of("A"), facts.type_of("D"), facts.type_of("compute")),
            (Some("F16"), Some("F16"), Some("F32"))
        );
        assert_eq!(facts.tile, Some(Tile { rows: 64, columns: 32, depth: 16 }));
        assert_eq!(facts.parameter("WorkGroup"), Some("32x8x1"));
        assert_eq!(facts.parameter("WavefrontSize"), Some("64"));
        assert_eq!(facts.parameter("GeneralBatched"), Some("true"));
    }

    #[test]
    fn transposes_follow_the_position_of_the_summation_index() {
        let of = |name| read(name).and_then(|f| f.parameter("transposes").map(str::to_owned));
        assert_eq!(of("Cijk_Ailk_Bljk_SB_MT8x8x8").as_deref(), Some("NN"));
        assert_eq!(of("Cijk_Ailk_Bjlk_SB_MT8x8x8").as_deref(), Some("NT"));
        assert_eq!(of("Cijk_Alik_Bljk_SB_MT8x8x8").as_deref(), Some("TN"));
        assert_eq!(of("Cijk_AlikC_Bjlk_ZB_MT8x8x8").as_deref(), Some("CT"));
    }

    #[test]
    fn the_helpers_of_the_field_notes() {
        let facts = read("Cijk_S_PostGSU3_VW2").expect("a helper");
        assert_eq!(
            (facts.family, facts.parameter("GSU"), facts.parameter("VectorWidth")),
            (Family::GemmHelper, Some("3"), Some("2"))
        );
        assert_eq!(
            read("Cijk_S_GA").and_then(|f| f.parameter("does").map(str::to_owned)).as_deref(),
            Some("prepare global accumulation")
        );
    }

    #[test]
    fn mixed_types_of_hipblaslt() {
        let facts =
            read("Cijk_Alik_Bljk_B8F8HS_BH_Bias_SHB_HA_S_SAB_SCD_SAV_UserArgs_MT16x16x32_MI16x16x1").expect("one");
        assert_eq!(
            (facts.type_of("A"), facts.type_of("B"), facts.type_of("D")),
            (Some("BF8"), Some("F8"), Some("F16"))
        );
        assert_eq!(facts.parameter("BiasDataTypeList"), Some("SHB"));
        assert!(facts.unread.is_empty(), "{facts}");
    }
}
