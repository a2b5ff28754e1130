//! What this build could observe: what each observer of the registry has in view, itself or through a verb that records.
//!
//! A claim that nobody has tried says so; one that nothing here could see says that instead.

use evidence::{Ability, FieldOfView, Rung, View};

/// Verbs whose observations no observer of the registry makes yet: verb, rung, topics. A verb counts where this build has it.
const RECORDERS: &[(&str, Rung, &[&str])] = &[(
    "source",
    Rung::Declared,
    &[
        "matmul.*",
        "source.chain",
        "source.remap",
        "source.split-mode",
        "source.split-request",
        "source.enum",
        "source.lines",
        "source.branch",
    ],
)];

pub fn abilities(verbs: &[String]) -> Vec<Ability> {
    let known = |verb: &str| verbs.iter().any(|known| known == verb);
    let observers = crate::registry().into_iter().filter(|observer| observer.verb().is_none_or(known));
    let observers = observers.flat_map(|observer| {
        let name = observer.verb().map_or_else(|| observer.name().to_owned(), recorder);
        observer.field_of_view().into_iter().map(move |(rung, view)| Ability { observer: name.clone(), rung, view })
    });
    let recorders = RECORDERS.iter().filter(|(verb, ..)| known(verb)).map(|(verb, rung, topics)| Ability {
        observer: recorder(verb),
        rung: *rung,
        view: FieldOfView::new(topics.iter().map(|topic| View::new(*topic)).collect()),
    });
    let mut all: Vec<Ability> = Vec::new();
    for ability in observers.chain(recorders) {
        // One verb may look in several ways that have the same in view.
        let same = |other: &Ability| {
            (&other.observer, other.rung, &other.view.views) == (&ability.observer, ability.rung, &ability.view.views)
        };
        if !all.iter().any(same) {
            all.push(ability);
        }
    }
    all
}

fn recorder(verb: &str) -> String {
    format!("whichkernel {verb} --record")
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::About;

    #[test]
    fn what_a_verb_could_close_is_what_its_observers_have_in_view() {
        let with = |verbs: &[&str]| abilities(&verbs.iter().map(|verb| (*verb).to_owned()).collect::<Vec<_>>());
        let sees = |list: &[Ability], rung: Rung, topic: &str| {
            list.iter().any(|able| able.rung == rung && able.view.covers(topic, &About::default()))
        };
        let (none, watch) = (with(&[]), with(&["watch"]));
        assert!(!sees(&none, Rung::Launched, "kernel"), "a build without the verb");
        assert!(sees(&watch, Rung::Launched, "kernel") && sees(&watch, Rung::Completed, "kernel"));
        assert!(sees(&watch, Rung::Launched, "certificate"));
        assert!(!sees(&watch, Rung::Loaded, "observer.effect"), "nobody makes such an observation");
        let mut names: Vec<&str> = crate::registry().iter().map(|observer| observer.name()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "each signs with a name of its own");
    }
}
