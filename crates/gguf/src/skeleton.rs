//! Skeleton models: all dimensions and metadata that the loader needs, but no weights.
//!
//! The data is a hole in a sparse file and reads as zeros. The host code that chooses kernels reads only types and
//! dimensions, so a few layers give the same answer as all of them, provided that they contain every kind of matrix
//! ([`absent`]).

use crate::letters;
use crate::metadata::{Vocabulary, metadata};
use crate::write::Writer;
use crate::{Error, Mix, Shape, TensorType};
use std::collections::BTreeSet;

const ALIGNMENT: u64 = 32;

/// A header to write and the length to extend the file to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    pub header: Vec<u8>,
    pub file_size: u64,
}

/// A model of this shape with `layers` layers and every weight matrix in `kind`. The token embedding stays on the CPU
/// and is F16.
///
/// With `words`, the model has a full vocabulary, which a server needs to tokenise text. Without it, the model has only
/// numbered tokens, which is enough for a benchmark and loads faster.
pub fn skeleton(shape: &Shape, kind: TensorType, layers: u32, words: bool) -> Result<Skeleton, Error> {
    skeleton_of(shape, Mix::One(kind), layers, words)
}

/// Like [`skeleton`], with the types of a mix, as llama-quantize would assign them.
pub fn skeleton_of(shape: &Shape, mix: Mix, layers: u32, words: bool) -> Result<Skeleton, Error> {
    built(shape, mix, layers, if words { Vocabulary::Numbered } else { Vocabulary::None })
}

/// Like [`skeleton`], with a byte-level vocabulary in which every letter and pair of letters with a leading space is
/// one token. So the token count of a text is known. With `begins`, a start token precedes every prompt.
pub fn speaking(shape: &Shape, kind: TensorType, layers: u32, begins: bool) -> Result<Skeleton, Error> {
    let shape = Shape { vocabulary: letters::COUNT, ..*shape };
    built(&shape, Mix::One(kind), layers, Vocabulary::Letters { begins })
}

/// Kinds of matrices that the whole model has but this skeleton does not have before its last layer: `ffn_down_exps
/// (Q6_K)`. The last layer needs only the output of the last column, so nothing after its attention has the width of a
/// prompt.
pub fn absent(shape: &Shape, mix: Mix, layers: u32) -> Result<Vec<String>, Error> {
    let held = kinds(shape, mix, layers, layers.saturating_sub(1))?;
    Ok(kinds(shape, mix, shape.layers, shape.layers)?.difference(&held).cloned().collect())
}

/// The matrices of the first `until` layers of a model with `layers` layers, each kind and type once. Norms, biases and
/// similar tensors do not count.
fn kinds(shape: &Shape, mix: Mix, layers: u32, until: u32) -> Result<BTreeSet<String>, Error> {
    let mut plan = Plan { writer: Writer::default(), offset: 0, shape, mix, layers, matrices: Vec::new() };
    for layer in 0..until {
        plan.layer(layer)?;
    }
    Ok(plan.matrices.into_iter().collect())
}

impl Shape {
    /// The smallest number of layers that contains every kind of matrix of one type before the last layer.
    pub fn least_layers(&self) -> u32 {
        let holds = |layers: &u32| absent(self, Mix::One(TensorType::F32), *layers).is_ok_and(|kinds| kinds.is_empty());
        (2..=self.layers).find(holds).unwrap_or(self.layers)
    }
}

fn built(shape: &Shape, mix: Mix, layers: u32, words: Vocabulary) -> Result<Skeleton, Error> {
    let mut plan = Plan { writer: Writer::default(), offset: 0, shape, mix, layers, matrices: Vec::new() };
    metadata(&mut plan.writer, shape, mix, layers, words);
    let (width, vocabulary) = (u64::from(shape.width), u64::from(shape.vocabulary));
    match mix {
        Mix::One(_) if !shape.tied => plan.add("token_embd.weight", &[width, vocabulary], TensorType::F16)?,
        _ => plan.weight("token_embd.weight", &[width, vocabulary])?,
    }
    plan.plain("output_norm.weight", &[width])?;
    if !shape.tied {
        plan.weight("output.weight", &[width, vocabulary])?;
    }
    if shape.rope_factors {
        plan.plain("rope_freqs.weight", &[u64::from(shape.head) / 2])?;
    }
    for layer in 0..layers {
        plan.layer(layer)?;
    }
    let header = plan.writer.finish(ALIGNMENT as usize);
    let file_size = plan.offset.checked_add(header.len() as u64).ok_or(Error::Overflow)?;
    Ok(Skeleton { header, file_size })
}

/// A model under construction.
pub struct Plan<'a> {
    pub shape: &'a Shape,
    pub layers: u32,
    writer: Writer,
    offset: u64,
    mix: Mix,
    /// Kind and type of each matrix of the layers.
    matrices: Vec<String>,
}

impl Plan<'_> {
    /// Adds a weight matrix, whose type comes from the mix.
    pub fn weight(&mut self, name: &str, dims: &[u64]) -> Result<(), Error> {
        let row = dims.first().copied().unwrap_or(0);
        let kind = self.mix.type_of(self.shape, name, row, self.layers)?;
        if let Some((_, part)) = name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')) {
            self.matrices.push(format!("{} ({})", part.trim_end_matches(".weight"), kind.name()));
        }
        self.add(name, dims, kind)
    }

    /// Adds a tensor that is never quantized: norms, biases, routers.
    pub fn plain(&mut self, name: &str, dims: &[u64]) -> Result<(), Error> {
        self.add(name, dims, TensorType::F32)
    }

    fn add(&mut self, name: &str, dims: &[u64], kind: TensorType) -> Result<(), Error> {
        let (block, size) = kind.block().ok_or_else(|| Error::UnknownType(kind.name()))?;
        let row = dims.first().copied().unwrap_or(0);
        if !row.is_multiple_of(block) {
            return Err(Error::Block { kind: kind.name(), block, name: name.to_owned(), row });
        }
        let elements = dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim)).ok_or(Error::Overflow)?;
        let bytes = (elements / block).checked_mul(size).ok_or(Error::Overflow)?;
        self.writer.tensor(name, dims, kind.0, self.offset);
        let end = self.offset.checked_add(bytes).ok_or(Error::Overflow)?;
        self.offset = end.checked_next_multiple_of(ALIGNMENT).ok_or(Error::Overflow)?;
        Ok(())
    }
}
