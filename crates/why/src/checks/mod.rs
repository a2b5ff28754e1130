//! One function per cause. It reports that the cause was found, that it is absent, or that it could not be checked.

mod attention;
mod backend;
mod build;
mod machine;
mod offload;
mod outcome;

use crate::cause::Id;
use crate::facts::Facts;

pub use backend::BACKENDS;
pub use outcome::Outcome;
pub(crate) use outcome::gib;

/// Every cause has exactly one outcome; the exhaustive match enforces it.
pub fn check(id: Id, facts: &Facts) -> Outcome {
    match id {
        Id::CpuOnly => backend::cpu_only(facts),
        Id::IntegratedGpu => backend::integrated(facts),
        Id::MissingTarget => backend::missing_target(facts),
        Id::GenericTarget => backend::generic_target(facts),
        Id::GfxOverride => backend::gfx_override(facts),
        Id::StubKernels => backend::stubs(facts),
        Id::NoMatrixUnits => backend::matrix_units(facts),
        Id::OtherBackend => backend::other_backend(facts),
        Id::PartialOffload => offload::partial(facts),
        Id::ContextSize => offload::context(facts),
        Id::Slots => offload::slots(facts),
        Id::GraphSplits => offload::splits(facts),
        Id::FlashAttention => attention::flash(facts),
        Id::HeadSize => attention::head_size(facts),
        Id::KvType => attention::kv_type(facts),
        Id::MicroBatch => attention::micro_batch(facts),
        Id::BlasPath => build::blas_path(facts),
        Id::OldBuild => build::old_build(facts),
        Id::DebugBuild => build::debug_build(facts),
        Id::PowerState => machine::power(facts),
        Id::VramFull => machine::vram(facts),
        Id::PcieLink => machine::link(facts),
        Id::TwoServers => machine::two_servers(facts),
        Id::Queueing => machine::queueing(facts),
    }
}
