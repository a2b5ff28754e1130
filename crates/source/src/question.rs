//! A question about a tree: GPUs, types, column counts, and the user's changes to its build.

use crate::device::Device;
use crate::graph::code::Code;
use crate::op::Shape;

/// The default types of a table.
pub const DEFAULT_TYPES: &[&str] = &["Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "IQ1_S", "F16", "F32"];

/// The default column counts of a table: around every limit that some version has.
pub const DEFAULT_COLUMNS: &[i64] =
    &[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17, 24, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 290, 512];

/// All types in which weights are stored, for `--type all`, in table order. A test compares them with gguf's.
pub const ALL_TYPES: &[&str] = &[
    "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ1_S",
    "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "MXFP4", "NVFP4",
];

#[derive(Debug, Clone)]
pub struct Question {
    pub shape: Shape,
    pub devices: Vec<Device>,
    pub types: Vec<String>,
    pub columns: Vec<i64>,
    /// Only the counts themselves are requested, not the counts between them. The range of an answer then holds only
    /// for the requested counts in it.
    pub points: bool,
    /// Whether launch shapes belong to the answers.
    pub launch_shapes: bool,
}

/// The user's changes to a build.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub define: Vec<String>,
    pub undefine: Vec<String>,
    pub cmake: Vec<(String, String)>,
    /// Environment variables with which the program would be started.
    pub env: Vec<(String, String)>,
    /// Varies SDK versions without a given value; rows that depend on one are undetermined. Each value is another build
    /// to read and run, so tables of thousands of rows skip this and say so.
    pub vary_versions: bool,
    /// The code that was built from the tree, for the GPU of the question.
    pub code: Option<Code>,
}

impl Shape {
    pub fn question(self, devices: Vec<Device>, types: Vec<String>, columns: Vec<i64>) -> Question {
        Question { shape: self, devices, types, columns, points: false, launch_shapes: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gguf::TensorType;

    /// Weight types that the tables do not contain yet. Adding one to `ALL_TYPES` adds it to every table.
    const LEFT_OUT: &[&str] = &["TQ1_0", "TQ2_0", "Q1_0", "Q2_0", "F8_E4M3"];

    #[test]
    fn every_type_of_weights_is_asked_for_or_left_out_by_name() {
        for ty in TensorType::weights().map(TensorType::name) {
            let asked = ALL_TYPES.contains(&ty.as_str());
            assert_ne!(asked, LEFT_OUT.contains(&ty.as_str()), "{ty} must stand in ALL_TYPES or in LEFT_OUT");
        }
        for ty in ALL_TYPES.iter().chain(DEFAULT_TYPES).chain(LEFT_OUT) {
            assert!(TensorType::parse(ty).is_ok(), "gguf knows no {ty}");
        }
    }
}
