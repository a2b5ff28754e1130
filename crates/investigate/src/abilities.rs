//! Lists the observations that this build can make: the field of view of each registered observer, used directly or
//! through a verb that records.
//!
//! A claim that was not attempted is reported as not attempted. A claim that no observer of this build can check is
//! reported as not in view.

use evidence::{Ability, Looker};

pub fn abilities(verbs: &[String]) -> Vec<Ability> {
    let known = |verb: &str| verbs.iter().any(|known| known == verb);
    let observers = crate::registry().into_iter().filter(|observer| observer.verb().is_none_or(known));
    let observers = observers.flat_map(|observer| {
        let itself = || Looker::Itself(observer.name().to_owned());
        let looker = observer.verb().map_or_else(itself, |verb| Looker::Verb(verb.to_owned()));
        observer.field_of_view().into_iter().map(move |(rung, view)| Ability { looker: looker.clone(), rung, view })
    });
    let mut all: Vec<Ability> = Vec::new();
    for ability in observers {
        // One verb may have several observers with the same field of view.
        let same = |other: &Ability| {
            (&other.looker, other.rung, &other.view.views) == (&ability.looker, ability.rung, &ability.view.views)
        };
        if !all.iter().any(same) {
            all.push(ability);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{About, Rung};

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
