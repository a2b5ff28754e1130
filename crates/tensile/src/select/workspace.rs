//! Bytes of workspace that a solution needs for a product: requiredWorkspaceSize.

use super::{
    call::Library,
    candidate::SizeMapping,
    problem::{BATCH, Hardware, K, M, N, Problem},
};

/// None if the size cannot be computed (Stream-K, or impossible sizes).
pub fn required(problem: &Problem, hardware: &Hardware, solution: &SizeMapping) -> Option<u64> {
    if solution.stream_k != 0 {
        return None;
    }
    match problem.library {
        Library::RocBlas => elements(problem)?.checked_mul(solution.workspace_per_c),
        Library::HipBlasLt => hipblaslt(problem, hardware, solution),
    }
}

fn elements(problem: &Problem) -> Option<u64> {
    problem.size(M).checked_mul(problem.size(N))?.checked_mul(problem.size(BATCH))
}

/// A split needs room for whole tiles. A gradient of the bias needs more.
fn hipblaslt(problem: &Problem, hardware: &Hardware, solution: &SizeMapping) -> Option<u64> {
    let split = match solution.global_split_u {
        -1 => automatic_split(problem, hardware, solution)?,
        split => u64::try_from(split).ok()?,
    };
    let mut bytes = 0;
    if split > 1 {
        let [m, n] = tiles(problem, solution)?;
        let tile = solution.macro_tile[0] * solution.macro_tile[1] * solution.workspace_per_c;
        let count = m.checked_mul(n)?.checked_mul(split)?.checked_mul(problem.size(BATCH))?;
        bytes = count.checked_mul(tile)?;
    }
    if problem.gradient && problem.bias.is_some() {
        let per_split = solution.workspace_per_bias * if split > 1 { split } else { 0 };
        let more = match problem.bias_source {
            0 => problem.size(M).checked_mul(per_split)?,
            1 => problem.size(N).checked_mul(per_split)?,
            _ if split <= 1 => elements(problem)?.checked_mul(problem.compute.bytes())?.checked_mul(split)?,
            _ => 0,
        };
        bytes = bytes.checked_add(more)?;
    }
    Some(bytes)
}

/// Tiles along M and N; a packed batch counts as rows or columns.
fn tiles(problem: &Problem, solution: &SizeMapping) -> Option<[u64; 2]> {
    let mut sizes = [problem.size(M), problem.size(N)];
    for (bit, size) in sizes.iter_mut().enumerate() {
        if solution.pack_batch_dims & (1 << bit) != 0 {
            *size = size.checked_mul(problem.size(BATCH))?;
        }
    }
    let [m, n] = solution.macro_tile;
    (m > 0 && n > 0).then(|| [sizes[0].div_ceil(m), sizes[1].div_ceil(n)])
}

/// calculateAutoGSU as in a process that has not used the solution yet; the library caches its first result.
fn automatic_split(problem: &Problem, hardware: &Hardware, solution: &SizeMapping) -> Option<u64> {
    let [m, n] = tiles(problem, solution)?;
    let mut groups = m.checked_mul(n)?;
    if solution.pack_batch_dims == 0 {
        groups = groups.checked_mul(problem.size(BATCH))?;
    }
    let depth = solution.depth_u.max(1);
    let by_groups = hardware.compute_units.checked_div(groups)?.max(1);
    let by_depth = ((problem.size(K) as f32 / depth as f32 / 2.0).ceil() as u64).max(1);
    let mut split = by_depth.min(by_groups);
    if split > 1 {
        const MOST: u64 = 128 << 20;
        let each = solution.workspace_per_c.checked_mul(elements(problem)?)?;
        split = split.min(MOST.checked_div(each)?).min(problem.workspace.checked_div(each)?);
    }
    if split > 1 {
        split = split.min(problem.size(K) / depth);
    }
    Some(split.max(1))
}
