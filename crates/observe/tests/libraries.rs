//! The observer of libraries and catalogs on a real runtime: the field notes' questions, answered for Debian's.

use evidence::{Finding, Scope, Value};
use observe::libraries::RuntimeLibraries;
use observe::{ObserveContext, Observer, Sighting};

fn facts<'s>(seen: &'s [Sighting], topic: &str) -> Vec<(String, &'s Value)> {
    seen.iter()
        .filter_map(|sighting| match sighting.observation.finding() {
            Finding::Saw(fact) if fact.topic == topic => Some((fact.about.to_string(), &fact.value)),
            _ => None,
        })
        .collect()
}

#[test]
fn chains_and_catalogs_of_debian() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let around = ObserveContext {
        scope: Scope { target: Some("gfx900".to_owned()), ..Scope::default() },
        time: ledger::now(),
        ..ObserveContext::default()
    };
    let mut seen = RuntimeLibraries.observe(&around, &mut |_| ()).unwrap();
    // The cache may hold other runtimes too.
    seen.retain(|sighting| sighting.observation.subject().runtime.as_deref() == Some("debian-sid"));
    let needs = facts(&seen, "library.needs");
    for edge in ["from=libggml-hip.so to=libhipblas.so.2", "from=libhipblas.so.2 to=librocblas.so.4"] {
        assert!(needs.iter().any(|(about, value)| about == edge && **value == Value::Bool(true)), "{edge}");
    }
    let chains = facts(&seen, "library.chain");
    let (_, chain) = chains.iter().find(|(about, _)| about == "name=libggml-hip.so").expect("ggml's chain");
    let Value::List(names) = chain else { panic!("{chain:?}") };
    assert!(names.contains(&Value::Text("libhsa-runtime64.so.1".to_owned())), "{names:?}");
    let files = facts(&seen, "catalog.file");
    assert!(files.iter().any(|(about, _)| about == "library=rocblas name=Kernels.so-000-gfx900.hsaco"));
    assert!(facts(&seen, "catalog.serves").iter().any(|(_, value)| **value == Value::Text("yes".to_owned())));
    assert!(seen.iter().any(|sighting| matches!(sighting.observation.finding(), Finding::Swept)));
}
