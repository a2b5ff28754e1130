//! Products and answers in words.

use report::Lang;
use say::say;
use std::fmt::Write;
use tensile::select::{Call, Choice, Chosen};

/// Formats which of A and B are transposed, as BLAS does: `TN`.
pub fn ops(call: &Call) -> String {
    let op = |transposed: bool| if transposed { 'T' } else { 'N' };
    format!("{}{}", op(call.trans_a), op(call.trans_b))
}

/// Formats the macro tile and its depth: `128x128x32`.
pub fn tile(chosen: &Chosen) -> String {
    format!("{}x{}x{}", chosen.macro_tile[0], chosen.macro_tile[1], chosen.depth_u)
}

/// The sizes of a table's key; the tables of rocBLAS have no batch.
fn key_text(table: &str, key: &[i64; 4]) -> String {
    let sizes = if table == "Euclidean" { &key[..3] } else { &key[..] };
    sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// `4096 x 290 x 4096 f16 NN`, followed by the values that differ from the defaults.
pub fn described(call: &Call) -> String {
    let [a, b, _, d] = call.types;
    let mut out = format!("{} x {} x {} {}", call.m, call.n, call.k, a.name());
    if b != a {
        let _ = write!(out, " x {}", b.name());
    }
    if d != a {
        let _ = write!(out, " -> {}", d.name());
    }
    let _ = write!(out, " {}", ops(call));
    if call.batch > 1 {
        let _ = write!(out, ", batch {}", call.batch);
    }
    if call.epilogue != tensile::select::Epilogue::None {
        let _ = write!(out, ", {}", call.epilogue.name());
    }
    out
}

/// The table and the row that led to a solution.
pub fn reason(chosen: &Chosen, lang: &Lang) -> String {
    lang.say(&match chosen.row {
        Some((table, key)) => say!("gemm-why-row", table, key = key_text(table, &key), leaf = chosen.leaf),
        None => say!("gemm-why-only", leaf = chosen.leaf),
    })
}

/// An answer in one cell.
pub fn short(choice: &Choice, lang: &Lang) -> String {
    match choice {
        Choice::Determined(chosen) => format!("{} ({})", chosen.index, tile(chosen)),
        Choice::OneOf(all) => lang.say(&say!("gemm-verdict-set", count = all.len())),
        Choice::None => lang.text("gemm-verdict-none"),
        Choice::Gemv => lang.text("gemm-verdict-gemv"),
        Choice::NotComputed(_) => lang.text("gemm-verdict-not-computed"),
    }
}

/// An answer as a sentence.
pub fn headline(choice: &Choice, lang: &Lang) -> String {
    lang.say(&match choice {
        Choice::Determined(chosen) => say!("gemm-chosen", index = chosen.index),
        Choice::OneOf(all) => say!("gemm-set", count = all.len()),
        Choice::None => say!("gemm-none"),
        Choice::Gemv => say!("gemm-gemv"),
        Choice::NotComputed(reason) => say!("gemm-not-computed", why = super::why(reason, lang)),
    })
}
