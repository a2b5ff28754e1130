//! Libraries that are recognised by namespace or habit of naming, with families by the words of their kernels.

use super::{
    cxx::Function,
    facts::{Facts, Family, Library, Tile},
    scalar::{scalar, words},
};

/// Namespaces and prefixes, first match wins. A namespace ends with `::`.
const OWNERS: &[(&str, Library)] = &[
    ("at::", Library::PyTorch),
    ("c10::", Library::PyTorch),
    ("torch::", Library::PyTorch),
    ("caffe2::", Library::PyTorch),
    ("vllm::", Library::PyTorch),
    ("onnxruntime::", Library::OnnxRuntime),
    ("jax::", Library::Jax),
    ("xla::", Library::Jax),
    ("stream_executor::", Library::Jax),
    ("aiter::", Library::Aiter),
    ("ck::", Library::CompositeKernel),
    ("ck_tile::", Library::CompositeKernel),
    ("rocprim::", Library::RocPrim),
    ("hipcub::", Library::RocPrim),
    ("rocrand_impl::", Library::RocRand),
    ("rocrand_", Library::RocRand),
    ("cub::", Library::Cub),
    ("thrust::", Library::Thrust),
    ("rocblas_", Library::RocBlas),
    ("rocsolver", Library::RocBlas),
    ("hipblaslt", Library::HipBlasLt),
    ("hipblasLt", Library::HipBlasLt),
    ("__amd_rocclr_", Library::Runtime),
    ("triton_", Library::Triton),
];

/// bitsandbytes has no namespace; its kernels by name.
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

/// Words inside a kernel's name that tell its family, first match wins; compared in lower case.
const WORDS: &[(&str, Family)] = &[
    ("flash", Family::FlashAttention),
    ("fmha", Family::FlashAttention),
    ("mla_", Family::Attention),
    ("paged_attention", Family::Attention),
    ("attention", Family::Attention),
    ("attn", Family::Attention),
    ("rotary", Family::Rope),
    ("rope", Family::Rope),
    ("topksoftmax", Family::MoeRouting),
    ("moe", Family::Moe),
    ("softmax", Family::Softmax),
    ("layernorm", Family::Norm),
    ("layer_norm", Family::Norm),
    ("rmsnorm", Family::Norm),
    ("rms_norm", Family::Norm),
    ("batchnorm", Family::Norm),
    ("batch_norm", Family::Norm),
    ("groupnorm", Family::Norm),
    ("group_norm", Family::Norm),
    ("norm", Family::Norm),
    ("dequant", Family::Dequantize),
    ("quant", Family::Quantize),
    ("optimizer", Family::Optimizer),
    ("adam", Family::Optimizer),
    ("sgd", Family::Optimizer),
    ("gemv", Family::Gemv),
    ("block_scale", Family::Gemm),
    ("gemm", Family::Gemm),
    ("matmul", Family::Gemm),
    ("flatmm", Family::Gemm),
    ("trsm", Family::LinearAlgebra),
    ("syrk", Family::Blas),
    ("trmm", Family::Blas),
    ("allreduce", Family::AllReduce),
    ("all_reduce", Family::AllReduce),
    ("cross_device", Family::AllReduce),
    ("conv", Family::Convolution),
    ("im2col", Family::Convolution),
    ("col2im", Family::Convolution),
    ("pool", Family::Pool),
    ("gather", Family::GetRows),
    ("embedding", Family::GetRows),
    ("index", Family::GetRows),
    ("scatter", Family::Scatter),
    ("onehot", Family::Scatter),
    ("topk", Family::Sort),
    ("top_k", Family::Sort),
    ("sort", Family::Sort),
    ("radix", Family::Sort),
    ("merge", Family::Sort),
    ("argmax", Family::Sort),
    ("scan", Family::Scan),
    ("cumsum", Family::Scan),
    ("lookback", Family::Scan),
    ("partition", Family::Scan),
    ("select", Family::Scan),
    ("reduce", Family::Reduce),
    ("reduction", Family::Reduce),
    ("histogram", Family::Reduce),
    ("sum", Family::Reduce),
    ("allfinite", Family::Reduce),
    ("count", Family::Reduce),
    ("dropout", Family::Random),
    ("random", Family::Random),
    ("threefry", Family::Random),
    ("philox", Family::Random),
    ("generate", Family::Random),
    ("distribution", Family::Random),
    ("sampling", Family::Random),
    ("multinomial", Family::Random),
    ("loss", Family::Loss),
    ("entropy", Family::Loss),
    ("gelu", Family::Activation),
    ("silu", Family::Activation),
    ("relu", Family::Activation),
    ("swiglu", Family::Glu),
    ("glu", Family::Glu),
    ("sigmoid", Family::Activation),
    ("activation", Family::Activation),
    ("act_and_mul", Family::Glu),
    ("elementwise", Family::Elementwise),
    ("unary", Family::Elementwise),
    ("transform", Family::Elementwise),
    ("kfunc", Family::Elementwise),
    ("interpolation", Family::Layout),
    ("crop", Family::Layout),
    ("gridsample", Family::Layout),
    ("compress", Family::Scan),
    ("nonzero", Family::Scan),
    ("binary", Family::Binary),
    ("pointwise", Family::Elementwise),
    ("foreach", Family::Elementwise),
    ("multi_tensor", Family::Elementwise),
    ("multitensor", Family::Elementwise),
    ("transpose", Family::Layout),
    ("permute", Family::Layout),
    ("concat", Family::Layout),
    ("cat", Family::Layout),
    ("pad", Family::Layout),
    ("split", Family::Layout),
    ("slice", Family::Layout),
    ("tile", Family::Layout),
    ("resize", Family::Layout),
    ("upsample", Family::Layout),
    ("unfold", Family::Layout),
    ("expand", Family::Layout),
    ("fill", Family::Layout),
    ("reverse", Family::Layout),
    ("tril", Family::Layout),
    ("triu", Family::Layout),
    ("range", Family::Layout),
    ("eyelike", Family::Layout),
    ("diagonal", Family::Layout),
    ("space", Family::Layout),
    ("reorder", Family::Layout),
    ("copy", Family::Copy),
    ("memcpy", Family::Copy),
    ("memset", Family::Copy),
    ("cast", Family::Convert),
    ("convert", Family::Convert),
    ("isinf", Family::Elementwise),
    ("isnan", Family::Elementwise),
    ("shrink", Family::Activation),
    ("clip", Family::Elementwise),
    ("where", Family::Elementwise),
    ("householder", Family::LinearAlgebra),
    ("tridiagonal", Family::LinearAlgebra),
    ("cholesky", Family::LinearAlgebra),
    ("lupivots", Family::LinearAlgebra),
    ("getrf", Family::LinearAlgebra),
    ("potrf", Family::LinearAlgebra),
    ("pointers", Family::BlasPointers),
    ("axpy", Family::Blas),
    ("dot", Family::Blas),
    ("scal", Family::Blas),
    ("nrm2", Family::Blas),
    ("asum", Family::Blas),
    ("ger", Family::Blas),
    ("rot", Family::Blas),
    ("swap", Family::Blas),
    ("symv", Family::Blas),
    ("hemv", Family::Blas),
    ("trmv", Family::Blas),
    ("trsv", Family::Blas),
    ("syr", Family::Blas),
    ("her", Family::Blas),
    ("symm", Family::Blas),
    ("hemm", Family::Blas),
    ("gbmv", Family::Blas),
    ("sbmv", Family::Blas),
    ("spmv", Family::Blas),
    ("tbmv", Family::Blas),
    ("tpmv", Family::Blas),
    ("geam", Family::Blas),
    ("dgmm", Family::Blas),
    ("iamax", Family::Blas),
    ("iamin", Family::Blas),
    ("spr", Family::Blas),
    ("hbmv", Family::Blas),
    ("hpmv", Family::Blas),
    ("tbsv", Family::Blas),
    ("tpsv", Family::Blas),
    ("hpr", Family::Blas),
    ("trtri", Family::LinearAlgebra),
    ("set_matrix", Family::Copy),
    ("set_diag", Family::Blas),
    ("beam", Family::Sort),
    ("bias", Family::Binary),
    ("add", Family::Binary),
    ("mul", Family::Binary),
    ("lstm", Family::Recurrent),
    ("gru", Family::Recurrent),
    ("rnn", Family::Recurrent),
    ("mamba", Family::StateSpace),
    ("ssm", Family::StateSpace),
    ("empty", Family::Runtime),
    ("init", Family::Runtime),
    ("noop", Family::Runtime),
];

