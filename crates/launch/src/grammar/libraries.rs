//! Recognises libraries by namespace or naming convention, and families by the words in their kernels' names.

use super::{
    cxx::Function,
    facts::{Facts, Family, Library, Tile},
    family_words::words_of,
    scalar::{scalar, words},
};

/// Namespaces and prefixes. The first match wins. A namespace ends with `::`.
const OWNERS: &[(&str, Library)] = &[
    ("at::", Library::PyTorch),
    ("c10::", Library::PyTorch),
    ("torch::", Library::PyTorch),
    ("caffe2::", Library::PyTorch),
    ("vllm::", Library::Vllm),
    ("hipsparselt", Library::HipSparseLt),
    ("rocsparselt", Library::HipSparseLt),
    ("_rocsparselt", Library::HipSparseLt),
    ("onnxruntime::", Library::OnnxRuntime),
    ("jax::", Library::Jax),
    ("xla::", Library::Jax),
    ("stream_executor::", Library::Jax),
    ("aiter::", Library::Aiter),
    ("ck::", Library::CompositeKernel),
    ("ck_tile::", Library::CompositeKernel),
    ("rocprim::", Library::RocPrim),
    ("hipcub::", Library::RocPrim),
    ("rocrand", Library::RocRand),
    ("ncclDevKernel", Library::Rccl),
    ("ncclDevFunc", Library::Rccl),
    ("ncclKernel", Library::Rccl),
    ("rccl", Library::Rccl),
    ("cupy_", Library::Cupy),
    ("cupyx_", Library::Cupy),
    ("cub::", Library::Cub),
    ("thrust::", Library::Thrust),
    ("rocblas_", Library::RocBlas),
    ("rocsolver", Library::RocBlas),
    ("hipblaslt", Library::HipBlasLt),
    ("hipblasLt", Library::HipBlasLt),
    ("__amd_rocclr_", Library::Runtime),
    ("triton_", Library::Triton),
];

/// bitsandbytes has no namespace, so its kernels are listed by name.
const BITSANDBYTES: &[&str] = &[
    "kQuantizeBlockwise",
    "kDequantizeBlockwise",
    "kOptimizer",
    "kPreconditionOptimizer",
    "kgemm_4bit_inference",
    "gemm_4bit_",
    "kInt8VectorQuant",
    "kdequant_mm_int32",
    "kfunc",
    "kspmm_",
    "kPercentileClipping",
    "kEstimateQuantiles",
    "kgetColRowStats",
    "kTransformRowToFormat",
    "kExtractOutliers",
    "kHistogramScatterAdd",
    "kDoubleRowColQuant",
    "kQuantize",
    "kDequantize",
    "kOptimizerStatic",
];

/// Reads the name of a kernel of a library with a known namespace or prefix.
pub(super) fn read(function: &Function<'_>) -> Option<Facts> {
    let library = owner(function)?;
    let family = family(library, function);
    let mut facts = Facts::new(library, family, function.name);
    facts.readable = shortened(function);
    for argument in &function.arguments {
        if let Some(short) = scalar(argument)
            && facts.types.len() < 6
        {
            facts.types.push(("data", short));
        }
    }
    functor(&mut facts, function);
    if library == Library::Aiter {
        assembly_words(&mut facts, function.name);
    }
    Some(facts)
}

/// Reads the names of aiter's assembly kernels, which contain all facts: `fmoe_bf16_pertokenFp8_g1u1_silu_1tg_32x512`.
fn assembly_words(facts: &mut Facts, name: &str) {
    for word in name.split('_') {
        let mut numbers = word.split('x').map(str::parse::<u32>);
        if let Some(short) = words(word).first() {
            facts.types.push(("data", (*short).to_owned()));
        } else if let (Some(Ok(rows)), Some(Ok(columns))) = (numbers.next(), numbers.next()) {
            let depth = numbers.next().and_then(Result::ok).unwrap_or(0);
            facts.tile.get_or_insert(Tile { rows, columns, depth });
        } else if let Some(size) = word.strip_prefix("hd").filter(|d| d.parse::<u32>().is_ok()) {
            facts.put("head size", size);
        } else if let Some(size) = word.strip_prefix("gqa").filter(|d| d.parse::<u32>().is_ok()) {
            facts.put("queries per key", size);
        } else if let Some(quantised) =
            ["pertoken", "per1x32", "per1x128", "blockscale", "noquant"].iter().find(|p| word.starts_with(**p))
        {
            facts.put("quantisation", *quantised);
            let of = word.get(quantised.len()..).unwrap_or("").to_ascii_uppercase();
            if !of.is_empty() {
                facts.types.push(("weights", of));
            }
        } else if matches!(word, "silu" | "gelu") {
            facts.put("activation", word);
        } else if matches!(word, "causal" | "fwd" | "bwd" | "group") {
            facts.put(word, "true");
        }
    }
}

