//! The products of a model: its weight matrices with a number of tokens.

use super::product::{Ask, Product};
use crate::asked::gguf_header;
use say::{Context as _, bail, error};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows and columns of a weight matrix, and the names of the matrices with this shape.
type Shapes = BTreeMap<(u64, u64), Vec<String>>;

/// Every distinct product: the transposed weights, as PyTorch and llama.cpp call BLAS, with each number of tokens.
pub fn products_of(path: &Path, tokens: &[u64], ask: &Ask) -> say::Result<Vec<Product>> {
    let config = path.extension().is_some_and(|end| end == "json");
    let shapes = if config { of_config(path)? } else { of_gguf(path)? };
    if shapes.is_empty() {
        bail!("command-gemm-no-matrices", file = path.display().to_string());
    }
    let mut out = Vec::new();
    for ((rows, columns), names) in shapes {
        for count in tokens {
            let mut product = ask.product([rows, *count, columns])?;
            if ask.trans.is_none() {
                product.call.trans_a = true;
                product.call.ld = product.call.packed();
            }
            product.id = format!("{} @{count}", shortened(&names));
            out.push(product);
        }
    }
    Ok(out)
}

fn shortened(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    }
}

/// Matrices with two dimensions; those of experts have a third. `token_embd` is looked up and not multiplied, unless
/// the output has no matrix of its own.
fn of_gguf(path: &Path) -> say::Result<Shapes> {
    let model = gguf_header::read(path)?;
    let tied = !model.tensors.iter().any(|tensor| tensor.name == "output.weight");
    let mut out = Shapes::new();
    for tensor in &model.tensors {
        let multiplied = tensor.name.ends_with(".weight") && (tensor.name != "token_embd.weight" || tied);
        if let ([columns, rows] | [columns, rows, _], true) = (tensor.dims.as_slice(), multiplied)
            && *rows > 1
            && *columns > 1
        {
            out.entry((*rows, *columns)).or_default().push(tensor.name.clone());
        }
    }
    Ok(out)
}

/// Architectures whose matrices can be derived from the sizes alone.
const KNOWN: [&str; 8] = ["llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3"];

fn of_config(path: &Path) -> say::Result<Shapes> {
    let shown = path.display().to_string();
    let text = sys::regular_file::text(path, 1 << 20).about(&shown)?;
    let config: Value = serde_json::from_str(&text).map_err(|_| error!("command-gemm-config", file = shown.clone()))?;
    let kind = config["model_type"].as_str().unwrap_or_default();
    if !KNOWN.contains(&kind) {
        bail!("command-gemm-architecture", file = shown, kind, known = KNOWN);
    }
    let field = |name: &str| config[name].as_u64().filter(|value| (1..1 << 32).contains(value));
    let needed =
        |name: &'static str| field(name).ok_or_else(|| error!("command-gemm-field", file = shown.clone(), name));
    let (hidden, inner, heads) = (needed("hidden_size")?, needed("intermediate_size")?, needed("num_attention_heads")?);
    let pairs = field("num_key_value_heads").unwrap_or(heads);
    let head = field("head_dim").unwrap_or(hidden / heads);
    let vocabulary = needed("vocab_size")?;
    let mut out = Shapes::new();
    let mut matrix =
        |rows: u64, columns: u64, name: &str| out.entry((rows, columns)).or_default().push(name.to_owned());
    if kind == "phi3" {
        matrix((heads + 2 * pairs) * head, hidden, "qkv_proj");
        matrix(2 * inner, hidden, "gate_up_proj");
    } else {
        matrix(heads * head, hidden, "q_proj");
        matrix(pairs * head, hidden, "k_proj");
        matrix(pairs * head, hidden, "v_proj");
        matrix(inner, hidden, "gate_proj");
        matrix(inner, hidden, "up_proj");
    }
    matrix(hidden, heads * head, "o_proj");
    matrix(hidden, inner, "down_proj");
    matrix(vocabulary, hidden, "lm_head");
    Ok(out)
}
