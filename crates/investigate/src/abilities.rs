//! What this build could observe: the observers of `investigate`, and the verbs that record with `--record`.
//!
//! A claim that nobody has tried says so; one that nothing here could see says that instead.

use evidence::{Ability, FieldOfView, Rung, View};

/// Verb, rung, topics. A verb counts where this build has it.
const RECORDERS: &[(&str, Rung, &[&str])] = &[
    ("source", Rung::Declared, &["matmul.*", "flash-attn.*", "source.*", "gpu.generation", "gpu.target"]),
    (
        "inspect",
        Rung::Shipped,
        &["file.*", "bundle.*", "kernel", "kernel.*", "catalog.*", "library", "library.*", "runtime.rocm-release"],
    ),
    ("inspect", Rung::Loaded, &["library", "library.*"]),
    ("isa", Rung::Shipped, &["isa.*"]),
    ("dryrun", Rung::Selected, &["matmul.*", "flash-attn.*", "blas.*", "kernel"]),
    ("watch", Rung::Launched, &["matmul.*", "flash-attn.*", "blas.*", "kernel", "library"]),
    ("watch", Rung::Completed, &["matmul.kernel", "kernel"]),
    ("watch", Rung::Loaded, &["observer.effect", "observer.sees", "blas.log", "server.log"]),
    ("probe", Rung::Loaded, &["probe.response", "server.timing", "server.log"]),
];

pub fn abilities(verbs: &[String]) -> Vec<Ability> {
    let observers = crate::registry().into_iter().flat_map(|observer| {
        let name = observer.name().to_owned();
        observer.field_of_view().into_iter().map(move |(rung, view)| Ability { observer: name.clone(), rung, view })
    });
    let recorders = RECORDERS.iter().filter(|(verb, ..)| verbs.iter().any(|known| known == verb));
    let recorders = recorders.map(|(verb, rung, topics)| Ability {
        observer: format!("whichkernel {verb} --record"),
        rung: *rung,
        view: FieldOfView::new(topics.iter().map(|topic| View::new(*topic)).collect()),
    });
    observers.chain(recorders).collect()
}
