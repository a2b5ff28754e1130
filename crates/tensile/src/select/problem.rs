//! The problem that the BLAS library passes to the kernel library: ConstructTensileProblem of rocBLAS and hipBLASLt.

use super::{
    call::{Batches, Beta, Call, Compute, Epilogue, Library, Scales},
    data_type::DataType,
};

/// The properties of the GPU that catalogs test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    pub processor: String,
    /// HIP's multiProcessorCount: compute units, or work-group processors from gfx10 on.
    pub compute_units: u64,
    pub is_apu: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub library: Library,
    /// M, N, batch, K: the order of `size(index)`.
    pub sizes: [u64; 4],
    pub trans_a: bool,
    pub trans_b: bool,
    pub types: [DataType; 4],
    /// Inputs of the matrix instructions.
    pub compute_input: DataType,
    pub compute: DataType,
    /// Strides of A, B, C, D: element, leading dimension, matrix.
    pub strides: [[u64; 3]; 4],
    pub high_precision: bool,
    pub xdl_math: DataType,
    pub beta: Beta,
    /// Whether C and D are the same matrix.
    pub in_place: bool,
    pub deterministic: bool,
    pub workspace: u64,
    pub activation: Option<&'static str>,
    pub gradient: bool,
    pub bias: Option<DataType>,
    /// The matrix whose gradient the bias is: 0 A, 1 B, 3 D.
    pub bias_source: i64,
    pub aux: Option<DataType>,
    pub scales: Scales,
    pub scales_output: bool,
    /// The matrices of a batch are at equal distances.
    pub strided: bool,
}

pub const M: usize = 0;
pub const N: usize = 1;
pub const BATCH: usize = 2;
pub const K: usize = 3;

impl Problem {
    /// hipblasLtMatmulAlgoGetHeuristic sets alpha and beta to 1 and treats C and D as the same matrix (both null).
    pub fn for_hipblaslt(call: &Call) -> Problem {
        let mut out = Problem::new(call, Library::HipBlasLt);
        out.compute_input = compute_input(call);
        out.beta = Beta::One;
        out.workspace = call.workspace.unwrap_or(super::call::USUAL_WORKSPACE);
        out.xdl_math = if call.compute == Compute::Xf32 { DataType::XFloat32 } else { DataType::Float };
        out.activation = call.epilogue.activation();
        out.gradient = call.epilogue.is_gradient();
        out.bias = call.epilogue.has_bias().then(|| call.bias_type.unwrap_or_else(|| default_bias(call)));
        out.bias_source = match call.epilogue {
            Epilogue::BGradA => 0,
            Epilogue::BGradB => 1,
            _ => 3,
        };
        out.aux = call.epilogue.has_aux().then_some(call.types[3]);
        out.scales = call.scales;
        out.scales_output = call.scales_output;
        out
    }

    /// A call with beta 0 and C in place of D, as ggml and PyTorch make it. rocBLAS rejects one matrix with two leading
    /// dimensions, so D is a separate matrix if they differ.
    pub fn for_rocblas(call: &Call, deterministic: bool, workspace: u64) -> Problem {
        let mut out = Problem::new(call, Library::RocBlas);
        out.beta = call.beta;
        out.in_place = call.is_in_place();
        out.deterministic = call.deterministic.unwrap_or(deterministic);
        // Rounded down to HPA_GSU_WORKSPACE_SIZE_GRANULARITY.
        out.workspace = workspace / 256 * 256;
        out
    }

    fn new(call: &Call, library: Library) -> Problem {
        let compute = match call.compute {
            Compute::F64 => DataType::Double,
            Compute::I32 => DataType::Int32,
            // hipBLASLt computes in f32 if the caller requests f16.
            Compute::F16 if library == Library::RocBlas => DataType::Half,
            _ => DataType::Float,
        };
        let wider = |input: DataType| compute.bytes() > input.bytes();
        let high_precision = wider(call.types[0]) || (library == Library::RocBlas && wider(call.types[1]));
        let apart = match call.batches {
            Batches::Pointers => [0; 4],
            _ => call.strides.unwrap_or_else(|| call.packed_strides()),
        };
        let strides = std::array::from_fn(|matrix| [1, call.ld[matrix], apart[matrix]]);
        Problem {
            library,
            sizes: [call.m, call.n, call.batch, call.k],
            trans_a: call.trans_a,
            trans_b: call.trans_b,
            types: call.types,
            compute_input: call.types[0],
            compute,
            strides,
            high_precision,
            xdl_math: DataType::Float,
            beta: Beta::Zero,
            in_place: true,
            deterministic: false,
            workspace: 0,
            activation: None,
            gradient: false,
            bias: None,
            bias_source: 3,
            aux: None,
            scales: Scales::None,
            scales_output: false,
            strided: call.batches == Batches::Strided,
        }
    }

    /// The key of a ProblemMap.
    pub fn operation(&self) -> &'static str {
        match (self.trans_a, self.trans_b) {
            (false, false) => "Contraction_l_Ailk_Bljk_Cijk_Dijk",
            (false, true) => "Contraction_l_Ailk_Bjlk_Cijk_Dijk",
            (true, false) => "Contraction_l_Alik_Bljk_Cijk_Dijk",
            (true, true) => "Contraction_l_Alik_Bjlk_Cijk_Dijk",
        }
    }

    pub fn size(&self, index: usize) -> u64 {
        self.sizes[index.min(3)]
    }
}

/// roc2TensileComputeInputType.
fn compute_input(call: &Call) -> DataType {
    let [a, b, ..] = call.types;
    match (call.compute, a, b) {
        (Compute::F32FastF16, ..) => DataType::Half,
        (Compute::F32FastBf16, ..) => DataType::BFloat16,
        (_, DataType::Float8, DataType::BFloat8) => DataType::Float8BFloat8,
        (_, DataType::BFloat8, DataType::Float8) => DataType::BFloat8Float8,
        (_, DataType::Float8Fnuz, DataType::BFloat8Fnuz) => DataType::Float8BFloat8Fnuz,
        (_, DataType::BFloat8Fnuz, DataType::Float8Fnuz) => DataType::BFloat8Float8Fnuz,
        _ if a.bytes() <= b.bytes() => a,
        _ => b,
    }
}

/// The type of the bias if the caller states none.
fn default_bias(call: &Call) -> DataType {
    let [a, b, _, d] = call.types;
    let float8 = (a.is_float8() && b.is_float8()) || (a.is_float8_fnuz() && b.is_float8_fnuz());
    match call.compute {
        Compute::I32 => DataType::Int32,
        Compute::Xf32 => DataType::Float,
        _ if float8 && matches!(d, DataType::Float | DataType::BFloat16) => DataType::BFloat16,
        _ if float8 => DataType::Half,
        _ => d,
    }
}
