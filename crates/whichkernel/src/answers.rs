//! Every kind of answer that this command gives as JSON, by name. Whoever adds one adds its line here.

use answer::Kind;
use observe::answers as inspected;

pub fn all() -> Vec<Kind> {
    vec![
        Kind::of::<crate::emit::Failure>(),
        Kind::of::<crate::verbs::schema::Kinds>(),
        Kind::of::<certify::Certified<'_>>(),
        Kind::of::<doctor::Examination<'_>>(),
        Kind::of::<dryrun::answers::CardMaps<'_>>(),
        Kind::of::<dryrun::answers::Cards>(),
        Kind::of::<dryrun::answers::ProgramRun<'_>>(),
        Kind::of::<gguf::Shapes>(),
        Kind::of::<gguf::Written>(),
        Kind::of::<export::LakeVerdict>(),
        Kind::of::<investigate::Checked<'_>>(),
        Kind::of::<investigate::Investigated<'_>>(),
        Kind::of::<investigate::Reported<'_>>(),
        Kind::of::<callchain::Chains>(),
        Kind::of::<callchain::RocblasSource>(),
        Kind::of::<dryrun::DispatchMaps<'_>>(),
        Kind::of::<dryrun::RuntimeDiff>(),
        Kind::of::<dryrun::Backends>(),
        Kind::of::<dryrun::VulkanDiff>(),
        Kind::of::<dryrun::VulkanMaps>(),
        Kind::of::<dryrun::VulkanSelection>(),
        Kind::of::<ledger::Listing>(),
        Kind::of::<ledger::Shown>(),
        Kind::of::<ledger::Verdict>(),
        Kind::of::<probe::Answer>(),
        Kind::of::<probe::lanes::Lanes>(),
        Kind::of::<report::Term>(),
        Kind::of::<report::Terms>(),
        Kind::of::<runtime::Findings>(),
        Kind::of::<runtime::Holdings>(),
        Kind::of::<runtime::Index>(),
        Kind::of::<source::Declared>(),
        Kind::of::<source::VulkanDeclared>(),
        Kind::of::<runtime::build::Built>(),
        Kind::of::<source::explain::Explained<'_>>(),
        Kind::of::<watch::Watched>(),
        Kind::of::<source::answers::HistoryAnswer>(),
        Kind::of::<source::answers::SourceDiff>(),
        Kind::of::<source::graph::GraphAnswer>(),
        Kind::of::<inspected::FileAnswer>(),
        Kind::of::<inspected::HasTarget>(),
        Kind::of::<inspected::Kernels>(),
        Kind::of::<inspected::Bundles>(),
        Kind::of::<inspected::LaunchMapAnswer>(),
        Kind::of::<inspected::Modules>(),
        Kind::of::<inspected::Directory>(),
        Kind::of::<inspected::ProcessAnswer>(),
        Kind::of::<inspected::Needed>(),
        Kind::of::<inspected::Fingerprinted>(),
        Kind::of::<inspected::Extracted>(),
        Kind::of::<inspected::CensusAnswer>(),
        Kind::of::<inspected::Has>(),
        Kind::of::<inspected::Listing>(),
        Kind::of::<observe::census::KernelDiff>(),
        Kind::of::<crate::verbs::many::Many>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::all;
    use std::collections::BTreeSet;

    #[test]
    fn one_name_for_one_shape() {
        let names: BTreeSet<&str> = all().iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), all().len(), "two answers share a name");
        for name in names {
            let rest = name.strip_prefix("whichkernel.").and_then(|rest| rest.split_once('/'));
            let plain = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            assert!(rest.is_some_and(|(what, version)| plain(what) && version.parse::<u32>().is_ok()), "{name}");
        }
    }

    #[test]
    fn every_answer_says_what_it_is_and_has_its_schema_first() {
        for kind in all() {
            let schema = kind.schema();
            assert!(!kind.about().is_empty(), "{}: its type has no documentation", kind.name());
            assert_eq!(schema["properties"]["schema"]["const"], kind.name());
            assert_eq!(schema["required"][0], "schema");
        }
    }

    /// Programs compare it with names, not with sentences.
    #[test]
    fn a_rung_is_one_of_six_names_wherever_it_stands() {
        for kind in all() {
            let schema = kind.schema();
            let definitions = schema["$defs"].as_object().into_iter().flatten().map(|(_, one)| one);
            for one in definitions.chain([&schema]) {
                let Some(rung) = one["properties"].get("rung") else { continue };
                let text = rung.to_string();
                assert!(text.contains("#/$defs/Rung"), "{}: rung is {text}", kind.name());
            }
        }
    }
}
