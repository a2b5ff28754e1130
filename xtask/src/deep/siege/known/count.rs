//! The actual launches of a run, as the runtime counted them (`fixtures/count.h`).

use std::path::Path;

pub const KERNELS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Whether the program ran to its end.
    pub done: bool,
    pub gemms: u64,
    pub rejected: u64,
    /// Launches by kernel, which the width of the grid identifies: direct ones, and as a node of a graph.
    pub direct: [u64; KERNELS],
    pub replayed: [u64; KERNELS],
}

impl Count {
    pub fn fresh(path: &Path) -> std::io::Result<()> {
        std::fs::write(path, [0; 4096])
    }

    pub fn read(path: &Path) -> std::io::Result<Count> {
        let bytes = std::fs::read(path)?;
        let at = |place: usize| {
            let bytes = bytes.get(place * 8..place * 8 + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        let list = |from: usize| std::array::from_fn(|kernel| at(from + kernel));
        Ok(Count { done: at(0) == 1, gemms: at(1), rejected: at(2), direct: list(3), replayed: list(3 + KERNELS) })
    }

    pub fn of(&self, kernel: usize) -> u64 {
        self.direct[kernel] + self.replayed[kernel]
    }

    pub fn launches(&self) -> u64 {
        (0..KERNELS).map(|kernel| self.of(kernel)).sum()
    }
}
