//! One call of the library's API.

use super::data_type::DataType;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Library {
    HipBlasLt,
    RocBlas,
}

impl Library {
    pub fn name(self) -> &'static str {
        match self {
            Library::HipBlasLt => "hipblaslt",
            Library::RocBlas => "rocblas",
        }
    }
}

/// The precision of the computation, by the API's compute type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compute {
    F16,
    F32,
    /// f32 in the xf32 (tf32-like) mode of the matrix instructions.
    Xf32,
    F32FastF16,
    F32FastBf16,
    F64,
    I32,
}

const COMPUTES: &[(Compute, &str)] = &[
    (Compute::F16, "f16"),
    (Compute::F32, "f32"),
    (Compute::Xf32, "xf32"),
    (Compute::F32FastF16, "f32_fast_f16"),
    (Compute::F32FastBf16, "f32_fast_bf16"),
    (Compute::F64, "f64"),
    (Compute::I32, "i32"),
];

impl Compute {
    pub fn from_user(name: &str) -> Option<Compute> {
        COMPUTES.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    pub fn name(self) -> &'static str {
        COMPUTES.iter().find(|entry| entry.0 == self).map_or("?", |entry| entry.1)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        COMPUTES.iter().map(|entry| entry.1)
    }

    /// The usual type of alpha and beta for this compute type. hipBLASLt does not accept f16 for alpha and beta.
    pub fn usual_scale(self) -> DataType {
        match self {
            Compute::F64 => DataType::Double,
            Compute::I32 => DataType::Int32,
            _ => DataType::Float,
        }
    }

    /// The accumulator that a product of these inputs usually has.
    pub fn usual(input: DataType) -> Compute {
        match input {
            DataType::Double => Compute::F64,
            DataType::Int8 => Compute::I32,
            _ => Compute::F32,
        }
    }
}

/// The operation on the product before it is stored (hipBLASLt only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Epilogue {
    #[default]
    None,
    Relu,
    Bias,
    ReluBias,
    Gelu,
    GeluBias,
    GeluAux,
    GeluAuxBias,
    DGelu,
    DGeluBGrad,
    BGradA,
    BGradB,
    Swish,
    SwishBias,
}

/// The name and hipBLASLt's own number (hipblaslt.h, hipblasLtEpilogue_t).
const EPILOGUES: &[(Epilogue, &str, u32)] = &[
    (Epilogue::None, "none", 1),
    (Epilogue::Relu, "relu", 2),
    (Epilogue::Bias, "bias", 4),
    (Epilogue::ReluBias, "relu_bias", 6),
    (Epilogue::Gelu, "gelu", 32),
    (Epilogue::GeluBias, "gelu_bias", 36),
    (Epilogue::GeluAux, "gelu_aux", 160),
    (Epilogue::GeluAuxBias, "gelu_aux_bias", 164),
    (Epilogue::DGelu, "dgelu", 192),
    (Epilogue::DGeluBGrad, "dgelu_bgrad", 208),
    (Epilogue::BGradA, "bgrada", 256),
    (Epilogue::BGradB, "bgradb", 512),
    (Epilogue::Swish, "swish", 65536),
    (Epilogue::SwishBias, "swish_bias", 65540),
];

impl Epilogue {
    pub fn from_user(name: &str) -> Option<Epilogue> {
        let plain = name.strip_suffix("_ext").unwrap_or(name);
        if plain == "default" {
            return Some(Epilogue::None);
        }
        EPILOGUES.iter().find(|entry| entry.1 == plain).map(|entry| entry.0)
    }

    pub fn name(self) -> &'static str {
        EPILOGUES.iter().find(|entry| entry.0 == self).map_or("?", |entry| entry.1)
    }

    pub fn number(self) -> u32 {
        EPILOGUES.iter().find(|entry| entry.0 == self).map_or(1, |entry| entry.2)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        EPILOGUES.iter().map(|entry| entry.1)
    }

    pub(crate) fn has_bias(self) -> bool {
        use Epilogue as E;
        matches!(
            self,
            E::Bias | E::GeluBias | E::ReluBias | E::GeluAuxBias | E::DGeluBGrad | E::BGradA | E::BGradB | E::SwishBias
        )
    }

    pub(crate) fn has_aux(self) -> bool {
        use Epilogue as E;
        matches!(self, E::DGelu | E::DGeluBGrad | E::GeluAux | E::GeluAuxBias)
    }

    pub(crate) fn is_gradient(self) -> bool {
        use Epilogue as E;
        matches!(self, E::DGelu | E::DGeluBGrad | E::BGradA | E::BGradB)
    }

    /// The activation as spelled in the catalogs; None without an activation.
    pub(crate) fn activation(self) -> Option<&'static str> {
        use Epilogue as E;
        match self {
            E::Relu | E::ReluBias => Some("Relu"),
            E::Gelu | E::GeluBias | E::GeluAux | E::GeluAuxBias => Some("Gelu"),
            E::DGelu | E::DGeluBGrad => Some("Dgelu"),
            E::Swish | E::SwishBias => Some("Silu"),
            E::None | E::Bias | E::BGradA | E::BGradB => None,
        }
    }
}

