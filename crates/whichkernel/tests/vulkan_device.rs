//! `--vulkan-device`: a card described by vulkaninfo, for every command that uses a Vulkan card; invalid files, and
//! cards that cannot be simulated.

use std::process::{Command, Output};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../source/tests/data/vulkaninfo");

fn run(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.args(words).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8").output().expect("a run")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Every verb that accepts a card file, called with this one.
fn verbs<'a>(file: &'a str, tree: &'a str) -> [Vec<&'a str>; 5] {
    let small = ["--runtime", tree, "--type", "Q4_K", "--columns", "9"];
    let with = |words: &[&'a str]| [words, &small].concat();
    [
        with(&["map", "--backend", "vulkan", "--vulkan-device", file]),
        with(&["dryrun", "--backend", "vulkan", "--vulkan-device", file]),
        with(&["diff", "navi21", file, "--backend", "vulkan"]),
        with(&["diff", "rocm", "vulkan", "--vulkan-device", file]),
        with(&["explain", "--backend", "both", "--vulkan-device", file]),
    ]
}

#[test]
fn what_is_no_such_file_or_no_card_that_is_played_is_refused_by_every_verb() {
    let Some(tree) = test_artifacts::need("debian-sid-vulkan") else { return };
    let (tree, home) = (tree.display().to_string(), tempfile::tempdir().expect("a directory"));
    let real = std::fs::read_to_string(format!("{FILES}/navi21.json")).expect("kept");
    let half: String = real.chars().take(5000).collect();
    for (name, text, wanted) in [
        ("empty.json", "", "not JSON"),
        ("half.json", half.as_str(), "not JSON"),
        ("foreign.json", "{\"a\": 1}", "not output of `vulkaninfo --json`"),
        ("vendor.json", &real.replace("\"vendorID\":4098", "\"vendorID\":4318"), "0x10de"),
        (
            "chip.json",
            &real.replace("NAVI21", "GFX1151").replace(
                "\"properties\":{",
                "\"properties\":{\"VkPhysicalDeviceShaderCorePropertiesAMD\":{\"wavefrontsPerSimd\":16},",
            ),
            "not a card that Mesa's stand-in supports",
        ),
        (
            "less.json",
            &real.replace("VK_KHR_shader_integer_dot_product", "VK_KHR_other"),
            "reports no integer dot products",
        ),
    ] {
        let path = home.path().join(name);
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        for words in verbs(&path, &tree) {
            let done = run(&words);
            assert!(done.status.code() == Some(2) && said(&done).contains(wanted), "{words:?}: {}", said(&done));
            assert!(done.stdout.is_empty(), "{words:?}: {}", said(&done));
        }
    }
    // HIP would ignore the file.
    for verb in ["map", "dryrun"] {
        let done = run(&[verb, "--vulkan-device", &format!("{FILES}/navi21.json")]);
        assert!(done.status.code() == Some(2) && said(&done).contains("--backend vulkan"), "{}", said(&done));
    }
}

#[test]
fn a_card_that_is_played_gets_the_answer_of_its_name() {
    let Some(tree) = test_artifacts::need("debian-sid-vulkan") else { return };
    let (tree, file) = (tree.display().to_string(), format!("{FILES}/navi21.json"));
    let [map, _, diff, ..] = verbs(&file, &tree);
    let done = run(&diff);
    assert!(done.status.success() && said(&done).contains("The same in the only cell"), "{}", said(&done));
    let done = run(&map);
    assert!(done.status.success() && said(&done).contains("RADV NAVI21"), "{}", said(&done));
}
