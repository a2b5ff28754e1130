//! A model file: its tensors by type and role, and the paths that the rules choose for them.

use crate::Device;
use crate::decision_table::DecisionTable;
use crate::explain::{ByColumns, by_columns};
use evidence::Rung;
use gguf::{Gguf, Tensor, file_type_name};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The contents of a GGUF file's header and, if a GPU was given, the paths that the newest rules choose.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelAnswer<'t> {
    pub file: String,
    pub size: u64,
    /// The kind of file, always `model`.
    pub form: &'static str,
    /// The version of the GGUF format.
    pub gguf_version: u32,
    /// The value of `general.name` in the header.
    pub name: Option<String>,
    pub architecture: String,
    /// The file type as stated in the header: `Q4_K_M`.
    pub file_type: Option<&'static str>,
    pub layers: Option<u64>,
    /// The number of files that the model consists of.
    pub parts: u64,
    pub tensors: usize,
    /// Bytes before the weights.
    pub header: u64,
    /// Bytes that the tensors need after the end of the file: more than 0 if the file is cut off. Null if a type's size
    /// is unknown.
    pub missing: Option<u64>,
    pub types: Vec<TypeOfTensors<'t>>,
    /// The card or target that was requested, and whose rules the paths come from.
    pub rules: Option<RulesUsed<'t>>,
}

impl answer::Answer for ModelAnswer<'_> {
    const SCHEMA: &'static str = "whichkernel.inspect-model/1";
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesUsed<'t> {
    /// Always `declared`: the rule in the source, not a measurement.
    pub rung: Rung,
    pub target: String,
    pub card: Option<String>,
    pub source: &'t str,
    pub version: &'t str,
}

/// Tensors of one type and role.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TypeOfTensors<'t> {
    #[serde(rename = "type")]
    pub kind: String,
    pub role: Role,
    pub tensors: usize,
    /// The size in bytes; null if the size of a block is unknown.
    pub bytes: Option<u64>,
    /// For matrices only; empty without a GPU, or if the rules do not have the type.
    pub by_columns: Vec<ByColumns<'t>>,
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Role: key {
        /// A weight matrix: products with it follow the rules.
        Matrix = "matrix",
        /// The token embedding: rows are read from it. Models without an output matrix also multiply with it.
        Embedding = "embedding",
        /// Matrices of several experts in one tensor. The rules of dense matrices do not cover them.
        Experts = "experts",
        /// One dimension: no matrix product.
        Vector = "vector",
    }
}

impl Role {
    fn of(tensor: &Tensor) -> Role {
        let long = tensor.dims.iter().filter(|dim| **dim > 1).count();
        match long {
            _ if tensor.name == "token_embd.weight" => Role::Embedding,
            0 | 1 => Role::Vector,
            2 => Role::Matrix,
            _ => Role::Experts,
        }
    }
}

impl<'t> ModelAnswer<'t> {
    pub fn new(file: String, size: u64, header: &Gguf, asked: Option<(&Device, &'t DecisionTable)>) -> Self {
        let mut groups: BTreeMap<(Role, String), Vec<&Tensor>> = BTreeMap::new();
        for tensor in &header.tensors {
            groups.entry((Role::of(tensor), tensor.kind.name())).or_default().push(tensor);
        }
        let mut types: Vec<TypeOfTensors<'t>> = groups
            .into_iter()
            .map(|((role, kind), tensors)| TypeOfTensors {
                by_columns: asked
                    .filter(|_| matches!(role, Role::Matrix | Role::Embedding))
                    .map(|(device, table)| by_columns(table.stretches(&device.target, &kind)))
                    .unwrap_or_default(),
                kind,
                role,
                tensors: tensors.len(),
                bytes: tensors.iter().map(|tensor| tensor.bytes()).sum(),
            })
            .collect();
        types.sort_by_key(|of| (of.role, std::cmp::Reverse(of.bytes), of.kind.clone()));
        let end = |tensor: &Tensor| tensor.offset.checked_add(tensor.bytes()?)?.checked_add(header.data_offset);
        let end = header.tensors.iter().try_fold(header.data_offset, |most, it| Some(most.max(end(it)?)));
        let text = |key: &str| header.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
        ModelAnswer {
            file,
            size,
            form: "model",
            gguf_version: header.version,
            name: text("general.name"),
            architecture: header.architecture().to_owned(),
            file_type: header.number("general.file_type").and_then(file_type_name),
            layers: header.hyper("block_count"),
            parts: header.number("split.count").unwrap_or(1).max(1),
            tensors: header.tensors.len(),
            header: header.data_offset,
            missing: end.map(|end| end.saturating_sub(size)),
            types,
            rules: asked.map(|(device, table)| RulesUsed {
                rung: Rung::Declared,
                target: device.target.clone(),
                card: device.card.clone(),
                source: &table.source,
                version: &table.version,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_table::all;
    use gguf::{Mix, known, skeleton_of};

    #[test]
    fn a_real_shape_has_its_types_roles_and_paths() {
        let (shape, mix) = (known("llama-3.1-8b").expect("a shape"), Mix::parse("Q4_K_M").expect("a mix"));
        let made = skeleton_of(&shape, mix, shape.layers, false).expect("a skeleton");
        let header = Gguf::parse(&made.header).expect("a header");
        let device = Device::find("rx-9070-xt").expect("a card");
        let table = all().last().expect("a table");
        let answer = ModelAnswer::new("x.gguf".to_owned(), made.file_size, &header, Some((&device, table)));
        assert_eq!((answer.missing, answer.parts, answer.file_type), (Some(0), 1, Some("Q4_K_M")));
        let first = answer.types.first().expect("a type");
        assert_eq!((first.kind.as_str(), first.role), ("Q4_K", Role::Matrix));
        assert_eq!(first.by_columns.first().map(|it| (it.from, it.to, it.path)), Some((1, Some(8), "MMVQ")));
        assert!(answer.types.iter().any(|it| it.role == Role::Vector && it.by_columns.is_empty()));
        let cut = ModelAnswer::new("x.gguf".to_owned(), made.file_size - 1, &header, None);
        assert_eq!(cut.missing, Some(1));
        assert!(cut.rules.is_none() && cut.types.iter().all(|it| it.by_columns.is_empty()));
    }
}