fn owner(function: &Function<'_>) -> Option<Library> {
    let path = function.path.trim_start_matches("(anonymous namespace)::");
    let named = OWNERS.iter().find(|(prefix, _)| path.starts_with(prefix)).map(|(_, library)| *library);
    let bits = || BITSANDBYTES.iter().any(|prefix| path.starts_with(prefix)).then_some(Library::Bitsandbytes);
    // Some rocBLAS helpers do not have its prefix, but their parameters have its types.
    let by_parameter = || {
        let parameters = function.parameters?;
        (parameters.contains("rocblas_") || function.arguments.iter().any(|a| a.contains("rocblas_")))
            .then_some(Library::RocBlas)
    };
    named
        .or_else(bits)
        .or_else(|| triton(function.name))
        .or_else(|| aiter(function.name))
        .or_else(|| aotriton(function.name))
        .or_else(|| rpp(function.name))
        .or_else(|| vllm(function.name))
        .or_else(|| extension(function.name))
        .or_else(by_parameter)
}

/// Recognises Triton kernels without a prefix by specialisation suffixes such as `_0d1d2d3de`.
fn triton(name: &str) -> Option<Library> {
    let (_, suffix) = name.rsplit_once('_')?;
    let digits = suffix.bytes().filter(u8::is_ascii_digit).count();
    let shape = suffix.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'd' | b'e' | b'c'));
    (shape && digits >= 2 && suffix.starts_with('0') && suffix.contains('d')).then_some(Library::Triton)
}

/// Recognises aiter's assembly kernels, which occur with and without their namespace.
fn aiter(name: &str) -> Option<Library> {
    let prefixes = [
        "fmoe_",
        "pa_a16w8",
        "pa_kernel_func",
        "flatmm_uk_",
        "f8_block_scale_",
        "allreduce_",
        "layer_norm_",
        "gemm_kernel_func",
        "fmha_",
        "_gemm_afp4",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix)).then_some(Library::Aiter)
}

/// Recognises AOTriton, PyTorch's attention on AMD. Its kernels have the names in its source, with a suffix in some
/// releases.
fn aotriton(name: &str) -> Option<Library> {
    let known =
        ["attn_fwd", "bwd_kernel_dk_dv", "bwd_kernel_dq", "bwd_kernel_fuse", "bwd_preprocess", "bwd_postprocess"];
    let plain = |prefix: &&str| name.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    (known.iter().any(plain) || name == "debug_simulate_encoded_softmax").then_some(Library::AoTriton)
}

/// Recognises RPP, AMD's image and audio library: `brightness_pkd_hip_tensor`, `warp_affine_bilinear_pln3_hip_tensor`.
fn rpp(name: &str) -> Option<Library> {
    name.contains("_hip_tensor").then_some(Library::Rpp)
}

/// Recognises vLLM's kernels without a namespace, in C++ and Triton.
fn vllm(name: &str) -> Option<Library> {
    let known = [
        "kernel_unified_attention",
        "kernel_paged_attention",
        "paged_attention_ll4mi",
        "convert_fp8_kernel",
        "fused_moe_kernel",
        "_w8a8_block_fp8_matmul",
        "_w8a8_block_int8_matmul",
        "_per_token_group_quant",
        "awq_dequantize_kernel",
        "awq_gemm_kernel",
        "moe_align_block_size_kernel",
        "topkGatingSoftmax",
        "wvSplitK",
        "LLGemm1",
    ];
    known.iter().any(|prefix| name.starts_with(prefix)).then_some(Library::Vllm)
}

/// Recognises hipBLASLt's extension operations: `Softmax_DT_S_MT_4_64`, `LayerNorm_DT_S_W_256_C_4_S_0`,
/// `AMax_Ti_S_To_S_W_256_C_4`.
fn extension(name: &str) -> Option<Library> {
    let known = ["Softmax_DT_", "LayerNorm_DT_", "AMax_Ti_"];
    known.iter().any(|prefix| name.starts_with(prefix)).then_some(Library::HipBlasLt)
}

