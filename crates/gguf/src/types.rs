//! Tensor types: number, name, elements and bytes of a block. Sizes as in ggml's ggml-common.h.

use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorType(pub u32);

const TABLE: &[(u32, &str, u64, u64)] = &[
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 36),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
    (39, "MXFP4", 32, 17),
    (40, "NVFP4", 64, 36),
    (41, "Q1_0", 128, 18),
    (42, "Q2_0", 64, 18),
    (43, "F8_E4M3", 1, 1),
];

impl TensorType {
    pub const F32: TensorType = TensorType(0);
    pub const F16: TensorType = TensorType(1);

    /// A type by name, ignoring case: `q4_k` is `Q4_K`.
    pub fn parse(name: &str) -> Result<TensorType, Error> {
        let found = TABLE.iter().find(|row| row.1.eq_ignore_ascii_case(name));
        found.map(|row| TensorType(row.0)).ok_or_else(|| Error::UnknownType(name.to_owned()))
    }

    fn row(self) -> Option<&'static (u32, &'static str, u64, u64)> {
        TABLE.iter().find(|row| row.0 == self.0)
    }

    pub fn name(self) -> String {
        self.row().map_or_else(|| format!("type{}", self.0), |row| row.1.to_owned())
    }

    /// The name of the type. None for an unknown number.
    pub fn known_name(self) -> Option<&'static str> {
        self.row().map(|row| row.1)
    }

    /// All types, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = TensorType> {
        TABLE.iter().map(|row| TensorType(row.0))
    }

    /// Whether several elements share a scale.
    pub fn is_quantised(self) -> bool {
        self.block().is_some_and(|(elements, _)| elements > 1)
    }

    /// Elements and bytes of one block; None for an unknown type.
    pub fn block(self) -> Option<(u64, u64)> {
        self.row().map(|row| (row.2, row.3))
    }

    /// Types that a weight matrix may have: no integers, and no types that are only for intermediate results.
    pub fn weights() -> impl Iterator<Item = TensorType> {
        TABLE.iter().filter(|row| !matches!(row.0, 9 | 15 | 24..=28)).map(|row| TensorType(row.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_go_both_ways() {
        for row in TABLE {
            assert_eq!(TensorType::parse(&row.1.to_lowercase()), Ok(TensorType(row.0)));
            assert_eq!(TensorType(row.0).name(), row.1);
        }
        assert!(TensorType::parse("Q4_K_M").is_err(), "a file type is not a tensor type");
        assert_eq!(TensorType(999).name(), "type999");
    }
}
