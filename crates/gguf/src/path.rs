//! The ways that an operation takes through ggml's GPU backend, by the names that people use. The only list of them: what
//! the rules declare, what a kernel's name says and what a table shows are compared as values of it.

use std::fmt;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Path: name and ALL {
        /// One column or a few, weights in floating point.
        Mmvf = "MMVF",
        /// Many columns, weights in floating point, on matrix units.
        Mmf = "MMF",
        Mmv = "MMV",
        /// One column, weights unpacked on the way.
        Dmmv = "DMMV",
        /// One column or a few, quantised weights.
        Mmvq = "MMVQ",
        /// Many columns in tiles, quantised weights.
        Mmq = "MMQ",
        /// A library, for unpacked weights.
        Blas = "BLAS",
        /// Flash attention, where the kernel that does it is not told apart.
        FlashAttention = "FA",
        /// Flash attention by the kernel that does it.
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
    /// As a table's cell names it, in any case; None for anything else.
    pub fn from_name(name: &str) -> Option<Path> {
        Self::ALL.iter().copied().find(|path| path.name().eq_ignore_ascii_case(name))
    }

    /// A product of a matrix of weights.
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