fn family(library: Library, function: &Function<'_>) -> Family {
    let lower = function.name.to_ascii_lowercase();
    if library == Library::Triton {
        return match lower.strip_prefix("triton_") {
            Some(rest) if rest.starts_with("tem_") || rest.starts_with("mm") => Family::Gemm,
            Some(rest) if rest.starts_with("red_") || rest.starts_with("per_") => Family::Reduce,
            Some(rest) if rest.starts_with("poi_") => Family::Elementwise,
            _ => words_of(&lower).unwrap_or(Family::Generated),
        };
    }
    match library {
        Library::RocRand => return Family::Random,
        Library::Rccl if lower.contains("allreduce") => return Family::AllReduce,
        Library::Rccl => return Family::Collective,
        Library::AoTriton => return Family::FlashAttention,
        Library::Cupy => return words_of(&lower).unwrap_or(Family::Elementwise),
        Library::Vllm if lower.starts_with("wvsplitk") || lower.starts_with("llgemm") => return Family::Gemv,
        _ => {}
    }
    if library == Library::Aiter && (lower.starts_with("pa_")) {
        return Family::Attention;
    }
    // The template arguments or parameters of a generic launcher show its purpose.
    let generic = matches!(
        function.name,
        "trampoline_kernel" | "kernel" | "kernel_agent" | "_kernel_agent" | "EmptyKernel" | "kentry"
    );
    if !generic && let Some(family) = words_of(&lower) {
        return family;
    }
    let inside = function.arguments.iter().find_map(|argument| words_of(&argument.to_ascii_lowercase()));
    inside
        .or_else(|| words_of(&lower))
        .or_else(|| words_of(&function.path.to_ascii_lowercase()))
        .unwrap_or(Family::Other)
}

/// Adds the functor of an element-wise kernel: `at::native::CUDAFunctor_add<float>`, `OP_Add`.
fn functor(facts: &mut Facts, function: &Function<'_>) {
    if !matches!(facts.family, Family::Elementwise | Family::Binary | Family::Reduce) {
        return;
    }
    for argument in &function.arguments {
        let Some(at) = argument.find("Functor").or_else(|| argument.find("OP_")).or_else(|| argument.find("_op"))
        else {
            continue;
        };
        let start = argument.get(..at).and_then(|head| head.rfind([':', '<', ' ', ','])).map_or(0, |s| s + 1);
        let tail = argument.get(start..).unwrap_or("");
        let end = tail.find(['<', '>', ',', '(', ' ']).unwrap_or(tail.len());
        facts.put("operation", tail.get(..end).unwrap_or(tail));
        return;
    }
}

/// The name without namespaces in its arguments, truncated if a functor is very long.
fn shortened(function: &Function<'_>) -> String {
    if function.arguments.is_empty() {
        return function.name.to_owned();
    }
    let shown: Vec<String> = function
        .arguments
        .iter()
        .take(4)
        .map(|argument| {
            let base = argument.split('<').next().unwrap_or(argument);
            let base = base.rsplit("::").next().unwrap_or(base);
            base.chars().take(40).collect()
        })
        .collect();
    let more = if function.arguments.len() > 4 { ",..." } else { "" };
    format!("{}<{}{more}>", function.name, shown.join(","))
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Library, read};

    #[test]
    fn libraries_by_their_habits() {
        let told = |name: &str| {
            let facts = read(name);
            (facts.library, facts.family)
        };
        let wrapper = "_ZN12rocrand_impl6system6detail14kernel_wrapperITnDaXadL_Z1fIiEvPT_EEiJfEEEvDpT1_";
        assert_eq!(told(wrapper), (Library::RocRand, Family::Random));
        assert_eq!(
            told("void rocrand_host::detail::generate_kernel<float, mrg_normal_distribution<float>>(int)").1,
            Family::Random
        );
        assert_eq!(told("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), (Library::Rccl, Family::AllReduce));
        assert_eq!(
            told("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"),
            (Library::Rccl, Family::Collective)
        );
        assert_eq!(told("cupy_add__float_float_float"), (Library::Cupy, Family::Binary));
        assert_eq!(told("attn_fwd"), (Library::AoTriton, Family::FlashAttention));
        assert_eq!(told("void vllm::rms_norm_kernel<c10::Half>(c10::Half*)"), (Library::Vllm, Family::Norm));
        assert_eq!(
            told("void vllm::convert_fp8_kernel<unsigned char, float>(float*)"),
            (Library::Vllm, Family::Convert)
        );
        assert_eq!(told("brightness_pkd_hip_tensor(unsigned char*)").0, Library::Rpp);
        assert_eq!(told("void ck_tile::kentry<256, 1, ck_tile::FmhaFwdKernel<int>>(int)").0, Library::CompositeKernel);
    }

    #[test]
    fn pytorch_triton_and_bitsandbytes() {
        let facts = read(
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
        );
        assert_eq!(
            (facts.library, facts.family, facts.parameter("operation")),
            (Library::PyTorch, Family::Elementwise, Some("CUDAFunctor_add"))
        );
        let facts = read("triton_red_fused__to_copy_mean_mul_0");
        assert_eq!((facts.library, facts.family), (Library::Triton, Family::Reduce));
        assert_eq!(read("matmul_kernel_0d1d2d3de4de5de").library, Library::Triton);
        assert_eq!(read("_Z18kQuantizeBlockwiseIfLi256ELi2ELi0ELi1EEvPfPT_S0_PhS0_ii").library, Library::Bitsandbytes);
        assert_eq!(read("LayerNorm_DT_S_W_256_C_4_S_0").library, Library::HipBlasLt);
    }
}
