//! The role of each bundle of a file.

use answer::Answer;
use launch::grammar::Variants;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The role of each bundle: families, types, template ranges, kernels with code, and stubs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bundles {
    pub file: String,
    /// The requested target; null for all targets.
    pub target: Option<String>,
    pub bundle_table: Vec<BundleRow>,
    /// Kernels whose names do not match the name grammar.
    pub unknown_names: usize,
}

impl Answer for Bundles {
    const SCHEMA: &'static str = "whichkernel.inspect-bundles/1";
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BundleRow {
    pub index: usize,
    pub offset: u64,
    pub size: u64,
    pub code_objects: u64,
    pub kernels: usize,
    /// Kernels with code for at least one of the targets.
    pub live: usize,
    pub stubs: usize,
    /// The main family first.
    pub families: Vec<&'static str>,
    pub path: Option<String>,
    pub types: BTreeSet<String>,
    pub ranges: Vec<Variant>,
    pub label: String,
    pub neighbours: String,
    pub unknown_names: Vec<String>,
}

/// Kernels that differ only in one template parameter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Variant {
    text: String,
    kernel: String,
    family: &'static str,
    #[serde(rename = "type")]
    data: Option<String>,
    parameter: Option<String>,
    values: BTreeSet<i64>,
    live_values: BTreeSet<i64>,
    kernels: usize,
    live: usize,
    stubs: usize,
}

impl From<&Variants> for Variant {
    fn from(v: &Variants) -> Self {
        Variant {
            text: v.to_string(),
            kernel: v.kernel.clone(),
            family: v.family.key(),
            data: v.data.clone(),
            parameter: v.parameter.clone(),
            values: v.values.clone(),
            live_values: v.live_values.clone(),
            kernels: v.count,
            live: v.live,
            stubs: v.stubs(),
        }
    }
}
