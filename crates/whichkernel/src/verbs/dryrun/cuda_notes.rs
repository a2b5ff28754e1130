//! Notes for the reader of a CUDA run: calls that the stand-in does not answer, and facts that it cannot know.

use super::command::Ran;
use launch::grammar::Family;
use report::Lang;
use std::fmt::Write;

/// The call that asks the driver for a private table.
const PRIVATE: &str = "cuGetExportTable";

pub fn is_cuda(ran: &Ran<'_>) -> bool {
    ran.plans.iter().any(|plan| plan.card.profile.is_nvidia())
}

pub fn write(out: &mut String, ran: &Ran<'_>, lang: &Lang) {
    if !is_cuda(ran) {
        return;
    }
    let mut say = |key: &str, count: u64| {
        let _ = writeln!(out, "{}", lang.text_with(key, &[("count", count.into())]));
    };
    if ran.events.unsupported.contains_key(PRIVATE) {
        say("dryrun-cuda-private", 0);
    }
    let estimated = ran.selected.iter().filter(|row| row.foreign).map(|row| row.count).sum();
    if estimated > 0 {
        say("dryrun-cuda-estimated", estimated);
    }
    let called = ran.selected.iter().any(|row| row.family == Family::Blas);
    if called || ran.events.unsupported.keys().any(|call| call.starts_with("cudnn") || call.starts_with("cublas")) {
        say("dryrun-cuda-vendor", 0);
    }
}

/// Anything that the program does after it has read a result back may depend on the value.
pub fn read_back(out: &mut String, ran: &Ran<'_>, lang: &Lang) {
    let count = dryrun::read_back(ran.outcome);
    if count > 0 {
        let _ = writeln!(out, "{}", lang.text_with("dryrun-cuda-read-back", &[("count", count.into())]));
    }
}
