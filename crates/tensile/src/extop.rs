//! `hipblasltExtOpLibrary.dat`: `{gfx: {operation: {type: [{func_name, co_path, ...}]}}}`.

use codeobject::{Result, msgpack::Reader};

/// One kernel of an extra operation (AMax, LayerNorm, Softmax).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtOp {
    pub target: String,
    pub operation: String,
    pub kernel: String,
    pub object: String,
}

pub fn parse(data: &[u8]) -> Result<Vec<ExtOp>> {
    let mut reader = Reader::new(data, 0);
    let mut out = Vec::new();
    for _ in 0..reader.expect_map("ext-op library")? {
        let target = reader.expect_str("target")?.to_owned();
        for _ in 0..reader.expect_map("operations")? {
            let operation = reader.expect_str("operation")?.to_owned();
            for _ in 0..reader.expect_map("types")? {
                reader.skip("type")?;
                for _ in 0..reader.expect_array("kernels")? {
                    let mut one = ExtOp { target: target.clone(), operation: operation.clone(), ..ExtOp::default() };
                    for _ in 0..reader.expect_map("kernel")? {
                        match reader.expect_str("kernel key")? {
                            "func_name" => one.kernel = reader.expect_str("func_name")?.to_owned(),
                            "co_path" => one.object = reader.expect_str("co_path")?.to_owned(),
                            _ => reader.skip("kernel field")?,
                        }
                    }
                    out.push(one);
                }
            }
        }
    }
    Ok(out)
}
