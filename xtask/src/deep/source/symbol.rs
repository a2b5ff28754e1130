//! Parses a launch of a compiled program: the kernel's mangled name, and the grid if the name has no tile.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub cc: i64,
    pub path: &'static str,
    pub variant: i64,
    pub need_check: bool,
    /// The number of tiles over the columns, for kernels whose name does not contain the tile.
    pub blocks: Option<i64>,
}

impl Answer {
    pub fn new(cc: i64, blocks: i64, symbol: &str) -> Answer {
        if symbol.starts_with("BLAS") {
            return Answer { cc, path: "BLAS", variant: 0, need_check: false, blocks: None };
        }
        let symbol = symbol.replace("__device_stub__", "");
        let has = |name: &str| symbol.contains(name);
        let path = match () {
            () if has("dequantize_mul_mat_vec") => "DMMV",
            () if has("mul_mat_vec_q") => "MMVQ",
            () if has("mul_mat_vec_f") => "MMVF",
            () if has("mul_mat_vec") => "MMV",
            () if has("mul_mat_q") => "MMQ",
            () if has("mul_mat_f") => "MMF",
            () => "?",
        };
        // Literal template arguments: Li112E is 112, Lb0E false.
        let literals = |kind: &str| -> Vec<i64> {
            let parts = symbol.split(kind).skip(1);
            parts.filter_map(|part| part.split('E').next()?.parse().ok()).collect()
        };
        let numbers = literals("Li");
        let (variant, blocks) = match (path, numbers.as_slice()) {
            // Until February 2024, the arguments are only block sizes; such a kernel computes one column.
            ("MMVQ", [_, _, _]) if has("block_") => (1, None),
            ("MMVQ" | "MMQ", [first, ..]) => (*first, None),
            ("MMQ", []) => (-1, Some(blocks)),
            ("MMVQ", []) => (-1, None),
            _ => (0, None),
        };
        let need_check = path == "MMQ" && literals("Lb").last() == Some(&1);
        Answer { cc, path, variant, need_check, blocks }
    }
}

/// The only tile width that gives these numbers of blocks for these column counts.
pub fn tile(blocks: &[(i64, i64)]) -> Option<i64> {
    let fits = |tile: &i64| blocks.iter().all(|(columns, blocks)| (columns + tile - 1) / tile == *blocks);
    let mut fitting = (1..=512).filter(fits);
    fitting.next().filter(|_| fitting.next().is_none() && !blocks.is_empty())
}
