//! A claim: on this rung and for these subjects, this topic has the expected value.

use crate::{About, Expected, Rung, Scope, Transfer};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    pub id: String,
    pub rung: Rung,
    pub topic: String,
    /// May hold patterns and ranges: the claim is then about all that fit.
    pub about: About,
    pub expected: Expected,
    pub scope: Scope,
    /// Rules by which an observation of another subject may speak, at most as Inferred. Whoever writes the claim says
    /// which are sound for it: that another build ships the same kernels says nothing on the size of its bundles.
    pub transfer: Vec<Transfer>,
}
