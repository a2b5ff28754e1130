//! Names of cuBLAS and CUTLASS kernels: `ampere_sgemm_128x64_tn`, `sm90_xmma_gemm_...`, `cutlass_80_tensorop_...`,
//! `nvjet_...`, and the C++ templates around them. There is no specification; these forms occur in real traces.

use super::{
    cxx::Function,
    facts::{Facts, Family, Library, Tile},
};

const GENERATIONS: [&str; 10] =
    ["kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell", "gemm"];

/// Reads the name of a cuBLAS or CUTLASS kernel.
pub(super) fn read(function: &Function<'_>) -> Option<Facts> {
    if function.path.starts_with("cutlass::") || function.path.starts_with("cutlass__") {
        return Some(template(function));
    }
    plain(function.name).or_else(|| wrapper(function))
}

/// Reads a template such as `void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x3_tn_align4>(Params)`,
/// which contains the plain name.
fn template(function: &Function<'_>) -> Facts {
    let inner = function.arguments.first().and_then(|argument| plain(argument.rsplit("::").next().unwrap_or(argument)));
    let mut facts = match inner {
        Some(mut facts) => {
            facts.put("wrapper", function.path);
            facts
        }
        None => Facts::new(Library::Cutlass, Family::Gemm, function.name),
    };
    if facts.tile.is_none() {
        // The first threadblock shape, for example `cutlass::gemm::GemmShape<128, 128, 32>`.
        facts.tile = function.arguments.iter().find_map(|argument| {
            let inside = argument.split_once("GemmShape<")?.1.split('>').next()?;
            let mut numbers = inside.split(',').filter_map(|n| n.trim().trim_start_matches("(int)").parse().ok());
            Some(Tile { rows: numbers.next()?, columns: numbers.next()?, depth: numbers.next().unwrap_or(0) })
        });
    }
    facts
}

fn wrapper(function: &Function<'_>) -> Option<Facts> {
    let name = function.name;
    let scoped = function.path.starts_with("cublasLt::") || function.path.starts_with("cublas::");
    let family = match name {
        _ if name.starts_with("gemv") || name.starts_with("gemvNSP") => Family::Gemv,
        "splitKreduce_kernel" | "gemmk1_kernel" | "reduce_1Block_kernel" | "scal_kernel" | "scal_kernel_val" => {
            Family::GemmHelper
        }
        "dot_kernel" | "asum_kernel" | "iamax_kernel" | "axpy_kernel_val" | "copy_kernel"
            if scoped || function.arguments.iter().any(|a| a.contains("cublas")) =>
        {
            Family::Blas
        }
        _ if name.starts_with("gemmSN_") || name.starts_with("gemm_kernel2x2") => Family::Gemm,
        _ if scoped => Family::Blas,
        _ => return None,
    };
    let mut facts = Facts::new(Library::Cublas, family, name);
    for argument in &function.arguments {
        if let Some(short) = super::scalar::scalar(argument) {
            facts.types.push(("data", short));
        }
    }
    Some(facts)
}

fn plain(name: &str) -> Option<Facts> {
    let library = if name.starts_with("cutlass_") {
        Library::Cutlass
    } else if name.starts_with("nvjet_")
        || is_sm(name)
        || GENERATIONS.iter().any(|g| starts_word(name, g) && *g != "gemm")
    {
        Library::Cublas
    } else {
        return None;
    };
    let family = if name.contains("gemv") {
        Family::Gemv
    } else if name.contains("gemm") || name.starts_with("nvjet_") {
        Family::Gemm
    } else if name.contains("conv") || name.contains("fprop") || name.contains("dgrad") || name.contains("wgrad") {
        Family::Convolution
    } else {
        Family::Blas
    };
    let mut facts = Facts::new(library, family, name);
    for word in name.split('_') {
        one(&mut facts, word, name);
    }
    Some(facts)
}

fn is_sm(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("sm") else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 2 && rest.get(digits..).is_some_and(|r| r.starts_with('_'))
}

fn starts_word(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| rest.starts_with('_'))
}

