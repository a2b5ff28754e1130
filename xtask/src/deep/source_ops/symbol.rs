//! A launched symbol as the evaluator writes it: the kernel's name with the numbers among its template arguments.

/// As `source` writes a launch that was seen; a call into a library is told by its kind alone.
pub fn kernel(symbol: &str) -> String {
    if symbol.starts_with("BLAS ") { "BLAS".to_owned() } else { source::graph::instance(symbol) }
}
