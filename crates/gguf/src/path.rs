//! The paths of an operation through ggml's GPU backends, by their common names. This is the only list: declared rules,
//! kernel names and tables all use it, so they can be compared.

use std::fmt;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Path: name and ALL {
        /// One column or a few, weights in floating point.
        Mmvf = "MMVF",
        /// Many columns, weights in floating point, on matrix units.
        Mmf = "MMF",
        Mmv = "MMV",
        /// One column; weights are dequantized in the kernel.
        Dmmv = "DMMV",
        /// One column or a few, quantized weights.
        Mmvq = "MMVQ",
        /// Many columns in tiles, quantized weights.
        Mmq = "MMQ",
        /// A BLAS library, with dequantized weights.
        Blas = "BLAS",
        /// Flash attention by an unspecified kernel.
        FlashAttention = "FA",
        /// Flash attention by a specific kernel.
        Vec = "VEC",
        Tile = "TILE",
        Wmma = "WMMA",
        Mma = "MMA",
        Rope = "ROPE",
        GetRows = "GET_ROWS",
        /// ggml's Vulkan backend, one column or a few.
        MulMatVec = "mul_mat_vec",
        /// ggml's Vulkan backend, many columns in tiles.
        Matmul = "matmul",
    }
}

impl Path {
    /// A path by the name in a table cell, ignoring case; None for any other name.
    pub fn from_name(name: &str) -> Option<Path> {
        Self::ALL.iter().copied().find(|path| path.name().eq_ignore_ascii_case(name))
    }

    /// Whether the path computes a product with a weight matrix.
    pub fn is_product(self) -> bool {
        self <= Path::Blas || self >= Path::MulMatVec
    }

    pub fn is_attention(self) -> bool {
        (Path::FlashAttention..=Path::Mma).contains(&self)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_paths() {
        for path in Path::ALL {
            assert_eq!(Path::from_name(&path.name().to_lowercase()), Some(*path));
        }
        assert_eq!(Path::from_name("UNDETERMINED"), None);
        let products = Path::ALL.iter().filter(|path| path.is_product());
        assert!(products.clone().any(|path| *path == Path::Mmq) && products.clone().all(|path| !path.is_attention()));
    }
}