fn one(facts: &mut Facts, word: &str, name: &str) {
    let lower = word.to_ascii_lowercase();
    if GENERATIONS.contains(&word) && word != "gemm" {
        facts.put("generation", word);
    } else if let Some(sm) = word.strip_prefix("sm").filter(|d| d.bytes().all(|b| b.is_ascii_digit()) && !d.is_empty())
    {
        facts.put("sm", sm);
    } else if let Some(tile) = extents(word.strip_prefix("tilesize").unwrap_or(word)) {
        match facts.tile {
            None => facts.tile = Some(tile),
            // In CUTLASS names, the second pair is depth and stages.
            Some(ref mut first) if first.depth == 0 && facts.parameters.iter().all(|(n, _)| n != "stages") => {
                first.depth = tile.rows;
                facts.put("stages", tile.columns.to_string());
            }
            Some(_) => facts.put("cluster", word),
        }
    } else if matches!(
        lower.as_str(),
        "nn" | "nt" | "tn" | "tt" | "nnn" | "ntn" | "tnn" | "ttn" | "nnt" | "ntt" | "tnt" | "ttt"
    ) {
        facts.put("transposes", lower.get(..2).unwrap_or("").to_ascii_uppercase());
    } else if let Some(align) = word.strip_prefix("align") {
        facts.put("alignment", align);
    } else if let Some(stage) =
        word.strip_prefix("stage").filter(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()))
    {
        facts.put("stages", stage);
    } else if matches!(
        word,
        "tensorop" | "simt" | "wmma" | "xmma" | "cublas" | "splitK" | "sliced1x2" | "interior" | "relu" | "bias"
    ) {
        facts.put("feature", word);
    } else if let Some(shape) = word.strip_prefix("tensor").filter(|s| s.contains('x')) {
        facts.put("matrix instruction", shape);
    } else if word == "cutlass" || word == "kernel" || word == "gemm" || word == "nvjet" || word.is_empty() {
    } else if name.starts_with("cutlass_") && word.bytes().all(|b| b.is_ascii_digit()) {
        facts.put("sm", word);
    } else if let Some(at) = word.find("gemm") {
        gemm_word(facts, word.get(..at).unwrap_or(""));
    } else if let Some(types) = typed(word) {
        facts.types.push(("data", types));
    } else {
        facts.unread.push(word.to_owned());
    }
}

/// Reads the prefix of `s16816gemm` or `h884gemm`: the BLAS letter (`s`, `h`, `d`, `c`, `z`, `i`) and the shape of the
/// tensor core instruction.
fn gemm_word(facts: &mut Facts, prefix: &str) {
    let letter = prefix.chars().find(char::is_ascii_alphabetic);
    let precision = match letter {
        Some('s') => "F32",
        Some('h') => "F16",
        Some('d') => "F64",
        Some('c') => "C32",
        Some('z') => "C64",
        Some('i') => "I32",
        _ => return,
    };
    facts.types.push(("compute", precision.to_owned()));
    let digits: String = prefix.chars().filter(char::is_ascii_digit).collect();
    let shape = match digits.as_str() {
        "16816" => "16x8x16",
        "16832" => "16x8x32",
        "1688" => "16x8x8",
        "884" => "8x8x4",
        "8816" => "8x8x16",
        "161616" => "16x16x16",
        "" => return,
        other => other,
    };
    facts.put("matrix instruction", shape);
}

fn typed(word: &str) -> Option<String> {
    let known = ["f16", "f32", "f64", "bf16", "tf32", "e4m3", "e5m2", "i8", "u8", "s8", "i32", "s32", "fp16", "fp32"];
    let mut rest = word;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let hit = known.iter().filter(|k| rest.starts_with(**k)).max_by_key(|k| k.len())?;
        found.push(hit.to_ascii_uppercase().replace("FP", "F"));
        rest = rest.get(hit.len()..)?;
    }
    (!found.is_empty()).then(|| found.join("*"))
}

fn extents(text: &str) -> Option<Tile> {
    let mut numbers = text.split('x').map(str::parse::<u32>);
    let (rows, columns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let depth = numbers.next().map_or(Some(0), Result::ok)?;
    numbers.next().is_none().then_some(Tile { rows, columns, depth })
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn names_of_real_traces() {
        let facts = read("ampere_sgemm_128x64_tn");
        assert_eq!(
            (facts.library, facts.family, facts.type_of("compute")),
            (Library::Cublas, Family::Gemm, Some("F32"))
        );
        assert_eq!(
            (facts.tile.map(|t| t.to_string()).as_deref(), facts.parameter("transposes")),
            (Some("128x64"), Some("TN"))
        );
        let facts = read("cutlass_80_tensorop_s16816gemm_f16_128x64_64x6_nn_align8");
        assert_eq!(
            (facts.library, facts.parameter("sm"), facts.parameter("stages")),
            (Library::Cutlass, Some("80"), Some("6"))
        );
        assert_eq!(facts.tile, Some(Tile { rows: 128, columns: 64, depth: 64 }));
        let facts = read(
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
        );
        assert_eq!(
            (facts.library, facts.parameter("sm"), facts.tile.map(|t| t.depth)),
            (Library::Cublas, Some("90"), Some(64))
        );
        let facts = read(
            "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x3_tn_align4>(cutlass_80_tensorop_s1688gemm_128x128_16x3_tn_align4::Params)",
        );
        assert_eq!((facts.library, facts.parameter("matrix instruction")), (Library::Cutlass, Some("16x8x8")));
        assert_eq!(read("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false, cublasGemvParams>(x)").family, Family::Gemv);
        assert_eq!(read("nvjet_hsh_128x64_64x6_2x1_v_bz_coopA_TNT").library, Library::Cublas);
    }
}
