//! The code of kernels, instruction by instruction.

use answer::Answer;
use schemars::JsonSchema;
use serde::Serialize;

/// The code of the kernels that match, instruction by instruction.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    pub kernels: Vec<Listed>,
}

impl Answer for Listing {
    const SCHEMA: &'static str = "whichkernel.isa-list/1";
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Listed {
    pub target: String,
    pub bundle: Option<usize>,
    /// The symbol.
    pub kernel: String,
    pub name: String,
    /// Why the kernel computes nothing, if it is a stub.
    pub stub: Option<&'static str>,
    pub code: Vec<Line>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Line {
    pub address: u64,
    /// Words in hexadecimal.
    pub encoding: String,
    pub mnemonic: String,
    /// Empty if the word is not an instruction.
    pub family: &'static str,
}
