//! The live aggregation: counts of each kind of launch by phase, and of everything unseen.

use crate::fallback::{Sign, Unpacked, Why};
use crate::launch_key::{Call, Kind, KindId, Known, Name, facts};
use crate::{Device, Devices, Fallback, Maker, Phase, Took};
use evidence::DeviceKind;
use launch::grammar::{Facts, Family, Path};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

#[derive(Debug, Default)]
pub struct Tally {
    kinds: Vec<Known>,
    index: HashMap<Kind, KindId>,
    facts: HashMap<Name, Rc<Facts>>,
    counts: HashMap<(Phase, u64, KindId), u64>,
    times: HashMap<(Phase, u64, KindId), Took>,
    rejected: HashMap<KindId, u64>,
    /// Launches of an evaluation whose end was not observed: they are in the counts, but in no figure per token.
    unfinished: HashMap<KindId, u64>,
    /// Evaluations by process and phase: prompts, and decoded tokens.
    evaluations: HashMap<(u32, Phase), u64>,
    launches: u64,
    calls: u64,
    /// Records that the observer knows it lost; their launches are not in the counts.
    pub lost: u64,
    /// Argument reads that failed: the launch is counted, its column count may be missing.
    pub unread: u64,
    /// Replays of graphs that were created before the observation began: their launches are unknown.
    pub unknown_replays: u64,
    pub fallback: Fallback,
    /// The clock up to which a live observer has counted, in nanoseconds; None if it does not know.
    pub counted_to: Option<u64>,
    /// The devices that the processes launched on.
    pub devices: Devices,
    /// The number of pieces into which copies to the host split each evaluation, from the server's own count; 0 if
    /// unknown.
    pub pieces: u64,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub phase: Phase,
    pub kernel: String,
    /// The key of the kernel: its mangled name, `unnamed@0x..`, or a call's name.
    pub name: Name,
    pub family: Family,
    pub path: Option<Path>,
    pub weights: Option<String>,
    pub ne11: Option<u64>,
    /// The extents, for a BLAS call.
    pub call: Option<Call>,
    pub file: String,
    pub bundle: Option<u32>,
    pub grids: Vec<[u32; 3]>,
    pub block: [u32; 3],
    pub shared: u32,
    pub launches: u64,
    /// The share of all launches; 0 for a call, which is not a launch.
    pub share: f64,
    /// The device on which the kernel was launched; None if the tally has no processes.
    pub device: Option<DeviceKind>,
    /// The device time of those launches that were timed; None if no launch was timed.
    pub took: Option<Took>,
}

/// Whether the device has a clock. A stand-in has no clock.
fn has_clock(device: DeviceKind) -> bool {
    matches!(device, DeviceKind::Real | DeviceKind::Unknown)
}

