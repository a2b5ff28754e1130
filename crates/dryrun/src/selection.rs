//! The selection: the records of a run, grouped by phase and kernel.

use crate::evaluated::{Evaluated, evaluated};
use crate::names::Names;
use crate::session::Outcome;
use gpu::Profile;
use gpu::cuda_occupancy;
use gpu::occupancy::{Resources, active_blocks};
pub use launch::Phase;
use launch::blas;
use launch::grammar::{Facts, Family, Path};
use launch::graph_replay::evaluations;
use launch::record::{self, NO_DEVICE, blas as calls, lane};
use launch::table::{KernelInfo, KernelPlace};
use launch::trace::{Event, Trace};
use std::collections::BTreeMap;

/// The resources of one launch of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    pub vgprs: u32,
    pub sgprs: u32,
    /// Registers per thread of an NVIDIA card, which has one kind only. The two above are then zero.
    pub registers: Option<u32>,
    /// Static and dynamic LDS, bytes.
    pub lds: u64,
    pub scratch: u32,
    pub wavefront: u32,
    /// Workgroups per multiprocessor; None if not even one fits.
    pub occupancy: Option<u32>,
}

/// One kernel (or BLAS call) of one phase and column count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    pub phase: Phase,
    /// Columns of the evaluation that contains this launch.
    pub width: u64,
    /// The number of the device for which the kernel was selected.
    pub device: u32,
    pub family: Family,
    pub path: Option<Path>,
    /// The readable name.
    pub kernel: String,
    pub mangled: String,
    /// Tensor type of the weights, for a multiplication.
    pub kind: Option<String>,
    pub ne11: Option<u64>,
    /// Whether the launch uses the weights of experts. Its columns are then those of all experts together, or of one
    /// expert.
    pub routed: bool,
    /// The columns of the layer that it serves: its own or, for experts, those of the product that routed to them.
    pub served: Option<u64>,
    pub file: String,
    pub bundle: Option<u32>,
    /// Every grid with which the kernel was launched, in order of appearance.
    pub grids: Vec<[u32; 3]>,
    pub block: [u32; 3],
    pub shared: u32,
    pub count: u64,
    pub stub: bool,
    /// Whether the metadata of another target was used for the kernel.
    pub foreign: bool,
    pub needs: Option<Needs>,
    /// Each distinct call, for a BLAS call or a kernel that a BLAS call launched.
    pub calls: Vec<record::Blas>,
    /// Solution numbers of this kernel: as reported by the BLAS library, otherwise from its catalog.
    pub solutions: Vec<i64>,
}

impl Selected {
    /// Whether the kernel computes a product of weights and activations, including its helpers; attention does not
    /// count.
    pub fn is_multiplication(&self) -> bool {
        let helper = matches!(self.family, Family::BlasPointers | Family::Repack | Family::GemmHelper);
        self.path.is_some_and(Path::is_product) && !helper
    }

    /// Like [`Self::is_multiplication`], without attention's own products, which come as a batch.
    pub fn is_weight_product(&self) -> bool {
        self.is_multiplication() && self.calls.iter().all(|call| blas::is_weight_product(call.batch))
    }

    /// The readable name; for a BLAS kernel, with the numbers of its solutions.
    pub fn title(&self) -> String {
        let mut numbers: Vec<String> = self.solutions.iter().take(3).map(|number| format!("#{number}")).collect();
        if self.solutions.len() > 3 {
            numbers.push("...".to_owned());
        }
        if numbers.is_empty() { self.kernel.clone() } else { format!("{} {}", self.kernel, numbers.join("|")) }
    }

    pub fn grid_text(&self) -> String {
        let grids: Vec<String> = self.grids.iter().map(|[x, y, z]| format!("{x}x{y}x{z}")).collect();
        grids.join(" ")
    }

    pub fn block_text(&self) -> String {
        let [x, y, z] = self.block;
        if x == 0 { String::new() } else { format!("{x}x{y}x{z}") }
    }
}

/// One launch, for the trace file.
#[derive(Debug, Clone)]
pub struct TraceStep<'t> {
    pub trace: &'t Trace,
    pub evaluation: usize,
    pub phase: Phase,
    /// Index in the trace's events.
    pub event: usize,
    pub ne11: Option<u64>,
}

