//! All observers: those that `investigate` runs, in this order (cheap and certain ones first), and those of other
//! verbs.

use doctor::{Host, HostObserver};
use dryrun::DryrunObserver;
use observe::Observer;

/// The observers. A new observer adds one line here.
pub fn registry() -> Vec<Box<dyn Observer>> {
    let all: Vec<Box<dyn Observer>> = vec![
        Box::new(HostObserver::new(Host::this())),
        Box::new(observe::declared::DeclaredRules),
        Box::new(observe::declared_tree::DeclaredTree),
        Box::new(observe::shipped::ShippedFiles),
        Box::new(observe::libraries::RuntimeLibraries),
        Box::new(observe::census::Isa),
        Box::new(DryrunObserver),
        Box::new(dryrun::VulkanDryrun),
        Box::new(observe::process::ProcessMaps),
        Box::new(watch::LaunchObserver::PRELOAD),
        Box::new(watch::LaunchObserver::LAYER),
        Box::new(watch::LaunchObserver::LOGS),
        Box::new(watch::LaunchObserver::IMPORTS),
        Box::new(watch::ServerClaims),
        Box::new(certify::Certifier),
        Box::new(probe::ProbeObserver),
    ];
    let probes = uprobe::OBSERVERS.map(|observer| Box::new(observer) as Box<dyn Observer>);
    all.into_iter().chain(probes).collect()
}
