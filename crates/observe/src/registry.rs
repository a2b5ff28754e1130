//! Every observer there is, in the order in which `investigate` runs them: cheap and certain first.

use crate::Observer;
use crate::doctor::{Host, HostObserver};
use crate::dryrun::DryrunObserver;

/// A new observer adds one line here.
pub fn registry() -> Vec<Box<dyn Observer>> {
    vec![
        Box::new(HostObserver::new(Host::this())),
        Box::new(crate::rules::DeclaredRules),
        Box::new(crate::shipped::ShippedFiles),
        Box::new(crate::libraries::RuntimeLibraries),
        Box::new(crate::census::Isa),
        Box::new(DryrunObserver),
    ]
}
