//! The facts in a kernel's name, in one form for every library.

pub use gguf::Path;
use std::fmt;

say::named! {
    /// The library that a kernel belongs to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Library: key {
        Ggml = "ggml",
        /// Tensile-generated GEMM kernels, as shipped in rocBLAS and hipBLASLt; the name does not tell which of the
        /// two.
        Tensile = "tensile",
        RocBlas = "rocblas",
        HipBlasLt = "hipblaslt",
        Cublas = "cublas",
        Cutlass = "cutlass",
        CompositeKernel = "composable-kernel",
        PyTorch = "pytorch",
        OnnxRuntime = "onnxruntime",
        Jax = "jax",
        Aiter = "aiter",
        Bitsandbytes = "bitsandbytes",
        RocPrim = "rocprim",
        RocRand = "rocrand",
        Rpp = "rpp",
        Rccl = "rccl",
        Cupy = "cupy",
        HipSparseLt = "hipsparselt",
        AoTriton = "aotriton",
        Vllm = "vllm",
        Cub = "cub",
        Thrust = "thrust",
        Triton = "triton",
        Runtime = "runtime",
        Unknown = "unknown",
    }
}

say::named! {
    /// The purpose of a kernel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Family: key and ALL {
        Mmvq = "mmvq", Mmq = "mmq", MmqFixup = "mmq-fixup", Dmmv = "dmmv", Mmvf = "mmvf", Mmf = "mmf",
        MulMatVec = "mul-mat-vec", Matmul = "matmul", MatmulHelper = "matmul-helper",
        Gemm = "gemm", GemmHelper = "gemm-helper", Gemv = "gemv", Blas = "blas", BlasPointers = "blas-pointers",
        Repack = "repack", Quantize = "quantize", Dequantize = "dequantize", Convert = "convert", Copy = "copy",
        FlashAttention = "flash-attention", FlashAttentionFixup = "flash-attention-fixup", Attention = "attention",
        AttentionIndexer = "attention-indexer", Rope = "rope", Softmax = "softmax", Norm = "norm",
        GetRows = "get-rows", SetRows = "set-rows", Scatter = "scatter", Binary = "binary", Glu = "glu", Activation = "activation",
        Elementwise = "elementwise", Reduce = "reduce", Scan = "scan", Sort = "sort", MoeRouting = "moe-routing", Moe = "moe",
        Convolution = "convolution", Pool = "pool", Layout = "layout", StateSpace = "state-space", Recurrent = "recurrent",
        Hadamard = "hadamard", Random = "random", Loss = "loss", Optimizer = "optimizer", AllReduce = "all-reduce", Collective = "collective",
        LinearAlgebra = "linear-algebra", Generated = "generated", Runtime = "runtime", Other = "other",
    }
}

impl Family {
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.key() == key)
    }

    /// The multiplication path that a kernel of this family belongs to.
    pub fn path(self) -> Option<Path> {
        Some(match self {
            Self::Mmvq => Path::Mmvq,
            Self::Mmq | Self::MmqFixup | Self::Repack => Path::Mmq,
            Self::Dmmv => Path::Dmmv,
            Self::Mmvf => Path::Mmvf,
            Self::Mmf => Path::Mmf,
            Self::MulMatVec => Path::MulMatVec,
            Self::Matmul => Path::Matmul,
            Self::Gemm | Self::GemmHelper | Self::Gemv | Self::BlasPointers => Path::Blas,
            Self::FlashAttention | Self::FlashAttentionFixup => Path::FlashAttention,
            _ => return None,
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// Dimensions of the output tile of one workgroup; 0 if the name does not contain them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    pub rows: u32,
    pub columns: u32,
    pub depth: u32,
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |n: u32| if n == 0 { "?".to_owned() } else { n.to_string() };
        write!(f, "{}x{}", part(self.rows), part(self.columns))?;
        if self.depth > 0 { write!(f, "x{}", self.depth) } else { Ok(()) }
    }
}

/// The facts in a kernel's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub library: Library,
    pub family: Family,
    /// The name without namespace, template arguments and parameters.
    pub kernel: String,
    /// The readable name: `mul_mat_q<Q4_K,112,false>`.
    pub readable: String,
    /// Data types with their roles: `("weights", "Q4_K")`.
    pub types: Vec<(&'static str, String)>,
    pub tile: Option<Tile>,
    /// The number of columns of the product (batch) that this variant is made for.
    pub columns: Option<u32>,
    /// Further named facts, in the order of the name.
    pub parameters: Vec<(String, String)>,
    /// Parts of the name that the grammar does not understand.
    pub unread: Vec<String>,
}

impl Facts {
    pub(super) fn new(library: Library, family: Family, kernel: &str) -> Self {
        Self {
            library,
            family,
            kernel: kernel.to_owned(),
            readable: kernel.to_owned(),
            types: Vec::new(),
            tile: None,
            columns: None,
            parameters: Vec::new(),
            unread: Vec::new(),
        }
    }

    pub fn path(&self) -> Option<Path> {
        self.family.path()
    }

    /// Whether its column count determines the width of an evaluation. Attention's products do not count. For calls,
    /// see [`crate::blas::is_weight_product`].
    pub fn is_weight_product(&self) -> bool {
        self.path().is_some_and(Path::is_product)
    }

    /// Whether the grammar recognised the kernel.
    pub fn is_known(&self) -> bool {
        self.library != Library::Unknown
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn type_of(&self, role: &str) -> Option<&str> {
        self.types.iter().find(|(r, _)| *r == role).map(|(_, name)| name.as_str())
    }

    pub(super) fn put(&mut self, name: &str, value: impl Into<String>) {
        self.parameters.push((name.to_owned(), value.into()));
    }
}

/// Writes all facts on one line, for goldens and tables.
impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.library.key(), self.family, self.readable)?;
        for (role, name) in &self.types {
            write!(f, " {role}={name}")?;
        }
        if let Some(tile) = self.tile {
            write!(f, " tile={tile}")?;
        }
        if let Some(columns) = self.columns {
            write!(f, " columns={columns}")?;
        }
        for (name, value) in &self.parameters {
            write!(f, " {name}={value}")?;
        }
        if !self.unread.is_empty() {
            write!(f, " unread={}", self.unread.join(","))?;
        }
        Ok(())
    }
}