/// Reads a kernel of a library that is known by namespace or prefix.
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

/// aiter's assembly kernels say it all in their names: `fmoe_bf16_pertokenFp8_g1u1_silu_1tg_32x512`.
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
    // rocBLAS keeps helpers outside its prefix but names its types in the parameters.
    let by_parameter = || {
        let parameters = function.parameters?;
        (parameters.contains("rocblas_") || function.arguments.iter().any(|a| a.contains("rocblas_")))
            .then_some(Library::RocBlas)
    };
    named
        .or_else(bits)
        .or_else(|| triton(function.name))
        .or_else(|| aiter(function.name))
        .or_else(|| extension(function.name))
        .or_else(by_parameter)
}

/// Triton without a prefix: specialisation suffixes such as `_0d1d2d3de`.
fn triton(name: &str) -> Option<Library> {
    let (_, suffix) = name.rsplit_once('_')?;
    let digits = suffix.bytes().filter(u8::is_ascii_digit).count();
    let shape = suffix.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'd' | b'e' | b'c'));
    (shape && digits >= 2 && suffix.starts_with('0') && suffix.contains('d')).then_some(Library::Triton)
}

/// aiter's assembly kernels come with and without their namespace.
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

/// hipBLASLt's extension operations: `Softmax_DT_S_MT_4_64`, `LayerNorm_DT_S_W_256_C_4_S_0`, `AMax_Ti_S_To_S_W_256_C_4`.
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
    if library == Library::Aiter && (lower.starts_with("pa_")) {
        return Family::Attention;
    }
    // A generic launcher says what it does in its template arguments or parameters.
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

fn words_of(lower: &str) -> Option<Family> {
    WORDS.iter().find(|(word, _)| lower.contains(word)).map(|(_, family)| *family)
}

/// The functor of an element-wise kernel: `at::native::CUDAFunctor_add<float>`, `OP_Add`.
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

/// The name without namespaces in its arguments, cut where a functor would fill the screen.
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
