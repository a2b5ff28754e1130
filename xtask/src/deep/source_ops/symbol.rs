//! A launched symbol in the evaluator's notation: the kernel's name with the numbers among its template arguments.

/// An observed launch in `source`'s notation; a call into a library is identified by its kind alone.
pub fn kernel(symbol: &str) -> String {
    if symbol.starts_with("BLAS ") { "BLAS".to_owned() } else { source::graph::instance(symbol) }
}
