//! The answer of `skeleton`, as data for programs.

use crate::{Error, Gguf, Mix, Shape, Skeleton, absent, known, names};
use answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A written model file without weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Written {
    pub file: String,
    /// The model whose shape the file has: `llama-3.1-8b`.
    pub shape: &'static str,
    pub architecture: &'static str,
    /// A tensor type, or a mix of several: `Q4_K_M`.
    #[serde(rename = "type")]
    pub mix: String,
    pub layers: u32,
    /// Kinds of matrices that only the last layer has. Their products never have the width of a prompt.
    pub absent: Vec<String>,
    /// The number of tensors of each type.
    pub tensors: BTreeMap<String, u64>,
    pub bytes: u64,
    /// The size on disk; the weights are a hole in the file.
    pub bytes_on_disk: u64,
}

impl Answer for Written {
    const SCHEMA: &'static str = "whichkernel.skeleton/1";
}

impl Written {
    pub fn new(
        file: String,
        shape: &Shape,
        (mix, layers): (Mix, u32),
        made: &Skeleton,
        on_disk: u64,
    ) -> Result<Written, Error> {
        let mut tensors: BTreeMap<String, u64> = BTreeMap::new();
        for tensor in Gguf::parse(&made.header)?.tensors {
            *tensors.entry(tensor.kind.name()).or_default() += 1;
        }
        Ok(Written {
            file,
            shape: shape.name,
            architecture: shape.architecture,
            mix: mix.name(),
            layers,
            absent: absent(shape, mix, layers)?,
            tensors,
            bytes: made.file_size,
            bytes_on_disk: on_disk,
        })
    }
}

/// The model shapes and type mixes that `skeleton` can write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shapes {
    pub shapes: Vec<ShapeLine>,
    /// The mixes of tensor types that llama-quantize writes.
    pub mixes: Vec<&'static str>,
}

impl Answer for Shapes {
    const SCHEMA: &'static str = "whichkernel.skeleton-shapes/2";
}

/// A model shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShapeLine {
    pub shape: &'static str,
    pub architecture: &'static str,
    pub layers: u32,
    pub width: u32,
    /// Null for a dense model.
    pub experts: Option<ExpertCount>,
}

/// The number of experts per token, and in total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpertCount {
    pub used: u32,
    pub count: u32,
}

impl Shapes {
    pub fn known() -> Result<Shapes, Error> {
        let line = |name: &'static str| {
            let shape = known(name)?;
            let experts = shape.experts.map(|experts| ExpertCount { used: experts.used, count: experts.count });
            let Shape { name, architecture, layers, width, .. } = shape;
            Ok(ShapeLine { shape: name, architecture, layers, width, experts })
        };
        Ok(Shapes {
            shapes: names().into_iter().map(line).collect::<Result<_, Error>>()?,
            mixes: Mix::names().collect(),
        })
    }
}
