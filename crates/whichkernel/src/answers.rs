//! Every kind of JSON answer of this command, by name. To add one, add its line here, and `BLESS=1 cargo test
//! --workspace schemas` writes its schema.

use answer::Kind;
use observe::answers as inspected;

macro_rules! kinds {
    ($($name:literal => $answer:ty,)*) => {
        pub fn all() -> Vec<Kind> {
            vec![$(Kind::of::<$answer>(include_str!(concat!("../schemas/", $name, ".json"))),)*]
        }

        /// The schemas generated from the types, under their file names.
        #[cfg(test)]
        fn made() -> Vec<(&'static str, serde_json::Value)> {
            vec![$(($name, answer::made::<$answer>()),)*]
        }
    };
}

kinds! {
    "error" => crate::emit::Failure,
    "schema-list" => crate::verbs::schema::Kinds,
    "certificate" => certify::Certified,
    "doctor" => doctor::Examination<'_>,
    "dryrun-map" => dryrun::answers::CardMaps<'_>,
    "dryrun-gpus" => dryrun::answers::Cards,
    "dryrun" => dryrun::answers::ProgramRun<'_>,
    "skeleton-shapes" => gguf::Shapes,
    "skeleton" => gguf::Written,
    "fleet" => export::fleet::FleetAnswer,
    "lake-verify" => export::LakeVerdict,
    "check" => investigate::Checked<'_>,
    "investigate" => investigate::Investigated<'_>,
    "report" => investigate::Reported<'_>,
    "chain" => callchain::Chains,
    "rocblas-source" => callchain::RocblasSource,
    "map" => dryrun::DispatchMaps<'_>,
    "diff-runtime" => dryrun::RuntimeDiff,
    "side-by-side" => dryrun::SideBySide,
    "diff-backends" => dryrun::Backends,
    "diff-vulkan" => dryrun::VulkanDiff,
    "dryrun-vulkan-map" => dryrun::VulkanMaps,
    "dryrun-vulkan" => dryrun::VulkanSelection,
    "ledger-list" => ledger::Listing,
    "ledger-row" => ledger::Shown,
    "ledger-verify" => ledger::Verdict,
    "probe" => probe::Answer,
    "probe-lanes" => probe::lanes::Lanes,
    "term" => report::Term,
    "term-list" => report::Terms,
    "runtime-find" => runtime::Findings,
    "runtime-list" => runtime::Holdings,
    "runtime-index" => runtime::Index,
    "source" => source::Declared,
    "diff-metal" => source::MetalDiff,
    "source-metal" => source::MetalDeclared,
    "source-vulkan" => source::VulkanDeclared,
    "runtime-build" => runtime::build::Built,
    "gemm-diff" => crate::verbs::diff::gemm::GemmDiff,
    "gemm-lint" => crate::verbs::inspect::lint::GemmLint,
    "gemm-map" => crate::verbs::map::gemm::GemmMap,
    "gemm" => crate::asked::gemm::Choices,
    "vllm" => crate::verbs::explain::vllm::WithChanges<'_>,
    "tuning-tables" => vllm::tables::Tuned,
    "triton" => crate::verbs::inspect::triton::TritonCache,
    "vllm-diff" => vllm::RulesDiff,
    "explain" => source::explain::Explained<'_>,
    "explain-choices" => source::choices::Choices,
    "inspect-model" => source::model::ModelAnswer<'_>,
    "inspect-catalog" => findings::answers::CatalogAnswer,
    "watch" => watch::Watched,
    "why" => why::Answer,
    "history" => source::answers::HistoryAnswer,
    "diff" => source::answers::SourceDiff,
    "source-graph" => source::graph::GraphAnswer,
    "inspect" => inspected::FileAnswer,
    "inspect-has-target" => inspected::HasTarget,
    "inspect-kernels" => inspected::Kernels,
    "inspect-bundles" => inspected::Bundles,
    "inspect-launch-map" => inspected::LaunchMapAnswer,
    "inspect-modules" => inspected::Modules,
    "inspect-directory" => inspected::Directory,
    "inspect-process" => inspected::ProcessAnswer,
    "inspect-needed" => inspected::Needed,
    "inspect-fingerprint" => inspected::Fingerprinted,
    "inspect-extract" => inspected::Extracted,
    "isa" => inspected::CensusAnswer,
    "isa-has" => inspected::Has,
    "isa-list" => inspected::Listing,
    "diff-kernel" => observe::census::KernelDiff,
    "many" => crate::verbs::several_inputs::Many,
}

#[cfg(test)]
mod tests {
    use super::{all, made};
    use serde_json::Value;
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

    /// Programs compare rungs by name, not by sentence.
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
    /// One line per definition, so that a change of one definition changes one line.
    fn written(schema: &Value) -> String {
        let lines = |of: &Value, end: &str| {
            let fields = of.as_object().into_iter().flatten();
            let line = |(key, value): (&String, &Value)| match key.as_str() {
                "$defs" => None,
                _ => Some(format!("{}: {value}", Value::from(key.as_str()))),
            };
            fields.filter_map(line).collect::<Vec<_>>().join(end)
        };
        let whole = lines(schema, ",\n");
        match schema.get("$defs") {
            Some(definitions) => format!("{{\n{whole},\n\"$defs\": {{\n{}\n}}}}\n", lines(definitions, ",\n")),
            None => format!("{{\n{whole}\n}}\n"),
        }
    }

    /// The schema files are checked in, so that a change of a type is visible as a change of a file. `BLESS=1` writes
    /// them.
    #[test]
    fn the_schemas_are_what_the_types_say() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let bless = std::env::var_os("BLESS").is_some();
        let mut stale = Vec::new();
        for (name, schema) in made() {
            let (file, text) = (folder.join(name).with_extension("json"), written(&schema));
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema, "{name}");
            if bless {
                std::fs::write(&file, text).unwrap();
            } else if std::fs::read_to_string(&file).unwrap_or_default() != text {
                stale.push(name);
            }
        }
        assert!(stale.is_empty(), "BLESS=1 cargo test --workspace schemas writes them anew: {stale:?}");
        let known: BTreeSet<String> = made().iter().map(|(name, _)| format!("{name}.json")).collect();
        let files = std::fs::read_dir(&folder).unwrap().flatten();
        let files: BTreeSet<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(files, known, "a schema that nobody answers with");
    }

    #[test]
    fn a_schemas_file_has_the_name_of_its_kind() {
        for (kind, (name, _)) in all().iter().zip(made()) {
            assert!(kind.is(name), "{name} is {}", kind.name());
        }
    }
}
