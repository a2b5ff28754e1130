//! The closed list of causes, and the description of a cause that was found.

use crate::bound::Input;
use crate::sure::Sure;
use evidence::{Grade, Rung};
use say::Message;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

macro_rules! causes {
    ($($(#[$about:meta])* $variant:ident $name:literal),* $(,)?) => {
        /// All causes. Causes without a known cost are reported in this order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Id { $($(#[$about])* $variant),* }

        impl Id {
            pub const ALL: &'static [Id] = &[$(Id::$variant),*];

            /// The name in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Id::$variant => $name),* }
            }

            /// The name of the check, for the list of checks that were not made.
            pub fn check(self) -> Message {
                match self { $(Id::$variant => say::say!(concat!("why-check-", $name))),* }
            }
        }
    };
}

causes! {
    /// No GPU backend is loaded, though there is a GPU.
    CpuOnly "cpu-only",
    PartialOffload "partial-offload",
    IntegratedGpu "integrated-gpu",
    ContextSize "context-size",
    Slots "slots",
    MissingTarget "missing-target",
    /// The library has code for a generic target only.
    GenericTarget "generic-target",
    /// `HSA_OVERRIDE_GFX_VERSION` selects another target.
    GfxOverride "gfx-override",
    BlasPath "blas-path",
    OldBuild "old-build",
    DebugBuild "debug-build",
    StubKernels "stub-kernels",
    NoMatrixUnits "no-matrix-units",
    FlashAttention "flash-attention",
    /// Flash attention has no kernel for the model's heads.
    HeadSize "head-size",
    KvType "kv-type",
    MicroBatch "micro-batch",
    GraphSplits "graph-splits",
    VramFull "vram-full",
    PowerState "power-state",
    PcieLink "pcie-link",
    TwoServers "two-servers",
    Queueing "queueing",
    /// HIP or Vulkan: no rule states which is faster on this card.
    OtherBackend "other-backend",
}

/// One cause: a claim with its rung and grade, its cost, and a fix.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cause {
    pub id: Id,
    /// The number of the cause in this answer, for `--fix`.
    pub n: usize,
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub text: Message,
    pub sure: Sure,
    pub rung: Rung,
    pub grade: Grade,
    pub evidence: Vec<Seen>,
    #[serde(serialize_with = "maybe")]
    #[schemars(with = "Option<String>")]
    pub reason: Option<Message>,
    pub cost: Cost,
    pub fix: Option<Fix>,
}

/// An observation and its location.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Seen {
    /// `server.log:12`, `/proc/4711/cmdline`, `/sys/class/drm/card0/device`.
    #[serde(rename = "where")]
    pub place: String,
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub says: Message,
}

impl Seen {
    pub fn new(place: impl Into<String>, says: Message) -> Seen {
        Seen { place: place.into(), says }
    }
}

/// The performance cost of the cause.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "known", rename_all = "kebab-case")]
pub enum Cost {
    /// Computed from two bounds in tokens per second: with the cause and without it.
    Computed { phase: Phase, at_most: f64, instead_of: f64, inputs: Vec<Input> },
    /// A range: with the cause the bound is `low` at worst and `high` at best; without it, `instead_of`.
    Between { phase: Phase, low: f64, high: f64, instead_of: f64, inputs: Vec<Input> },
    No {
        /// The cost in words, if more is known than "unknown".
        #[serde(serialize_with = "maybe")]
        #[schemars(with = "Option<String>")]
        says: Option<Message>,
    },
}

impl Cost {
    pub fn unknown() -> Cost {
        Cost::No { says: None }
    }

    pub fn says(message: Message) -> Cost {
        Cost::No { says: Some(message) }
    }

    /// The smallest slowdown factor, if it is known.
    pub fn factor(&self) -> Option<f64> {
        match self {
            Cost::Computed { at_most, instead_of, .. } => Some(instead_of / at_most),
            Cost::Between { high, instead_of, .. } => Some(instead_of / high),
            Cost::No { .. } => None,
        }
    }

    /// The largest slowdown factor, if it is known.
    pub fn worst(&self) -> Option<f64> {
        match self {
            Cost::Between { low, instead_of, .. } => Some(instead_of / low),
            _ => self.factor(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Decode,
    Prefill,
}

/// A fix: one command, and the command that reverts it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fix {
    pub command: String,
    pub undo: String,
    #[serde(serialize_with = "english")]
    #[schemars(with = "String")]
    pub verify: Message,
    #[serde(serialize_with = "maybe")]
    #[schemars(with = "Option<String>")]
    pub note: Option<Message>,
    /// The change to a process that `--fix N --measure` can make; null if it cannot.
    pub change: Option<Change>,
}

/// One setting of a server process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// `names`: all names of the option; the first is used if the option was absent.
    Option {
        names: Vec<&'static str>,
        old: String,
        new: String,
    },
    Variable {
        name: &'static str,
        old: Option<String>,
        new: String,
    },
}

pub(crate) fn english<S: Serializer>(message: &Message, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&message.to_string())
}

pub(crate) fn maybe<S: Serializer>(message: &Option<Message>, to: S) -> Result<S::Ok, S::Error> {
    message.as_ref().map(Message::to_string).serialize(to)
}
