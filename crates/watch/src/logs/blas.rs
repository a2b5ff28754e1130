//! Lines of rocBLAS (ROCBLAS_LAYER), hipBLASLt (HIPBLASLT_LOG_MASK) and Tensile (TENSILE_DB=0x8000).

use crate::{Call, Kind};

say::named! {
    /// How a library reported a call. A call that is reported in several ways is still one call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Told: name {
        /// `rocblas_gemm_ex,T,N,3584,64,3584,...`
        Trace = "trace",
        /// `./rocblas-bench -f gemm_ex ...`, `hipblaslt-bench ...`
        Bench = "bench",
        /// `- { rocblas_function: "rocblas_gemm_ex", ..., call_count: 4 }`, at the end of the process.
        Profile = "profile",
    }
}

/// The kernel that Tensile chose.
pub fn chosen(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("Running kernel: ").map(str::trim)
}

/// A matrix product requested from a BLAS library, and the number of calls.
pub fn call(line: &str) -> Option<(Told, Kind, u64)> {
    let line = line.trim_start();
    trace(line).or_else(|| lt_trace(line)).or_else(|| bench(line)).or_else(|| profile(line))
}

/// Whether a line is one of hipBLASLt's: `[TIME][HIPBLASLT][PID][Api][FUNCTION] ...`.
pub fn is_hipblaslt(line: &str) -> bool {
    line.starts_with('[') && line.contains("][HIPBLASLT][")
}

/// `[..][HIPBLASLT][..][Trace][rocblaslt_matmul] A=0x.. Adesc=[type=R_16F rows=512 cols=256 ld=512] ...`
fn lt_trace(line: &str) -> Option<(Told, Kind, u64)> {
    let (_, rest) = line.split_once("][Trace][rocblaslt_matmul] ")?;
    let part = |name: &str| rest.split_once(&format!("{name}=["))?.1.split_once(']').map(|(part, _)| part);
    let word = |part: &str, name: &str| {
        part.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    };
    let number = |part: &str, name: &str| word(part, name)?.parse::<i64>().ok();
    let (a, d, how) = (part("Adesc")?, part("Ddesc")?, part("computeDesc")?);
    let k = number(a, if word(how, "transA")? == "OP_N" { "cols" } else { "rows" })?;
    let type_a = match word(a, "type")?.as_str() {
        "R_16F" => data_type("f16_r"),
        "R_32F" => data_type("f32_r"),
        "R_16BF" => data_type("bf16_r"),
        _ => u32::MAX,
    };
    let batch = number(a, "batch_count").or_else(|| number(a, "batch")).unwrap_or(1);
    let call = Call { m: number(d, "rows")?, n: number(d, "cols")?, k, batch, type_a };
    Some((Told::Trace, Kind::call("hipblasLtMatmul", call), 1))
}

/// Static names, so that kinds stay cheap to compare.
fn api(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 12] = [
        "rocblas_gemm_ex",
        "rocblas_gemm_strided_batched_ex",
        "rocblas_gemm_batched_ex",
        "rocblas_sgemm",
        "rocblas_hgemm",
        "rocblas_dgemm",
        "rocblas_sgemm_strided_batched",
        "rocblas_hgemm_strided_batched",
        "rocblas_sgemm_batched",
        "rocblas_hgemm_batched",
        "rocblas_gemm_ex3",
        "hipblasLtMatmul",
    ];
    NAMES.into_iter().find(|known| *known == name)
}

fn data_type(name: &str) -> u32 {
    // rocblas_datatype
    match name {
        "f16_r" => 150,
        "f32_r" => 151,
        "f64_r" => 152,
        "bf16_r" => 168,
        "i8_r" => 160,
        "i32_r" => 162,
        _ => u32::MAX,
    }
}

fn trace(line: &str) -> Option<(Told, Kind, u64)> {
    let mut parts = line.split(',');
    let api = api(parts.next()?)?;
    let rest: Vec<&str> = parts.collect();
    let number = |place: usize| rest.get(place).and_then(|text| text.parse::<i64>().ok());
    let (m, n, k) = (number(2)?, number(3)?, number(4)?);
    let type_a = rest.get(7).map_or(u32::MAX, |text| data_type(text));
    // The batch count follows D's stride, five fields before the end in the extended strided form.
    let batch = if api == "rocblas_gemm_strided_batched_ex" { number(24) } else { None };
    Some((Told::Trace, Kind::call(api, Call { m, n, k, batch: batch.unwrap_or(1), type_a }), 1))
}

