//! A catalog that exceeds these limits is rejected. The largest real one (rocBLAS 5.5, all targets in one file of 117
//! MB) has about 46,000 solutions and 1.3 million table rows.

/// Bytes of one `.dat` file.
pub const FILE: u64 = 512 << 20;
pub const SOLUTIONS: u32 = 1 << 20;
pub const ROWS: usize = 1 << 24;
pub const NODES: usize = 1 << 20;
/// Nested nodes and predicates; real trees have about thirty levels.
pub const DEPTH: u32 = 128;
