//! Formats BLAS calls for display and for `rocblas-bench`.

use crate::record::{Blas, blas};
use std::fmt::Write;

/// The name of a data type in rocblas-bench, from hipDataType or the older hipblasDatatype_t.
pub fn data_type(value: u32) -> &'static str {
    match value {
        0 | 151 => "f32_r",
        1 | 152 => "f64_r",
        2 | 150 => "f16_r",
        3 | 160 => "i8_r",
        10 | 162 => "i32_r",
        14 | 168 => "bf16_r",
        4 => "f32_c",
        5 => "f64_c",
        28 => "f8_e4m3_r",
        29 => "f8_e5m2_r",
        _ => "?",
    }
}

/// The compute type, from hipblasComputeType_t, or from a data type in the older interface.
pub fn compute_type(value: u32) -> &'static str {
    match value {
        0 | 1 | 150 | 64 | 65 => "f16_r",
        2..=6 | 151 | 68 | 69 | 78 => "f32_r",
        74 => "f32_r (f16)",
        75 => "f32_r (bf16)",
        77 => "f32_r (tf32)",
        7 | 8 | 152 | 70 | 71 | 79 => "f64_r",
        9 | 10 | 162 | 72 | 73 => "i32_r",
        _ => "?",
    }
}

/// The tensor type of a matrix operand, by ggml's name.
pub fn tensor_type(value: u32) -> &'static str {
    match data_type(value) {
        "f32_r" => "F32",
        "f16_r" => "F16",
        "bf16_r" => "BF16",
        "f64_r" => "F64",
        "i8_r" => "I8",
        _ => "?",
    }
}

fn transposed(operation: u32) -> char {
    match operation {
        112 => 'T',
        113 => 'C',
        _ => 'N',
    }
}

/// Whether a call's column count determines the width of an evaluation. Attention's products come as a batch and do not
/// count.
pub fn is_weight_product(batch: i64) -> bool {
    batch <= 1
}

/// A command line with which rocblas-bench replays the call: m, n, k, types and strides as passed.
pub fn bench_line(call: &Blas) -> String {
    if blas::is_cuda(call.call) {
        return cublas_line(call);
    }
    let function = match call.call {
        blas::SGEMM | blas::HGEMM | blas::DGEMM | blas::ROCBLAS_SGEMM | blas::ROCBLAS_HGEMM | blas::ROCBLAS_DGEMM => {
            "gemm"
        }
        blas::SGEMM_BATCHED => "gemm_batched",
        blas::SGEMM_STRIDED_BATCHED => "gemm_strided_batched",
        blas::GEMM_EX | blas::ROCBLAS_GEMM_EX | blas::LT_MATMUL => "gemm_ex",
        blas::GEMM_BATCHED_EX | blas::ROCBLAS_GEMM_BATCHED_EX => "gemm_batched_ex",
        blas::GEMM_STRIDED_BATCHED_EX | blas::ROCBLAS_GEMM_STRIDED_BATCHED_EX => "gemm_strided_batched_ex",
        blas::STRSM_BATCHED => "trsm_batched",
        _ => "?",
    };
    let (alpha, beta) = (f64::from_bits(call.alpha), f64::from_bits(call.beta));
    let mut line = format!("rocblas-bench -f {function}");
    let extended = function.ends_with("_ex");
    if !extended {
        let _ = write!(line, " -r {}", data_type(call.type_a));
    }
    let _ = write!(line, " --transposeA {} --transposeB {}", transposed(call.trans_a), transposed(call.trans_b));
    let _ = write!(line, " -m {} -n {} -k {} --alpha {alpha}", call.m, call.n, call.k);
    let mut matrix = |name: char, kind: u32, leading: i64, stride: i64| {
        if extended {
            let _ = write!(line, " --{name}_type {}", data_type(kind));
        }
        let _ = write!(line, " --ld{name} {leading}");
        if function.contains("strided") {
            let _ = write!(line, " --stride_{name} {stride}");
        }
    };
    matrix('a', call.type_a, call.lda, call.stride_a);
    matrix('b', call.type_b, call.ldb, call.stride_b);
    matrix('c', call.type_c, call.ldc, call.stride_c);
    if extended {
        matrix('d', call.type_c, call.ldc, call.stride_c);
    }
    let _ = write!(line, " --beta {beta}");
    if function.contains("batched") {
        let _ = write!(line, " --batch_count {}", call.batch);
    }
    if extended {
        let _ = write!(line, " --compute_type {} --algo 0 --solution_index 0 --flags 0", compute_type(call.compute));
    }
    line
}

/// A call of cuBLAS or cuBLASLt with its shape and types.
fn cublas_line(call: &Blas) -> String {
    let mut line = format!("{} {}{}", blas::name(call.call), transposed(call.trans_a), transposed(call.trans_b));
    let _ = write!(line, " m={} n={} k={} lda={} ldb={} ldc={}", call.m, call.n, call.k, call.lda, call.ldb, call.ldc);
    if call.batch > 1 {
        let _ = write!(line, " batch={} strides={},{},{}", call.batch, call.stride_a, call.stride_b, call.stride_c);
    }
    let [a, b, c] = [call.type_a, call.type_b, call.type_c].map(data_type);
    let _ = write!(line, " {a} {b} {c} compute {}", compute_type(call.compute));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_gemm_reads_as_the_bench_takes_it() {
        let call = Blas {
            time_ns: 0,
            stream: 0,
            graph: 0,
            call: blas::GEMM_EX,
            trans_a: 112,
            trans_b: 111,
            m: 3584,
            n: 290,
            k: 18944,
            lda: 18944,
            ldb: 18944,
            ldc: 3584,
            stride_a: 0,
            stride_b: 0,
            stride_c: 0,
            batch: 1,
            type_a: 2,
            type_b: 2,
            type_c: 2,
            compute: 0,
            alpha: 1f64.to_bits(),
            beta: 0f64.to_bits(),
            bracket: 0,
            status: 0,
            lane: 0,
            solution: -1,
            device: 0,
            reserved: 0,
        };
        assert_eq!(
            bench_line(&call),
            "rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 3584 -n 290 -k 18944 --alpha 1 --a_type f16_r \
             --lda 18944 --b_type f16_r --ldb 18944 --c_type f16_r --ldc 3584 --d_type f16_r --ldd 3584 --beta 0 \
             --compute_type f16_r --algo 0 --solution_index 0 --flags 0"
        );
    }
}