/// Kinds with equal keys share a row.
type RowKey = (Phase, Name, Option<u64>, [u32; 3], String, Option<&'static str>);

/// The maximum number of separate kinds. Beyond it, launches of a kernel are counted together regardless of their grid.
const MOST_KINDS: usize = 1 << 16;
/// Marks launches whose grids are not kept separately.
const OTHER_GRIDS: [u32; 3] = [u32::MAX; 3];

impl Tally {
    pub fn kind(&mut self, kind: &Kind) -> KindId {
        if let Some(id) = self.index.get(kind) {
            return *id;
        }
        if self.kinds.len() >= MOST_KINDS && kind.grid != OTHER_GRIDS {
            // A program may use a new grid for every launch: from here on, launches of a kernel are counted together.
            let (name, file, process) = (kind.name.clone(), kind.file.clone(), kind.process);
            let rest = Kind::kernel(name, kind.api);
            return self.kind(&Kind { process, file, bundle: kind.bundle, grid: OTHER_GRIDS, ..rest });
        }
        let id = KindId(u32::try_from(self.kinds.len()).unwrap_or(u32::MAX));
        let facts = self.facts.entry(kind.name.clone()).or_insert_with(|| Rc::new(facts(&kind.name))).clone();
        self.kinds.push(Known { kind: kind.clone(), facts });
        self.index.insert(kind.clone(), id);
        id
    }

    fn known(&self, id: KindId) -> Option<&Known> {
        self.kinds.get(id.0 as usize)
    }

    /// Adds names that became known later to launches that were counted without one: name, file and bundle by address.
    pub fn rename(&mut self, learned: impl Fn(u64) -> Option<(Name, String, Option<u32>)>) {
        for known in &mut self.kinds {
            let Name::Unnamed(address) = known.kind.name else { continue };
            let Some((name, file, bundle)) = learned(address) else { continue };
            self.index.remove(&known.kind);
            known.facts = self.facts.entry(name.clone()).or_insert_with(|| Rc::new(facts(&name))).clone();
            let ne11 = launch::columns::of_value(&known.facts, None);
            known.kind = Kind { name, file, bundle, ne11, ..known.kind.clone() };
        }
    }

    /// The facts that a name implies, parsed once.
    pub fn facts(&mut self, name: &Name) -> Rc<Facts> {
        self.facts.entry(name.clone()).or_insert_with(|| Rc::new(facts(name))).clone()
    }

    pub fn get(&self, id: KindId) -> Option<&Kind> {
        self.known(id).map(|known| &known.kind)
    }

    /// Kinds of the same kernel in the same shape, regardless of the call that launched it.
    pub fn alike(&self, id: KindId) -> Vec<KindId> {
        let shape = |kind: &Kind| (kind.name.clone(), kind.grid, kind.block, kind.shared);
        let Some(wanted) = self.get(id).map(shape) else { return Vec::new() };
        let same = self.kinds.iter().zip(0..).filter(|(known, _)| shape(&known.kind) == wanted);
        same.map(|(_, place)| KindId(place)).collect()
    }

    /// The phase of an evaluation with these kinds, by their widths; their order is not kept. If a product is narrower
    /// than the widest, it is a prompt. If all have the same width, the phase is unknown: `-np 4` decodes four
    /// sequences this way, and the first part of a long prompt looks the same.
    pub(super) fn phase_of<'k>(&self, kinds: impl Iterator<Item = &'k KindId>) -> (Phase, u64) {
        let products: Vec<&Known> =
            kinds.filter_map(|id| self.known(*id)).filter(|known| known.is_weight_product()).collect();
        // mul_mat_q is never chosen for one column, even if its column count could not be read.
        let wide = products.iter().any(|known| known.kind.ne11.is_none() && known.path() == Some(Path::Mmq));
        let widths = || products.iter().filter_map(|known| known.kind.ne11);
        match (widths().min(), widths().max()) {
            (_, Some(1)) if wide => (Phase::Prefill, 0),
            (_, Some(1)) => (Phase::Decode, 1),
            (Some(least), Some(width)) if least < width => (Phase::Prefill, width),
            (_, Some(width)) => (Phase::Batch, width),
            (_, None) if wide => (Phase::Batch, 0),
            (_, None) => (Phase::Other, 0),
        }
    }

    /// Passes on the counts since the last call and forgets them, but keeps the kinds, which graphs refer to.
    pub fn take_counts(&mut self, mut each: impl FnMut(Phase, &Kind, Option<Path>, Option<String>, u64)) {
        for ((phase, _, id), count) in std::mem::take(&mut self.counts) {
            if let Some(known) = self.kinds.get(id.0 as usize) {
                each(phase, &known.kind, known.path(), known.weights(), count);
            }
        }
        self.times.clear();
        self.rejected.clear();
        self.unfinished.clear();
        (self.launches, self.calls) = (0, 0);
    }

    /// The whole evaluations since the last call, by process and phase.
    pub fn take_evaluations(&mut self) -> Vec<((u32, Phase), u64)> {
        std::mem::take(&mut self.evaluations).into_iter().collect()
    }

    /// Adds evaluations that were taken.
    pub fn put_evaluations(&mut self, evaluations: &[((u32, Phase), u64)]) {
        for (key, count) in evaluations {
            *self.evaluations.entry(*key).or_default() += count;
        }
    }

    /// Path and type of the weights of a kernel, as its name shows them.
    pub fn path_and_type(&mut self, name: &Name) -> (Option<Path>, Option<String>) {
        let known = Known { kind: Kind::kernel(name.clone(), ""), facts: self.facts(name) };
        (known.path(), known.weights())
    }

    /// The number of kinds, which only grows.
    pub fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Counts launches of one kind in a phase, accepted as far as is known.
    pub fn launched(&mut self, phase: Phase, width: u64, id: KindId, count: u64) {
        *self.counts.entry((phase, width, id)).or_default() += count;
        let Some(known) = self.kinds.get(id.0 as usize) else { return };
        let is_call = matches!(known.kind.name, Name::Call(_));
        self.fallback.look(id, known, phase, count);
        if is_call { self.calls += count } else { self.launches += count }
    }

    /// Handles a launch on arrival, before its evaluation is known.
    pub(super) fn follow(&mut self, unpacked: &mut Unpacked, id: KindId) {
        let Some(known) = self.kinds.get(id.0 as usize) else { return };
        if let Some(from) = unpacked.next(id, known) {
            // The extents are left out, so that a prompt of another length is not a new kind.
            let by = match &known.kind.name {
                Name::Call(call) => call.clone(),
                _ => known.family().key().to_owned(),
            };
            self.fallback.unpacks(from, by);
        }
    }

    /// Called when the host read data back after these launches of one column.
    pub(super) fn check_whole(&mut self, launches: &HashMap<KindId, u64>) {
        let (mut products, mut attention, mut first) = (0, false, None);
        for (id, count) in launches {
            let Some(known) = self.kinds.get(id.0 as usize) else { continue };
            match known.family() {
                Family::FlashAttention
                | Family::Softmax
                | Family::Attention
                | Family::StateSpace
                | Family::Recurrent => {
                    attention = true;
                }
                Family::Mmvq | Family::Mmvf | Family::Mmf => {
                    products += count;
                    first = first.max(Some((known.readable(), known.family())));
                }
                _ => {}
            }
        }
        // One product without attention is the output layer; two may belong to a head.
        if let (3.., false, Some((kernel, family))) = (products, attention, first) {
            self.fallback.note(Sign { phase: Phase::Decode, kernel, family, why: Why::Cut { products } }, 1);
        }
    }

    /// Adds the device time of launches of one kind.
    pub(super) fn took(&mut self, phase: Phase, width: u64, id: KindId, took: Took) {
        self.times.entry((phase, width, id)).or_default().add(took);
    }

    /// Launches with a known device time. A stand-in has no time.
    pub fn timed(&self) -> u64 {
        self.rows().iter().filter_map(|row| row.took).map(|took| took.launches).sum()
    }

    /// Launches or calls of a kind turned out to have failed. Returns how many of them had been counted.
    pub(super) fn take_back(&mut self, id: KindId, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let mut taken = 0;
        for (_, count) in self.counts.iter_mut().filter(|((.., known), _)| *known == id) {
            let less = (*count).min(most - taken);
            *count -= less;
            taken += less;
        }
        self.counts.retain(|_, count| *count > 0);
        let is_call = self.known(id).is_some_and(|known| matches!(known.kind.name, Name::Call(_)));
        let all = if is_call { &mut self.calls } else { &mut self.launches };
        *all = all.saturating_sub(taken);
        taken
    }

    /// A launch that returned an error does not count as a launch.
    pub fn rejected(&mut self, id: KindId, count: u64) {
        *self.rejected.entry(id).or_default() += count;
    }

    pub fn evaluated(&mut self, process: u32, phase: Phase) {
        *self.evaluations.entry((process, phase)).or_default() += 1;
    }

    fn evaluations(&self, process: Option<u32>, phase: Phase) -> u64 {
        let wanted = |key: &(u32, Phase)| key.1 == phase && process.is_none_or(|process| process == key.0);
        let all: u64 = self.evaluations.iter().filter(|(key, _)| wanted(key)).map(|(_, count)| count).sum();
        all / self.pieces.max(1)
    }

    pub(super) fn unfinished(&mut self, id: KindId, count: u64) {
        *self.unfinished.entry(id).or_default() += count;
    }

    pub fn launches(&self) -> u64 {
        self.launches
    }

    pub fn calls(&self) -> u64 {
        self.calls
    }

    pub fn tokens(&self) -> u64 {
        self.evaluations(None, Phase::Decode)
    }

    /// Tokens that this process decoded.
    pub fn tokens_of(&self, process: u32) -> u64 {
        self.evaluations(Some(process), Phase::Decode)
    }

    pub fn prompts(&self) -> u64 {
        self.evaluations(None, Phase::Prefill)
    }

    /// Evaluations of several columns for which it is unknown whether they were a prompt or several sequences.
    pub fn batches(&self) -> u64 {
        self.evaluations(None, Phase::Batch)
    }

    pub fn rejections(&self) -> u64 {
        self.rejected.values().sum()
    }

    /// Rejected launches by kernel.
    pub fn rejected_kernels(&self) -> BTreeMap<String, u64> {
        let mut out = BTreeMap::new();
        for (known, count) in self.rejected_kinds() {
            *out.entry(known.readable()).or_default() += count;
        }
        out
    }

    pub(crate) fn rejected_kinds(&self) -> impl Iterator<Item = (&Known, u64)> {
        self.rejected.iter().filter_map(|(id, count)| Some((self.known(*id)?, *count)))
    }

    pub fn unnamed(&self) -> u64 {
        let unnamed = |id: &KindId| self.known(*id).is_some_and(|known| matches!(known.kind.name, Name::Unnamed(_)));
        self.counts.iter().filter(|((.., id), _)| unnamed(id)).map(|(_, count)| count).sum()
    }

    /// Kernels of complete evaluations of one column.
    fn decodes(&self) -> impl Iterator<Item = (&Known, u64)> {
        let decoded = self.counts.iter().filter(|((phase, ..), _)| *phase == Phase::Decode);
        decoded.filter_map(|((.., id), count)| {
            let known = self.known(*id).filter(|known| !matches!(known.kind.name, Name::Call(_)))?;
            Some((known, count.saturating_sub(self.unfinished.get(id).copied().unwrap_or(0))))
        })
    }

    /// Launches of a family in complete evaluations of one column.
    pub fn decoded(&self, family: Family) -> u64 {
        self.decodes().filter(|(known, _)| known.family() == family).map(|(_, count)| count).sum()
    }

    /// `hip` or `cuda`, from the calls that launched.
    pub fn interfaces(&self) -> BTreeSet<&'static str> {
        let calls = self.counts.keys().filter_map(|(.., id)| self.known(*id)).map(|known| known.kind.api);
        calls
            .filter_map(|api| ["hip", "cu"].into_iter().find(|start| api.starts_with(start)))
            .map(|start| if start == "cu" { "cuda" } else { start })
            .collect()
    }

    /// The file that most launches came from.
    pub fn most_launched_file(&self) -> Option<PathBuf> {
        let mut launches: BTreeMap<String, u64> = BTreeMap::new();
        for row in self.rows().into_iter().filter(|row| !row.file.is_empty()) {
            *launches.entry(row.file).or_default() += row.launches;
        }
        launches.into_iter().max_by_key(|(_, count)| *count).map(|(file, _)| PathBuf::from(file))
    }

    pub fn other_grids(&self) -> u64 {
        let other = |id: &KindId| self.known(*id).is_some_and(|known| known.kind.grid == OTHER_GRIDS);
        self.counts.iter().filter(|((.., id), _)| other(id)).map(|(_, count)| count).sum()
    }

    /// Launches per decoded token: in total and by family.
    pub fn per_token(&self) -> Option<(f64, Vec<(Family, f64)>)> {
        let tokens = self.tokens();
        if tokens == 0 {
            return None;
        }
        let mut families: BTreeMap<Family, u64> = BTreeMap::new();
        for (known, count) in self.decodes() {
            *families.entry(known.family()).or_default() += count;
        }
        let per = |count: u64| count as f64 / tokens as f64;
        let all = per(families.values().sum());
        let mut list: Vec<_> = families.into_iter().map(|(family, count)| (family, per(count))).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Some((all, list))
    }

    fn device_of(&self, kind: &Kind) -> Option<DeviceKind> {
        self.devices.of(kind.process, Maker::of_call(kind.api)).map(Device::kind)
    }

    /// Launches by file and kernel, through the runtime of one vendor. Kernels without a name count as one.
    pub fn kernels_of(&self, maker: Maker) -> BTreeMap<(String, String), u64> {
        let mut found = BTreeMap::new();
        for ((_, _, id), count) in &self.counts {
            let Some(known) = self.known(*id) else { continue };
            let name = match &known.kind.name {
                Name::Kernel(name) => name,
                Name::Unnamed(_) => "unnamed",
                Name::Pipeline(_) | Name::Call(_) => continue,
            };
            if Maker::of_call(known.kind.api) == maker {
                *found.entry((known.kind.file.clone(), name.to_owned())).or_default() += count;
            }
        }
        found
    }

    /// The table. Kinds that differ only in grid or process share a row, unless they launched on different devices.
    /// Sorted by phase, then by frequency.
    pub fn rows(&self) -> Vec<Row> {
        self.rows_of(None)
    }

    /// The processes with launches or calls.
    pub fn processes(&self) -> BTreeSet<u32> {
        self.counts.keys().filter_map(|(.., id)| self.get(*id)).map(|kind| kind.process).collect()
    }

    /// The table of one process, with shares of its own launches.
    pub fn rows_of(&self, process: Option<u32>) -> Vec<Row> {
        let mut rows: BTreeMap<RowKey, Row> = BTreeMap::new();
        for ((phase, width, id), count) in &self.counts {
            let Some(known) = self.known(*id) else { continue };
            if process.is_some_and(|process| process != known.kind.process) {
                continue;
            }
            let kind = &known.kind;
            let name = match (&kind.name, kind.call) {
                (Name::Call(_), Some(_)) => Name::Call(known.readable()),
                (name, _) => name.clone(),
            };
            let device = self.device_of(kind);
            let key = (*phase, name, kind.ne11, kind.block, kind.file.clone(), device.map(DeviceKind::name));
            let row = rows.entry(key).or_insert_with(|| Row {
                phase: *phase,
                kernel: known.readable(),
                name: kind.name.clone(),
                family: known.family(),
                path: known.path(),
                weights: known.weights(),
                ne11: kind.ne11,
                call: kind.call,
                file: kind.file.clone(),
                bundle: kind.bundle,
                grids: Vec::new(),
                block: kind.block,
                shared: kind.shared,
                launches: 0,
                share: 0.0,
                device,
                took: None,
            });
            if let Some(took) = self.times.get(&(*phase, *width, *id)).filter(|_| device.is_none_or(has_clock)) {
                row.took.get_or_insert_default().add(*took);
            }
            row.launches += count;
            if kind.grid != OTHER_GRIDS {
                row.grids.push(kind.grid);
            }
        }
        let mut rows: Vec<Row> = rows.into_values().collect();
        let launches = |row: &Row| if matches!(row.name, Name::Call(_)) { 0 } else { row.launches };
        let all: u64 = rows.iter().map(launches).sum();
        for row in &mut rows {
            row.grids.sort_unstable();
            row.grids.dedup();
            if all > 0 {
                row.share = launches(row) as f64 / all as f64;
            }
        }
        rows.sort_by(|a, b| a.phase.cmp(&b.phase).then(b.launches.cmp(&a.launches)).then(a.name.cmp(&b.name)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Flow};

    const MMVQ: &str = "_ZL13mul_mat_vec_qIL9ggml_type12ELi1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_jjj";

    #[test]
    fn shares_tokens_and_families_come_out_of_the_counts() {
        let mut tally = Tally::default();
        let mut kind = Kind::kernel(Name::Kernel(MMVQ.into()), "hipLaunchKernel");
        kind.ne11 = Some(1);
        let mul = tally.kind(&kind);
        let other = tally.kind(&Kind::kernel(Name::Unnamed(0x10), "hipModuleLaunchKernel"));
        let call = Call { m: 1, n: 1, k: 1, batch: 1, type_a: u32::MAX };
        let call = tally.kind(&Kind::call("rocblas_gemm_ex", call));
        let mut flow = Flow::default();
        for _ in 0..2 {
            flow.launch(&mut tally, mul, 0, 0);
            flow.launch(&mut tally, mul, 0, 0);
            flow.launch(&mut tally, other, 0, 0);
            flow.launch(&mut tally, call, 0, 0);
            flow.launch(&mut tally, other, 0, 98);
            flow.readback(&mut tally);
        }
        assert_eq!((tally.launches(), tally.calls(), tally.tokens()), (6, 2, 2));
        assert_eq!((tally.unnamed(), tally.rejections()), (2, 2));
        let (all, families) = tally.per_token().expect("tokens");
        assert_eq!((all, families.first().copied()), (3.0, Some((Family::Mmvq, 2.0))));
        let rows = tally.rows();
        assert_eq!((rows[0].launches, rows[0].phase), (4, Phase::Decode));
        assert!((rows[0].share - 4.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn several_sequences_at_once_are_not_called_a_prompt() {
        let mut tally = Tally::default();
        let mut product = |columns: u64| {
            let name = Name::Kernel(MMVQ.replace("Li1E", &format!("Li{columns}E")));
            tally.kind(&Kind { ne11: Some(columns), ..Kind::kernel(name, "hipLaunchKernel") })
        };
        let (one, four, eight) = (product(1), product(4), product(8));
        let phase = |kinds: &[KindId]| tally.phase_of(kinds.iter());
        assert_eq!(phase(&[one]), (Phase::Decode, 1));
        assert_eq!(phase(&[four]), (Phase::Batch, 4), "four sequences, or four tokens of one");
        assert_eq!(phase(&[one, eight]), (Phase::Prefill, 8), "only the last column's output was wanted");
        assert_eq!(phase(&[]), (Phase::Other, 0));
    }
}