fn bench(line: &str) -> Option<(Told, Kind, u64)> {
    let lt = line.starts_with("hipblaslt-bench ");
    if !lt && !line.starts_with("./rocblas-bench ") && !line.starts_with("rocblas-bench ") {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |names: &[&str]| words.windows(2).find(|pair| names.contains(&pair[0])).map(|pair| pair[1]);
    let number = |names: &[&str]| after(names).and_then(|text| text.parse::<i64>().ok());
    let function = after(&["-f"]).unwrap_or("gemm_ex");
    let name = if lt {
        "hipblasLtMatmul".to_owned()
    } else if function.ends_with("_ex") || function.ends_with("_ex3") {
        format!("rocblas_{function}")
    } else {
        let letter = match after(&["-r"]) {
            Some("f16_r" | "h") => "h",
            Some("f64_r" | "d") => "d",
            _ => "s",
        };
        format!("rocblas_{letter}{function}")
    };
    let (m, n, k) = (number(&["-m"])?, number(&["-n"])?, number(&["-k"])?);
    let type_a = after(&["--a_type", "-r"]).map_or(u32::MAX, data_type);
    let batch = number(&["--batch_count"]).unwrap_or(1);
    Some((Told::Bench, Kind::call(api(&name)?, Call { m, n, k, batch, type_a }), 1))
}

fn profile(line: &str) -> Option<(Told, Kind, u64)> {
    let body = line.strip_prefix("- { ")?.trim_end().strip_suffix('}')?;
    let field = |name: &str| {
        let pair = body.split(", ").find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix(": "))?;
        Some(pair.trim().trim_matches(['"', '\'']))
    };
    let number = |name: &str| field(name).and_then(|text| text.parse::<i64>().ok());
    let api = api(field("rocblas_function")?)?;
    let (m, n, k) = (number("M")?, number("N")?, number("K")?);
    let type_a = field("a_type").map_or(u32::MAX, data_type);
    // No process makes more calls than this: beyond it, the file is not a log of one process.
    let count = number("call_count").and_then(|count| u64::try_from(count).ok()).filter(|count| *count <= 1 << 40)?;
    Some((Told::Profile, Kind::call(api, Call { m, n, k, batch: number("batch_count").unwrap_or(1), type_a }), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Debian's libhipblaslt.so.1.1 with HIPBLASLT_LOG_MASK=34, for the same product.
    #[test]
    fn lines_of_hipblaslt() {
        let lines = [
            "[2026-11-15 09:58:51][HIPBLASLT][23797][Trace][rocblaslt_matmul] A=0x7f78ff8b8400 Adesc=[type=R_16F rows=512 cols=256 ld=512] B=0x7f7901b04000 Bdesc=[type=R_16F rows=512 cols=64 ld=512] C=0x7f7902d88000 Cdesc=[type=R_16F rows=256 cols=64 ld=256] D=0x7f7902d88000 Ddesc=[type=R_16F rows=256 cols=64 ld=256] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transA=OP_T transB=OP_N epilogue=EPILOGUE_DEFAULT biasPointer=0x0] workSpace=0x7f78fa800000 workSpaceSizeInBytes=33554432 alpha=1 beta=0 stream=0x7f7902756e60 ",
            "hipblaslt-bench --api_method c -m 256 -n 64 -k 512 --lda 512 --ldb 512 --ldc 256 --ldd 256  --stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0  --alpha 1.000000 --beta 0.000000 --transA T --transB N --batch_count 1 --scaleA 0 --scaleB 0  --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --scale_type f32_r --bias_type f32_r   --compute_type f32_r --algo_method index --solution_index 1068 --activation_type none --any_stride --rotating 0 --cold_iters 0 --iters 0 ",
        ];
        let call = Call { m: 256, n: 64, k: 512, batch: 1, type_a: 150 };
        for line in lines {
            assert_eq!(super::call(line).map(|(_, kind, _)| kind), Some(Kind::call("hipblasLtMatmul", call)), "{line}");
        }
        let other = "[2026-11-15 09:58:51][HIPBLASLT][23797][Api][rocblaslt_create] handle[out]=0x55a4b9b722a0 ";
        assert!(super::call(other).is_none() && is_hipblaslt(other));
    }

    /// From Debian's librocblas.so.4.4 with ROCBLAS_LAYER=15 and TENSILE_DB=0x8000.
    #[test]
    fn one_product_told_in_three_ways_is_the_same_call() {
        let lines = [
            "rocblas_gemm_ex,T,N,512,64,3584,1,0x7f629b2ec000,f16_r,3584,0x7f6386508000,f16_r,3584,0,0x7f638657e000,f16_r,512,0x7f638657e000,f16_r,512,f16_r,0,0,none,atomics_allowed",
            "./rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 512 -n 64 -k 3584 --alpha 1 --a_type f16_r --lda 3584 --b_type f16_r --ldb 3584 --beta 0 --c_type f16_r --ldc 512 --d_type f16_r --ldd 512 --compute_type f16_r --algo 0 --solution_index 0 --flags 0",
            "- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, a_type: \"f16_r\", b_type: \"f16_r\", c_type: \"f16_r\", d_type: \"f16_r\", compute_type: \"f16_r\", transA: 'T', transB: 'N', M: 512, N: 64, K: 3584, alpha: 1.0, lda: 3584, ldb: 3584, beta: 0.0, ldc: 512, ldd: 512, algo: 0, solution_index: 0, flags: none, call_count: 4 }",
        ];
        let read: Vec<_> = lines.iter().map(|line| call(line).expect("a call")).collect();
        let kind = &read[0].1;
        assert_eq!(kind.call, Some(Call { m: 512, n: 64, k: 3584, batch: 1, type_a: 150 }));
        assert!(read.iter().all(|(_, other, _)| other == kind));
        let told: Vec<_> = read.iter().map(|(told, _, count)| (*told, *count)).collect();
        assert_eq!(told, [(Told::Trace, 1), (Told::Bench, 1), (Told::Profile, 4)]);
        for other in
            ["rocblas_create_handle,atomics_allowed", "rocblas_set_stream,0x7f63cafc4ba0,atomics_allowed", "- { }", ""]
        {
            assert_eq!(call(other), None, "{other}");
        }
        assert_eq!(chosen("Running kernel: Cijk_Alik_Bljk_HB_MT32x32x32"), Some("Cijk_Alik_Bljk_HB_MT32x32x32"));
    }
}
