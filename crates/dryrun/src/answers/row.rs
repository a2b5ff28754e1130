//! One row of the selection.

use crate::{Needs, Plan, Selected};
use evidence::Reach;
use launch::blas::{bench_line, compute_type, data_type};
use launch::record::{self, lane};
use schemars::JsonSchema;
use serde::Serialize;

/// One kernel (or BLAS call) of one phase and column count.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SelectedRow<'r> {
    /// The number of the device.
    pub device: u32,
    pub card: &'r str,
    pub target: &'r str,
    pub phase: &'static str,
    /// The same as `columns`.
    pub width: u64,
    /// Columns of the evaluation that contains this launch.
    pub columns: u64,
    /// Whether the launch uses the weights of experts.
    pub experts: bool,
    pub family: &'static str,
    pub path: Option<String>,
    pub kernel: &'r str,
    pub mangled: &'r str,
    #[serde(rename = "type")]
    pub kind: Option<&'r str>,
    /// The number of columns of this launch's own product.
    pub ne11: Option<u64>,
    pub file: &'r str,
    pub bundle: Option<u32>,
    pub grids: &'r [[u32; 3]],
    pub block: [u32; 3],
    pub shmem: u32,
    pub count: u64,
    /// Whether the kernel's code for this target is empty.
    pub stub: bool,
    pub needs: Option<LaunchNeeds>,
    /// Solution numbers of the BLAS library.
    pub solutions: &'r [i64],
    pub calls: Vec<BlasCall>,
    /// How complete the rows of this device or cell are.
    pub reach: Reach,
}

/// The resources that one launch of a kernel uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LaunchNeeds {
    pub vgprs: u32,
    pub sgprs: u32,
    /// Registers per thread of an NVIDIA card; null for other cards.
    pub registers: Option<u32>,
    /// Bytes, static and dynamic.
    pub lds: u64,
    pub scratch: u32,
    pub wavefront: u32,
    /// Null if not even one block fits.
    pub blocks_per_multiprocessor: Option<u32>,
}

impl From<&Needs> for LaunchNeeds {
    fn from(needs: &Needs) -> LaunchNeeds {
        let Needs { vgprs, sgprs, registers, lds, scratch, wavefront, occupancy } = *needs;
        LaunchNeeds { vgprs, sgprs, registers, lds, scratch, wavefront, blocks_per_multiprocessor: occupancy }
    }
}

/// A call of a BLAS library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlasCall {
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub batch: i64,
    pub a: &'static str,
    pub b: &'static str,
    pub c: &'static str,
    pub compute: &'static str,
    pub lane: &'static str,
    pub status: u32,
    /// The call as arguments of rocblas-bench.
    pub bench: String,
}

/// The kernel that a BLAS library chooses for a product of the run, computed from the library's catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlasChoice {
    /// The library, rocblas or hipblaslt, with its version.
    pub library: String,
    pub product: String,
    /// determined, set, none or not-computed
    pub verdict: &'static str,
    /// The number of the solution in the catalog.
    pub index: Option<i64>,
    pub kernel: Option<String>,
    /// The row of a table that led to it, or why there is no answer.
    pub why: String,
    pub runner_up: Option<i64>,
    /// The kernel that the library launched; null where the call was only recorded.
    pub launched: Option<String>,
    /// Whether that is the computed one.
    pub agrees: Option<bool>,
}

impl From<&record::Blas> for BlasCall {
    fn from(call: &record::Blas) -> BlasCall {
        BlasCall {
            m: call.m,
            n: call.n,
            k: call.k,
            batch: call.batch,
            a: data_type(call.type_a),
            b: data_type(call.type_b),
            c: data_type(call.type_c),
            compute: compute_type(call.compute),
            lane: lane::name(call.lane),
            status: call.status,
            bench: bench_line(call),
        }
    }
}

impl<'r> SelectedRow<'r> {
    pub(super) fn new(plan: &'r Plan, reach: Reach, row: &'r Selected) -> SelectedRow<'r> {
        SelectedRow {
            device: row.device,
            card: &plan.card.profile.name,
            target: plan.card.profile.processor(),
            phase: row.phase.key(),
            width: row.width,
            columns: row.width,
            experts: row.routed,
            family: row.family.key(),
            path: row.path.map(|path| path.to_string()),
            kernel: &row.kernel,
            mangled: &row.mangled,
            kind: row.kind.as_deref(),
            ne11: row.ne11,
            file: &row.file,
            bundle: row.bundle,
            grids: &row.grids,
            block: row.block,
            shmem: row.shared,
            count: row.count,
            stub: row.stub,
            needs: row.needs.as_ref().map(LaunchNeeds::from),
            solutions: &row.solutions,
            calls: row.calls.iter().map(BlasCall::from).collect(),
            reach,
        }
    }
}
