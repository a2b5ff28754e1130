//! Doctor: which observers work on this host, why the others do not, and how to fix them.
//!
//! The crate separates three steps. *Facts* are read from a [`Host`] (files under `/proc`, `/sys`, `/opt`, ...), so a
//! file tree of another machine can be read instead. *Trials* are real attempts on this machine (a ptrace seize, a BPF
//! load, a uprobe, a preload, a user namespace, an HTTP request); their results are data. *Verdicts* and *cases* are
//! pure functions of facts and trials. If a permission is missing, the result says so; nothing is assumed.
#![forbid(unsafe_code)]

mod answers;
mod cases;
mod catalog;
mod container;
mod device_code;
mod discovery;
mod environment;
mod facts;
mod fix;
mod gpus;
mod groups;
mod host;
mod nvidia;
mod observer;
mod pci;
mod permissions;
mod process;
mod rocm;
mod servers;
mod tracing;
pub mod trials;
mod verdicts;
mod vulkan;

pub use crate::answers::{CaseFound, Examination, ObserverVerdict, Say};
pub use crate::cases::{Case, Weight};
pub use crate::catalog::Catalog;
pub use crate::container::Container;
pub use crate::device_code::{Archives, CodeLibrary, code_of};
pub use crate::discovery::journal as ollama_journal;
pub use crate::environment::{Variable, explain};
pub use crate::facts::Facts;
pub use crate::fix::Fix;
pub use crate::gpus::{Gpu, KfdDevice};
pub use crate::groups::Group;
pub use crate::host::{Host, Look};
pub use crate::nvidia::Nvidia;
pub use crate::observer::HostObserver;
pub use crate::pci::Card;
pub use crate::permissions::Permissions;
pub use crate::process::{Library, Process};
pub use crate::rocm::{Release, Runtime};
pub use crate::servers::Servers;
pub use crate::tracing::{GROUP as PROBE_GROUP, Tracing};
pub use crate::trials::{Answer, Switch, Trial, Trials};
pub use crate::verdicts::{Status, Verdict};
pub use crate::vulkan::{Driver as VulkanDriver, RenderNode, Vulkan};

/// The whole examination.
#[derive(Debug, Clone)]
pub struct Report {
    pub facts: Facts,
    pub trials: Trials,
    pub observers: Vec<Verdict>,
    pub cases: Vec<Case>,
}

impl Report {
    /// Reads the host and makes every trial. `verbs` are the verbs of this build. An observer that the host allows but
    /// that no verb uses is marked accordingly.
    pub fn examine(host: &Host, verbs: &[&str]) -> Report {
        let facts = Facts::read(host);
        let trials = Trials::make(host, &facts);
        Report::judge(facts, trials, verbs)
    }

    /// Verdicts and cases from facts and trials that were already made.
    pub fn judge(facts: Facts, trials: Trials, verbs: &[&str]) -> Report {
        let observers = verdicts::judge(&facts, &trials, verbs);
        let cases = cases::find(&facts);
        Report { facts, trials, observers, cases }
    }
}
