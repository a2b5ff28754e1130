//! A claim: on this rung and for these subjects, this topic has the expected value.

use crate::{About, Expected, Rung, Scope, Transfer};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    pub id: String,
    pub rung: Rung,
    pub topic: String,
    /// May contain patterns and ranges. The claim is then about everything that matches.
    pub about: About,
    pub expected: Expected,
    pub scope: Scope,
    /// The rules by which an observation of another subject may support the claim, at most as Inferred. The author of
    /// the claim lists the rules that are valid for it: for example, a build with the same kernels is no evidence for
    /// the size of the bundles.
    pub transfer: Vec<Transfer>,
}