/// The whole run: every process, every evaluation, grouped.
pub fn select(outcome: &Outcome, profiles: &[Profile]) -> Vec<Selected> {
    let mut groups = Groups::default();
    for trace in &outcome.traces {
        let names = Names::new(trace);
        for evaluated in evaluated(outcome, trace, &names) {
            groups.add(outcome, trace, &names, &evaluated, profiles);
        }
    }
    groups.finish()
}

/// The selections, one list per evaluation that ended with a readback. For runs whose evaluations are known in advance.
pub fn select_each(outcome: &Outcome, profiles: &[Profile]) -> Vec<Vec<Selected>> {
    let mut lists = Vec::new();
    for trace in &outcome.traces {
        let names = Names::new(trace);
        for evaluation in evaluations(trace).into_iter().filter(|evaluation| evaluation.readback > 0) {
            let mut groups = Groups::default();
            let (phase, width) = names.phase(outcome, trace, &evaluation);
            groups.add(outcome, trace, &names, &Evaluated { phase, width, pass: None, evaluation }, profiles);
            lists.push(groups.finish());
        }
    }
    lists
}

/// How many evaluations there were of each phase and width.
pub fn evaluations_by_width(outcome: &Outcome) -> BTreeMap<(Phase, u64), u64> {
    let mut counts = BTreeMap::new();
    for trace in &outcome.traces {
        for one in evaluated(outcome, trace, &Names::new(trace)) {
            *counts.entry((one.phase, one.width)).or_default() += 1;
        }
    }
    counts
}

/// Every launch in order, with graph replays expanded.
pub fn steps<'o>(outcome: &'o Outcome) -> Vec<TraceStep<'o>> {
    let mut list = Vec::new();
    let mut number = 0;
    for trace in &outcome.traces {
        let names = Names::new(trace);
        for one in evaluated(outcome, trace, &names) {
            for &event in &one.evaluation.items {
                let ne11 = names.columns(outcome, trace, event);
                list.push(TraceStep { trace, evaluation: number, phase: one.phase, event, ne11 });
            }
            number += 1;
        }
    }
    list
}

type Key = (Phase, u64, u32, String, Option<u64>, (bool, Option<u64>), [u32; 3]);

#[derive(Default)]
struct Groups {
    order: Vec<Key>,
    rows: BTreeMap<Key, Selected>,
}

impl Groups {
    fn add(
        &mut self,
        outcome: &Outcome,
        trace: &Trace,
        names: &Names<'_>,
        evaluated: &Evaluated<'_>,
        profiles: &[Profile],
    ) {
        let (phase, width) = (evaluated.phase, evaluated.width);
        let (mut unpacked, mut dense) = (None, None);
        for &place in &evaluated.evaluation.items {
            let ne11 = names.columns(outcome, trace, place);
            let routed = names.is_routed(outcome, trace, place) || evaluated.is_routed(trace, names, (place, ne11));
            if !routed && names.is_weight_product(trace, place) {
                dense = ne11.or(dense);
            }
            let served = if routed { dense.or(ne11) } else { ne11 };
            let row = match trace.events.get(place) {
                Some(Event::Launch(launch)) => {
                    let Some(kernel) = names.kernels.get(&launch.head.kernel) else { continue };
                    let Some(facts) = names.facts.get(&launch.head.kernel) else { continue };
                    if matches!(facts.family, Family::Dequantize | Family::Convert) {
                        unpacked = unpacked_type(facts).or(unpacked);
                    }
                    let call = names.inside.get(&place).and_then(|call| names.call(trace, *call));
                    let info = names.info(outcome, trace, &launch.head);
                    let module = trace.module(kernel.module);
                    let mut row = from_launch(&launch.head, facts, &kernel.name, info, profiles);
                    if let (None, Some(module), Some(profile)) = (&row.needs, module, profiles.get(row.device as usize))
                    {
                        let loaded = outcome.loaded.get(&(module.hash, kernel.name.clone()));
                        row.needs = loaded.and_then(|info| needs(info, &launch.head, profile));
                    }
                    if row.file.is_empty() {
                        row.file = module.map(|module| origin(outcome, module)).unwrap_or_default();
                    }
                    if let Some(call) = call {
                        row.path = Some(Path::Blas);
                        row.kind = unpacked.clone().or_else(|| Some(blas::tensor_type(call.type_a).to_owned()));
                        row.solutions = match (u32::try_from(call.solution), outcome.solutions.get(&kernel.name)) {
                            (Ok(told), _) => vec![told.into()],
                            (Err(_), found) => found.cloned().unwrap_or_default(),
                        };
                        row.calls = vec![plain(&call)];
                    }
                    row
                }
                // A call that the real library handled is represented by the kernels that it launched.
                Some(Event::Blas(_)) if names.served.contains(&place) => continue,
                Some(Event::Blas(_)) => {
                    let Some(call) = names.call(trace, place) else { continue };
                    let mut row = from_call(&call);
                    if launch::blas::is_weight_product(call.batch) {
                        row.kind = unpacked.take().or(row.kind);
                    }
                    row
                }
                _ => continue,
            };
            self.merge(Selected { phase, width, ne11, routed, served, ..row });
        }
    }