/// How the matrices of a batch are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Batches {
    /// The matrices are at equal distances.
    #[default]
    Strided,
    /// The matrices are given as arrays of pointers (rocblas_gemm_batched_ex).
    Pointers,
    /// Products of different sizes in one call (hipblaslt_ext::GroupedGemm).
    Grouped,
}

/// Scales of A and B that a hipBLASLt call passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scales {
    #[default]
    None,
    Scalar,
    Vector,
}

/// The values of beta that the libraries distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Beta {
    #[default]
    Zero,
    One,
    MinusOne,
    Other,
}

impl Beta {
    pub fn of(value: f64) -> Beta {
        match value {
            0.0 => Beta::Zero,
            1.0 => Beta::One,
            -1.0 => Beta::MinusOne,
            _ => Beta::Other,
        }
    }
}

impl Batches {
    pub fn from_user(name: &str) -> Option<Batches> {
        match name {
            "strided" => Some(Batches::Strided),
            "pointers" => Some(Batches::Pointers),
            "grouped" => Some(Batches::Grouped),
            _ => None,
        }
    }
}

impl Scales {
    pub fn from_user(name: &str) -> Option<Scales> {
        match name {
            "none" => Some(Scales::None),
            "scalar" => Some(Scales::Scalar),
            "vector" => Some(Scales::Vector),
            _ => None,
        }
    }
}

/// One product D = alpha * op(A) * op(B) + beta * C, column major as in BLAS.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    pub m: u64,
    pub n: u64,
    pub k: u64,
    pub batch: u64,
    pub trans_a: bool,
    pub trans_b: bool,
    /// A, B, C, D.
    pub types: [DataType; 4],
    pub compute: Compute,
    /// The type of alpha and beta (hipBLASLt only).
    pub scale: DataType,
    pub epilogue: Epilogue,
    /// None for the library's default.
    pub bias_type: Option<DataType>,
    /// Leading dimensions of A, B, C, D.
    pub ld: [u64; 4],
    /// Bytes of workspace that the caller allows. rocBLAS uses its handle's workspace instead.
    pub workspace: Option<u64>,
    /// How many algorithms the caller asks for (hipBLASLt only).
    pub requested: u32,
    pub batches: Batches,
    /// Elements between the matrices of a batch, of A, B, C and D; None if the matrices follow each other directly.
    pub strides: Option<[u64; 4]>,
    /// rocBLAS only: hipBLASLt's heuristic does not get it and assumes 1.
    pub beta: Beta,
    /// The scales of A and B (hipBLASLt only).
    pub scales: Scales,
    /// C or D have a scale (hipBLASLt only).
    pub scales_output: bool,
    /// rocBLAS only: whether atomics are forbidden. None: as the release has it by default.
    pub deterministic: Option<bool>,
}

/// The assumed workspace of a hipBLASLt caller that does not state one: the size of rocBLAS' default.
pub const USUAL_WORKSPACE: u64 = 32 << 20;

impl Call {
    /// A plain product: packed matrices, the usual accumulator, one algorithm.
    pub fn plain(m: u64, n: u64, k: u64, input: DataType) -> Call {
        let output = if input == DataType::Int8 { DataType::Int32 } else { input };
        let mut call = Call {
            m,
            n,
            k,
            batch: 1,
            trans_a: false,
            trans_b: false,
            types: [input, input, output, output],
            compute: Compute::usual(input),
            scale: Compute::usual(input).usual_scale(),
            epilogue: Epilogue::None,
            bias_type: None,
            ld: [0; 4],
            workspace: None,
            requested: 1,
            batches: Batches::Strided,
            strides: None,
            beta: Beta::Zero,
            scales: Scales::None,
            scales_output: false,
            deterministic: None,
        };
        call.ld = call.packed();
        call
    }

    /// Whether D can be the same matrix as C: rocBLAS refuses one matrix with two leading dimensions or strides.
    pub fn is_in_place(&self) -> bool {
        let apart = self.strides.is_none_or(|[_, _, c, d]| c == d);
        self.ld[2] == self.ld[3] && (apart || self.batch <= 1 || self.batches == Batches::Pointers)
    }

    /// Elements between the matrices of a batch that directly follow each other.
    pub fn packed_strides(&self) -> [u64; 4] {
        let a = if self.trans_a { self.m } else { self.k };
        let b = if self.trans_b { self.k } else { self.n };
        let [lda, ldb, ldc, ldd] = self.ld;
        [lda.wrapping_mul(a), ldb.wrapping_mul(b), ldc.wrapping_mul(self.n), ldd.wrapping_mul(self.n)]
    }

    /// The smallest leading dimensions that the shape allows.
    pub fn packed(&self) -> [u64; 4] {
        let a = if self.trans_a { self.k } else { self.m };
        let b = if self.trans_b { self.n } else { self.k };
        [a, b, self.m, self.m].map(|ld| ld.max(1))
    }
}
