//! Converts log lines to a tally.

use crate::logs::amd;
use crate::logs::amd::Line;
use crate::logs::blas;
use crate::logs::blas::Told;
use crate::{Flow, Kind, KindId, Maker, Name, Tally};
use std::collections::{BTreeMap, HashMap};

/// Reads lines of any of the logs, mixed with other text.
#[derive(Debug, Default)]
pub struct LogReader {
    flow: Flow,
    /// The launch call in progress in each thread, and whether its kernel was named.
    open: HashMap<String, (Kind, bool)>,
    calls: BTreeMap<Told, Vec<(Kind, u64)>>,
    chosen: BTreeMap<String, u64>,
    pub account: LogAccount,
}

/// The content of a log, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogAccount {
    /// Lines that the HIP runtime wrote.
    pub runtime: u64,
    /// Kernel dispatches among these lines.
    pub dispatches: u64,
    /// The GPU that the runtime reported.
    pub device: Option<String>,
    /// Lines of BLAS libraries, by the form of the report.
    pub calls: BTreeMap<&'static str, u64>,
    /// Choices that Tensile reported.
    pub choices: u64,
}

impl LogAccount {
    /// Whether anything was recognised.
    pub fn is_empty(&self) -> bool {
        self.runtime == 0 && self.calls.is_empty() && self.choices == 0
    }
}

impl LogReader {
    /// Returns whether the line belonged to a log.
    pub fn line(&mut self, line: &str, tally: &mut Tally) -> bool {
        if let Some((thread, message)) = amd::split(line) {
            self.account.runtime += 1;
            self.runtime(thread, message, tally);
            return true;
        }
        if let Some(name) = blas::chosen(line) {
            self.account.choices += 1;
            *self.chosen.entry(name.to_owned()).or_default() += 1;
            return true;
        }
        if let Some((told, kind, count)) = blas::call(line) {
            *self.account.calls.entry(told.name()).or_default() += 1;
            let list = self.calls.entry(told).or_default();
            match list.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, sum)) => *sum = sum.saturating_add(count).min(1 << 40),
                None => list.push((kind, count)),
            }
            return true;
        }
        (line.starts_with("rocblas_") && line.contains(",atomics_")) || blas::is_hipblaslt(line)
    }

    fn runtime(&mut self, thread: &str, message: &str, tally: &mut Tally) {
        match amd::read(message) {
            Line::Launch { api, handle, grid, block, shared } => {
                let kind = Kind { grid, block, shared, ..Kind::kernel(Name::Unnamed(handle), api) };
                self.open.insert(thread.to_owned(), (kind, false));
            }
            Line::Shader(name) => {
                self.account.dispatches += 1;
                let begun = self.open.get_mut(thread).filter(|(_, named)| !named);
                let kind = match begun {
                    Some((kind, named)) => {
                        *named = true;
                        Kind { name: Name::Kernel(name.to_owned()), ..kind.clone() }
                    }
                    // Without a call: a graph replay, or a copy that the runtime does with its own kernel.
                    None => Kind::kernel(Name::Kernel(name.to_owned()), Maker::Amd.recorded()),
                };
                let kind = self.columns(kind, tally);
                self.flow.launch(tally, kind, 0, 0);
            }
            Line::Returned { success, .. } => {
                let begun = self.open.remove(thread);
                if let Some((kind, false)) = begun.filter(|_| !success) {
                    let kind = tally.kind(&kind);
                    self.flow.launch(tally, kind, 0, 1);
                }
            }
            Line::Device(device) => drop(self.account.device.get_or_insert(device)),
            Line::Readback => self.flow.readback(tally),
            Line::Other => {}
        }
    }

    /// A log has no argument bytes: the column count comes from the name, if it contains one.
    fn columns(&self, kind: Kind, tally: &mut Tally) -> KindId {
        let facts = tally.facts(&kind.name);
        tally.kind(&Kind { ne11: launch::columns::columns(&facts, &[], &[]), ..kind })
    }

    /// Counts the entries that had to wait for the end: each call once, however often it was reported; choices only if
    /// there are no dispatches.
    pub fn finish(&mut self, tally: &mut Tally) {
        if let Some((_, list)) = std::mem::take(&mut self.calls).into_iter().next() {
            for (kind, count) in list {
                let id = tally.kind(&kind);
                self.flow.launch_often(tally, id, count);
            }
        }
        for (name, count) in std::mem::take(&mut self.chosen) {
            if self.account.dispatches == 0 {
                let id = self.columns(Kind::kernel(Name::Kernel(name), "Tensile"), tally);
                self.flow.launch_often(tally, id, count);
            }
        }
        self.flow.finish(tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_launch_is_none_and_a_dispatch_is_one() {
        let mut tally = Tally::default();
        let mut reader = LogReader::default();
        let line = |text: &str| format!(":3:hip_module.cpp :744 : 1 us: [pid:1 tid: 0x1] {text}");
        for text in [
            " hipLaunchKernel ( 0x10, {4,1,1}, {64,1,1}, 0x1, 0, stream:<null> ) ",
            "ShaderName : _Z5firstv",
            "hipLaunchKernel: Returned hipSuccess : ",
            " hipLaunchKernel ( 0x18, {4,1,1}, {64,1,1}, 0x1, 0, stream:<null> ) ",
            "hipLaunchKernel: Returned hipErrorNoDevice : ",
        ] {
            assert!(reader.line(&line(text), &mut tally), "{text}");
        }
        assert!(!reader.line("llama_model_loader: loaded meta data", &mut tally));
        reader.finish(&mut tally);
        assert_eq!((tally.launches(), tally.rejections()), (1, 1));
        let rows = tally.rows();
        assert_eq!((rows[0].name.text().as_str(), rows[0].grids[0]), ("_Z5firstv", [4, 1, 1]));
    }

    #[test]
    fn a_call_told_twice_is_one_call_and_a_choice_is_a_kernel() {
        let mut tally = Tally::default();
        let mut reader = LogReader::default();
        for text in [
            "rocblas_gemm_ex,T,N,512,64,3584,1,0x7f629b2ec000,f16_r,3584,0x7f6386508000,f16_r,3584,0,0x7f63,f16_r,512,0x7f63,f16_r,512,f16_r,0,0,none,atomics_allowed",
            "./rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 512 -n 64 -k 3584 --alpha 1 --a_type f16_r",
            "Running kernel: Cijk_Alik_Bljk_HB_MT32x32x32",
        ] {
            assert!(reader.line(text, &mut tally), "{text}");
        }
        reader.finish(&mut tally);
        assert_eq!((tally.calls(), tally.launches()), (1, 1));
    }
}