    fn merge(&mut self, row: Selected) {
        let name = if row.mangled.is_empty() { &row.kernel } else { &row.mangled };
        let name = format!("{name}/{}", row.kind.as_deref().unwrap_or(""));
        let key = (row.phase, row.width, row.device, name, row.ne11, (row.routed, row.served), row.block);
        match self.rows.get_mut(&key) {
            Some(known) => {
                known.count += 1;
                for grid in row.grids {
                    if !known.grids.contains(&grid) {
                        known.grids.push(grid);
                    }
                }
                for solution in row.solutions {
                    if !known.solutions.contains(&solution) {
                        known.solutions.push(solution);
                    }
                }
                for call in row.calls {
                    if !known.calls.contains(&call) {
                        known.calls.push(call);
                    }
                }
            }
            None => {
                self.order.push(key.clone());
                self.rows.insert(key, row);
            }
        }
    }

    fn finish(mut self) -> Vec<Selected> {
        self.order.iter().filter_map(|key| self.rows.remove(key)).collect()
    }
}

/// The origin of a kernel that is not in the table.
fn origin(outcome: &Outcome, module: &launch::trace::Module) -> String {
    match (module.path.is_empty(), outcome.images.get(&module.hash)) {
        (false, _) => module.path.clone(),
        (true, Some(name)) => name.clone(),
        (true, None) => format!("image {:016x} of {} bytes", module.hash, module.size),
    }
}

/// Removes the parts of a call that differ between equal calls at different times.
fn plain(call: &record::Blas) -> record::Blas {
    record::Blas { time_ns: 0, stream: 0, graph: 0, bracket: 0, device: 0, ..*call }
}

fn from_call(call: &record::Blas) -> Selected {
    let (kernel, file) = match (call.lane, call.status) {
        (lane::HIPBLASLT, status) => (format!("hipblasLtMatmul: no solution (status {status})"), "libhipblaslt.so"),
        (_, 0) if calls::is_cuda(call.call) => (calls::name(call.call).to_owned(), cublas(call.call)),
        (_, 0) => (calls::name(call.call).to_owned(), "libhipblas.so"),
        (_, status) => (format!("{}: failed (status {status})", calls::name(call.call)), "libhipblas.so"),
    };
    Selected {
        phase: Phase::Other,
        width: 0,
        // If the writer did not query the device, assume that the machine has only one.
        device: if call.device == NO_DEVICE { 0 } else { call.device },
        family: Family::Blas,
        path: Some(Path::Blas),
        kernel,
        mangled: String::new(),
        kind: Some(blas::tensor_type(call.type_a).to_owned()),
        ne11: None,
        routed: false,
        served: None,
        file: file.to_owned(),
        bundle: None,
        grids: Vec::new(),
        block: [0; 3],
        shared: 0,
        count: 1,
        stub: false,
        foreign: false,
        needs: None,
        calls: vec![plain(call)],
        solutions: Vec::new(),
    }
}

fn cublas(call: u32) -> &'static str {
    if call == calls::CUBLAS_LT_MATMUL { "libcublasLt.so" } else { "libcublas.so" }
}

