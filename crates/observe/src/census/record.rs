//! The census as observations: counts per target or bundle, and one sweep from which absence can be concluded.

use evidence::{
    About, Canary, Coverage, Fact, FieldOfView, Finding, Observation, ObserverId, Refused, Shipped, Subject, Witness,
};
use findings::census::Question;
use findings::census::{By, Groups};
use isa::Family;
use isa::census::Tally;
use say::{key, say};
use std::collections::BTreeSet;

pub const TOPIC: &str = "isa.count";

/// Families whose absence is recorded explicitly, in addition to those that are there.
const ASKED: [Family; 6] = [Family::Fma, Family::Dot, Family::Mfma, Family::Smfmac, Family::Wmma, Family::Swmmac];

/// Prefixes of mnemonics by which users count.
const PREFIXES: [&str; 16] = [
    "v_fma",
    "v_fmac",
    "v_mad",
    "v_dot",
    "v_mfma",
    "v_smfmac",
    "v_wmma",
    "v_swmmac",
    "v_pk_fma",
    "v_cvt",
    "global_load",
    "global_store",
    "buffer_load",
    "buffer_store",
    "ds_",
    "s_waitcnt",
];

/// Every observation of one file, all with the same time. The last of each target is the sweep.
pub fn observations(
    groups: &Groups,
    file: &Subject,
    observer: &ObserverId,
    time: &str,
) -> Result<Vec<Observation>, Refused> {
    let mut all = Vec::new();
    let targets: BTreeSet<&str> = groups.groups.keys().map(|key| key.target.as_str()).collect();
    for target in targets {
        let subject = file.clone().target(target);
        let coverage = coverage(groups, target);
        let see = |fact: Fact| {
            Observation::on::<Shipped>(observer.clone(), subject.clone(), Finding::Saw(fact), coverage.clone(), time)
        };
        for (key, group) in groups.groups.iter().filter(|(key, _)| key.target == target) {
            let mut about = Vec::new();
            about.extend(key.bundle.filter(|_| groups.by != By::Target).map(|bundle| ("bundle", bundle.to_string())));
            about.extend(group.facts.as_ref().map(|facts| ("kernel", facts.name.clone())));
            for (what, name, count) in counts(&group.sum.tally()) {
                let about = About::new(about.iter().cloned().chain([(what, name)]));
                let fact = if coverage.is_complete() {
                    Fact::new(TOPIC, about, count)
                } else {
                    Fact::at_least(TOPIC, about, count)
                };
                all.push(see(fact)?);
            }
        }
        let swept =
            Observation::on::<Shipped>(observer.clone(), subject.clone(), Finding::Swept, coverage.clone(), time)?;
        let reach = say!("view-isa");
        let view = FieldOfView::topic(TOPIC)
            .reach(reach)
            .blind(key!("view-isa-blind-run-time"))
            .blind(key!("view-isa-blind-launch"));
        all.push(swept.view(view).canary(canary(groups)));
    }
    Ok(all)
}

/// Every kernel ends: a decoder that had lost alignment would not find an `s_endpgm` in each.
fn canary(groups: &Groups) -> Canary {
    if groups.ending == 0 {
        return Canary::None;
    }
    Canary::in_target(say!("canary-kernel-ends", ending = groups.ending, kernels = groups.kernels))
}

fn coverage(groups: &Groups, target: &str) -> Coverage {
    let mine = groups.groups.iter().filter(|(key, _)| key.target == target);
    let bytes: u64 = mine.map(|(_, group)| group.code).sum();
    let undecoded = groups.undecoded.iter().filter(|place| place.target == target);
    let mut coverage = Coverage::complete("bytes", bytes);
    if groups.stated == groups.walked {
        coverage = coverage.account(Witness::SymbolSizes);
    }
    let mut lost = 0;
    for place in undecoded {
        lost += 4;
        coverage = coverage.missing(format!("{:#x}", place.address), say!("missed-no-instruction"));
    }
    for place in groups.cut.iter().filter(|place| place.target == target) {
        coverage = coverage.missing(format!("{:#x}", place.address), say!("missed-cut-off"));
    }
    for unread in &groups.unread {
        coverage = coverage.missing(unread.what.clone(), unread.why.clone());
    }
    coverage.seen = bytes.saturating_sub(lost);
    coverage
}

fn counts(tally: &Tally) -> Vec<(&'static str, String, u64)> {
    let there: Vec<(Family, u64)> = tally.families();
    let mut all: Vec<(&'static str, String, u64)> =
        there.iter().map(|(family, count)| ("family", family.key().to_owned(), *count)).collect();
    let absent = ASKED.iter().filter(|family| there.iter().all(|(other, _)| other != *family));
    all.extend(absent.map(|family| ("family", family.key().to_owned(), 0)));
    for prefix in PREFIXES {
        let question = Question::Prefix(prefix.to_owned());
        all.push(("prefix", prefix.to_owned(), tally.count(|mnemonic| question.matches(mnemonic))));
    }
    all
}
