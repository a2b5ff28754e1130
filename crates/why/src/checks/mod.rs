//! One function for each cause of the list: is it so here, is it fine, or could nobody look?

mod attention;
mod backend;
mod build;
mod machine;
mod offload;

use crate::cause::{Cause, Cost, Fix, Id, Seen};
use crate::facts::{Facts, Known};
use crate::sure::Sure;
use say::Message;

pub use backend::BACKENDS;

/// What came of looking for one cause.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Cause(Box<Cause>),
    Fine(Message),
    NotChecked { why: Message, command: Option<String> },
    NotApplicable,
}

/// Every cause of the list has exactly one outcome: the compiler counts them.
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

/// A cause in the making: what was seen decides how sure it is.
struct Found {
    id: Id,
    text: Message,
    sure: Sure,
    evidence: Vec<Seen>,
    reason: Option<Message>,
    cost: Cost,
}

impl Found {
    fn new(id: Id, text: Message, sure: Sure, evidence: Vec<Seen>) -> Found {
        Found { id, text, sure, evidence, reason: None, cost: Cost::unknown() }
    }

    fn reason(self, reason: Option<Message>) -> Found {
        Found { reason, ..self }
    }

    fn cost(self, cost: Cost) -> Found {
        Found { cost, ..self }
    }

    fn fix(self, fix: impl Into<Option<Fix>>) -> Outcome {
        let Found { id, text, sure, evidence, reason, cost } = self;
        let (rung, grade) = sure.graded(&format!("why.{}", id.name()));
        let fix = fix.into();
        // Its number is given when all are in their order.
        Outcome::Cause(Box::new(Cause { id, n: 0, text, sure, rung, grade, evidence, reason, cost, fix }))
    }
}

fn seen<T>(known: &Known<T>) -> Seen {
    Seen::new(&known.place, Message::verbatim(&known.said))
}

fn unchecked(why: Message) -> Outcome {
    Outcome::NotChecked { why, command: None }
}

/// What a fact that nobody told is missing for: without a server, for the machine; otherwise for the server's log.
fn untold(facts: &Facts) -> Outcome {
    match &facts.server {
        None => unchecked(say::say!("why-unchecked-machine")),
        Some(server) if server.pid.is_none() && !server.log_read => unchecked(say::say!("why-unchecked-process")),
        Some(_) => unchecked(say::say!("why-unchecked-log")),
    }
}

/// Whether anything of the model is on a GPU; questions about GPU code have no meaning elsewhere.
fn gpu_in_use(facts: &Facts) -> bool {
    !facts.cards.is_empty() && facts.on_cpu() != Some(true)
}

pub(crate) fn gib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / (1_u64 << 30) as f64)
}