fn from_launch(
    head: &record::Launch,
    facts: &Facts,
    mangled: &str,
    info: Option<(&KernelInfo, &KernelPlace)>,
    profiles: &[Profile],
) -> Selected {
    let needs = info.and_then(|(info, _)| {
        let profile = profiles.get(head.device as usize)?;
        needs(info, head, profile)
    });
    Selected {
        phase: Phase::Other,
        width: 0,
        device: head.device,
        family: facts.family,
        path: facts.path(),
        kernel: facts.readable.clone(),
        mangled: mangled.to_owned(),
        kind: weights(facts).map(str::to_owned),
        ne11: None,
        routed: false,
        served: None,
        file: info.map(|(_, place)| place.path.clone()).unwrap_or_default(),
        bundle: info.map(|(_, place)| place.bundle),
        grids: vec![head.grid],
        block: head.block,
        shared: head.shared,
        count: 1,
        stub: info.is_some_and(|(info, _)| info.stub),
        foreign: info.is_some_and(|(info, _)| info.foreign),
        needs,
        calls: Vec::new(),
        solutions: Vec::new(),
    }
}

fn needs(info: &KernelInfo, head: &record::Launch, profile: &Profile) -> Option<Needs> {
    if profile.is_nvidia() {
        return Some(cuda_needs(info, head, profile));
    }
    let version = profile.target().ok()?.version()?;
    let get = |name: &str| u32::try_from(profile.get(name)).unwrap_or(0);
    let resources = Resources {
        vgprs: info.vgprs,
        sgprs: info.sgprs,
        lds: info.lds,
        wavefront: info.wavefront,
        wgp_mode: info.wgp_mode,
    };
    let threads = head.block.iter().fold(1_u32, |product, &n| product.saturating_mul(n));
    let (lds, most) = (get("sharedMemPerBlock"), get("maxThreadsPerBlock"));
    Some(Needs {
        vgprs: info.vgprs,
        sgprs: info.sgprs,
        registers: None,
        lds: u64::from(info.lds) + u64::from(head.shared),
        scratch: info.private,
        wavefront: info.wavefront,
        occupancy: active_blocks(version, lds, most, &resources, threads, head.shared.into()),
    })
}

fn cuda_needs(info: &KernelInfo, head: &record::Launch, profile: &Profile) -> Needs {
    let get = |name: &str| u32::try_from(profile.get(name)).unwrap_or(0);
    let threads = head.block.iter().fold(1_u32, |product, &n| product.saturating_mul(n));
    let needs = cuda_occupancy::CubinNeeds { registers: info.vgprs, shared: info.lds };
    let capability = (get("computeCapabilityMajor"), get("computeCapabilityMinor"));
    Needs {
        vgprs: 0,
        sgprs: 0,
        registers: Some(info.vgprs),
        lds: u64::from(info.lds) + u64::from(head.shared),
        scratch: info.private,
        wavefront: info.wavefront,
        occupancy: cuda_occupancy::active_blocks(capability, needs, threads, head.shared.into()),
    }
}

/// The type of the weights in a kernel's name.
pub fn weights(facts: &Facts) -> Option<&str> {
    facts.type_of("weights").or_else(|| float_weights(facts))
}

/// The type of the weights of a floating-point kernel, which has one data type for both sides. The suffix `x2`, for
/// loading two values at once, is removed.
fn float_weights(facts: &Facts) -> Option<&str> {
    let floats = matches!(facts.family, Family::Mmvf | Family::Mmf);
    facts.type_of("data").filter(|_| floats).map(|name| name.trim_end_matches("x2"))
}

/// The type of the weights that a kernel unpacks: `dequantize_block_q4_K`, `dequantize_block<..., &dequantize_q8_0>`,
/// `convert_unary<__half, float>`.
fn unpacked_type(facts: &Facts) -> Option<String> {
    if facts.family == Family::Convert {
        // Activations are also converted, but from F32, which weights never are here.
        let from = facts.parameters.first().map(|(_, value)| value.as_str())?;
        return matches!(from, "BF16" | "__hip_bfloat16" | "hip_bfloat16").then(|| "BF16".to_owned());
    }
    let text = facts.parameter("dequantize_kernel").unwrap_or(&facts.kernel);
    let name =
        ["dequantize_block_", "dequantize_"].iter().find_map(|start| text.split_once(start)).map(|(_, rest)| rest)?;
    let name: String = name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let name = name.split("_f16").next().unwrap_or(&name).trim_end_matches('_').to_ascii_uppercase();
    gguf::TensorType::parse(&name).ok().map(gguf::TensorType::name)
}
