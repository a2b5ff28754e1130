//! Interprets ggml's names, constants and push constants of a dispatch: which product, of which type, with how many
//! columns.
//!
//! The names are ggml-vulkan.cpp's own (`ggml_vk_load_shaders`). A name outside this grammar is kept unchanged, and its
//! constants are not interpreted.

use crate::pipeline::Pipeline;
use gguf::{Path, TensorType};

/// A kernel by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    /// None if the kernel does not compute a product of weights.
    pub multiplies: Option<Multiplies>,
}

/// A product of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multiplies {
    /// One of the two paths of the Vulkan backend.
    pub path: Path,
    /// The type of the weights, in upper case; None if neither the name nor a constant contains it.
    pub ggml_type: Option<String>,
    pub columns: Option<u32>,
    /// The number of rows of the weights.
    pub m: Option<u32>,
    /// The length of the dot products.
    pub k: Option<u32>,
    /// Whether a list selects experts.
    pub by_id: bool,
    /// The columns of the layer that the experts serve, if one dispatch handles all of them.
    pub tokens: Option<u32>,
}

/// Indices of fields in ggml's push constants (ggml-vulkan-push-constants.h): `vk_mat_mat_push_constants`,
/// `vk_mat_mat_id_push_constants`, `vk_mat_vec_push_constants`, `vk_mat_vec_id_push_constants`.
mod place {
    pub const MATRIX: [usize; 3] = [0, 1, 2];
    pub const MATRIX_BATCHES: usize = 10;
    pub const MATRIX_ID_TOKENS: usize = 10;
    pub const VECTOR_K: usize = 0;
    pub const VECTOR_M: usize = 3;
    pub const VECTOR_BATCH_D: usize = 6;
    pub const VECTOR_BATCHES: usize = 10;
}

impl Kernel {
    /// `push`: the push constants at the dispatch.
    pub fn of(pipeline: &Pipeline, push: &[u8]) -> Kernel {
        let name = pipeline.name.clone().unwrap_or_default();
        let multiplies = vector(&name, pipeline, push).or_else(|| matrix(&name, pipeline, push));
        Kernel { name, multiplies }
    }
}

/// `mul_mat_vec_q4_k_f32_f32`: the constants are the block size, rows and columns.
fn vector(name: &str, pipeline: &Pipeline, push: &[u8]) -> Option<Multiplies> {
    let rest = name.strip_prefix("mul_mat_vec_")?;
    let (by_id, rest) = rest.strip_prefix("id_").map_or((false, rest), |rest| (true, rest));
    // Attention's own products with the cache do not involve weights.
    if rest.starts_with("p021") || rest.starts_with("nc_") || is_batched(push, place::VECTOR_BATCHES, by_id) {
        return None;
    }
    // If the creation of a pipeline was not observed, its constant is unknown; the batch stride is rows times columns.
    let told = if pipeline.unseen { vector_columns(push) } else { pipeline.constants.get(&2).copied() };
    let columns = told.filter(|_| !by_id);
    let (m, k) = (field(push, place::VECTOR_M), field(push, place::VECTOR_K));
    Some(Multiplies { path: Path::MulMatVec, ggml_type: named(rest), columns, m, k, by_id, tokens: None })
}

/// The columns of a vector product, if its push constants have a known layout.
fn vector_columns(push: &[u8]) -> Option<u32> {
    const MOST: u32 = 8;
    let (rows, batch) = (field(push, place::VECTOR_M)?, field(push, place::VECTOR_BATCH_D)?);
    let columns = batch.checked_div(rows)?;
    (columns.checked_mul(rows) == Some(batch) && (1..=MOST).contains(&columns)).then_some(columns)
}

/// `matmul_q4_k_q8_1_1`: the push constants are M, N, K.
fn matrix(name: &str, pipeline: &Pipeline, push: &[u8]) -> Option<Multiplies> {
    let rest = name.strip_prefix("matmul_")?;
    let (by_id, rest) = rest
        .strip_prefix("id_subgroup_")
        .or_else(|| rest.strip_prefix("id_"))
        .map_or((false, rest), |rest| (true, rest));
    if is_batched(push, place::MATRIX_BATCHES, by_id) {
        return None;
    }
    let ggml_type = match rest.strip_prefix("quant_") {
        Some(_) => {
            // The last constant is the type's number in ggml.h.
            let last = pipeline.constants.values().next_back().map(|number| TensorType(*number));
            last.filter(|kind| kind.block().is_some()).map(TensorType::name)
        }
        None => named(rest),
    };
    let [m, columns, k] = place::MATRIX.map(|place| field(push, place));
    let tokens = if by_id { field(push, place::MATRIX_ID_TOKENS) } else { None };
    Some(Multiplies { path: Path::Matmul, ggml_type, columns: columns.filter(|_| !by_id), m, k, by_id, tokens })
}

/// Whether a product is batched: attention heads form a batch, weights do not.
fn is_batched(push: &[u8], place: usize, by_id: bool) -> bool {
    !by_id && field(push, place).is_some_and(|batches| batches > 1)
}

/// A push constant of four bytes.
fn field(push: &[u8], place: usize) -> Option<u32> {
    push.get(place * 4..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// The longest type name at the start of the rest of a name.
fn named(rest: &str) -> Option<String> {
    let fits = |name: &str| {
        let tail = rest.strip_prefix(name)?;
        (tail.is_empty() || tail.starts_with('_')).then_some(name.len())
    };
    let names = TensorType::weights().map(TensorType::name);
    names.filter_map(|name| Some((fits(&name.to_ascii_lowercase())?, name))).max().map(|(_, name)| name)
}
