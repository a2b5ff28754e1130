//! Every observer there is, in the order in which `investigate` runs them: cheap and certain first.

use doctor::{Host, HostObserver};
use dryrun::DryrunObserver;
use observe::Observer;

/// A new observer adds one line here.
pub fn registry() -> Vec<Box<dyn Observer>> {
    vec![
        Box::new(HostObserver::new(Host::this())),
        Box::new(observe::declared::DeclaredRules),
        Box::new(observe::shipped::ShippedFiles),
        Box::new(observe::libraries::RuntimeLibraries),
        Box::new(observe::census::Isa),
        Box::new(DryrunObserver),
    ]
}
