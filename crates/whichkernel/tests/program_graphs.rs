//! `dryrun --write-graph` and `source --graph`: the graphs that the real llama.cpp computed, of any architecture that
//! it loads, and the prediction of all their launches from source.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const TREE: &str = "llama-cpp-sys-2-0.1.160";

fn whichkernel(words: &[&str], home: &Path) -> (Value, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let done = command.args(words).env("WHICHKERNEL_CACHE", test_artifacts::cache()).current_dir(home).output();
    let done = done.expect("runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (serde_json::from_slice(&done.stdout).unwrap_or_default(), said, done.status.code())
}

/// One model on one GPU, with the counts of every graph, the prompt's first: `SHAPE TYPE GPU [OPTIONS]: seen = exact +
/// unknown template argument + unknown grid + open`.
fn told(tree: &str, library: &str, home: &Path, model: &str) -> String {
    let words: Vec<&str> = model.split(' ').collect();
    let &[shape, ty, gpu, ref options @ ..] = words.as_slice() else { panic!("{model}") };
    let (file, trace, graph) = (format!("{shape}-{ty}.gguf"), format!("{shape}.jsonl"), format!("{shape}.txt"));
    if !home.join(&file).exists() {
        let (_, said, code) = whichkernel(&["skeleton", shape, "--type", ty, "--no-words", "-o", &file], home);
        assert_eq!(code, Some(0), "{said}");
    }
    let run = ["dryrun", "--runtime", "debian-sid", "--gpu", gpu, "--trace", &trace, "--write-graph", &graph, "--"];
    let bench = ["llama-bench", "-m", &file, "-p", "512", "-n", "1", "-r", "1", "--no-warmup"];
    let (_, said, code) = whichkernel(&[&run[..], &bench, options].concat(), home);
    assert_eq!(code, Some(0), "{model}: {said}");
    let asked = ["source", tree, "--graph", &graph, "--gpu", gpu, "--code", library, "--against", &trace];
    let (answer, said, _) = whichkernel(&[&asked[..], &["--format", "json"]].concat(), home);
    assert!(answer["nodes_from"].as_str().is_some_and(|from| from.contains("computed with ggml")), "{model}: {said}");
    assert_eq!(answer["memory"], "as the program allocated its tensors");
    let count = |of: &Value| of.as_u64().unwrap_or(u64::MAX);
    // If the program read anything back, so does the tree's code, copy by copy; and the answer says that it depends on
    // that.
    let reads = |evaluation: &Value| {
        evaluation.get("read_back").map_or([0; 2], |it| ["given", "used"].map(|of| count(&it[of])))
    };
    let reads: Vec<[u64; 2]> = answer["evaluations"].as_array().expect("evaluations").iter().map(reads).collect();
    assert!(reads.iter().all(|[given, used]| given == used), "{model}: {reads:?}");
    let told = answer["routing"].as_str().is_some_and(|routing| routing.contains("as the program read it back"));
    assert_eq!(told, reads.iter().any(|[given, _]| *given > 0), "{model}: {reads:?}");
    // Every launch of the run was compared, or is counted as not compared. The last line is the trace's end.
    let launched = std::fs::read_to_string(home.join(&trace)).expect("a trace").lines().count() as u64 - 1;
    let held: u64 =
        answer["evaluations"].as_array().expect("evaluations").iter().map(|it| count(&it["compared"]["seen"])).sum();
    assert_eq!(held + count(&answer["not_compared"]), launched, "{model}");
    let counts = answer["evaluations"].as_array().expect("evaluations").iter().map(|evaluation| {
        let compared = &evaluation["compared"];
        assert_eq!(compared["different"], Value::Array(Vec::new()), "{model}");
        let open = compared["not_predicted"].as_array().expect("a list").len();
        let keys = ["seen", "exact", "without_arguments", "without_grid"];
        let [seen, exact, named, without] = keys.map(|key| count(&compared[key]));
        // The answer is "complete" exactly if every launch that was seen was predicted.
        let whole = evaluation["whole"]["says"] == "complete";
        assert_eq!(whole, exact + named == seen, "{model}: {}", evaluation["whole"]);
        // The conclusion "same" covers those whose template arguments are all known.
        assert_eq!(count(&evaluation["agrees"]["answered"]), exact, "{model}: {}", evaluation["agrees"]);
        format!("{seen} = {exact} + {named} + {without} + {open}")
    });
    format!("{model}: {}", counts.collect::<Vec<_>>().join(", "))
}

#[test]
fn graphs_of_the_real_program_are_predicted_launch_by_launch() {
    let Some(tree) = test_artifacts::need(TREE) else { return };
    let backend = "root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so";
    let Some(library) = test_artifacts::file("debian-sid", backend) else { return };
    let (tree, library) = (tree.display().to_string(), library.display().to_string());
    let home = tempfile::tempdir().expect("a directory");
    let all: Vec<String> = EXPECTED
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(model, _)| told(&tree, &library, home.path(), model))
        .collect();
    assert_eq!(all, EXPECTED);
}

#[test]
fn a_run_without_a_graph_is_said_behind_what_the_program_did() {
    if test_artifacts::need("debian-sid").is_none() {
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let run = ["dryrun", "--runtime", "debian-sid", "--gpu", "gfx1100", "--write-graph", "g.txt", "--", "llama-bench"];
    let (_, said, code) = whichkernel(&[&run[..], &["-m", "nothing.gguf"]].concat(), home.path());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no graph was written: the program did not call"), "{said}");
    assert!(said.contains("failed to load model"), "{said}");
}

const EXPECTED: [&str; 18] = [
    "gemma-3-1b Q4_K gfx1100: 56 = 56 + 0 + 0 + 0, 53 = 53 + 0 + 0 + 0",
    "gemma-3-4b Q6_K gfx1030: 56 = 56 + 0 + 0 + 0, 53 = 53 + 0 + 0 + 0",
    "gpt-oss-20b MXFP4_MOE gfx1100: 77 = 75 + 2 + 0 + 0, 59 = 57 + 2 + 0 + 0",
    "gpt-oss-20b MXFP4_MOE gfx90a: 116 = 114 + 2 + 0 + 0, 59 = 57 + 2 + 0 + 0",
    "deepseek-v2-lite Q4_K_M gfx90a: 80 = 80 + 0 + 0 + 0, 62 = 62 + 0 + 0 + 0",
    "deepseek-r1 Q4_K gfx1100: 71 = 70 + 0 + 1 + 0, 66 = 65 + 0 + 1 + 0",
    "qwen1.5-moe-a2.7b Q4_K_M gfx1100: 90 = 86 + 4 + 0 + 0, 72 = 68 + 4 + 0 + 0",
    "qwen3-30b-a3b BF16 gfx1100: 315 = 313 + 2 + 0 + 0, 39 = 39 + 0 + 0 + 0",
    "mixtral-8x7b Q4_K gfx90a: 136 = 136 + 0 + 0 + 0, 52 = 52 + 0 + 0 + 0",
    "llama-3.1-8b IQ4_XS gfx1030: 49 = 49 + 0 + 0 + 0, 44 = 44 + 0 + 0 + 0",
    "llama-3.1-8b Q4_K_M gfx1100 -fa 0: 65 = 65 + 0 + 0 + 0, 46 = 46 + 0 + 0 + 0",
    "gpt-oss-20b MXFP4_MOE gfx1030 -fa 0: 91 = 89 + 2 + 0 + 0, 61 = 59 + 2 + 0 + 0",
    "gemma-3-1b Q4_K gfx90a -ctk q8_0 -ctv q8_0 -fa 1: 79 = 75 + 4 + 0 + 0, 59 = 55 + 4 + 0 + 0",
    "gemma-2-2b Q4_K gfx1100: 57 = 57 + 0 + 0 + 0, 54 = 54 + 0 + 0 + 0",
    "phi-3-mini Q4_K gfx1030: 42 = 42 + 0 + 0 + 0, 40 = 40 + 0 + 0 + 0",
    "mamba2-2.7b Q4_K gfx1100: 41 = 41 + 0 + 0 + 0, 40 = 40 + 0 + 0 + 0",
    "mamba2-2.7b F16 gfx90a: 40 = 40 + 0 + 0 + 0, 35 = 35 + 0 + 0 + 0",
    // Micro-batches: all but the last have an output without rows.
    "llama-3.1-8b Q4_K_M gfx1100 -ub 128 -p 300: 38 = 38 + 0 + 0 + 0, 38 = 38 + 0 + 0 + 0, 49 = 49 + 0 + 0 + 0, 38 = 38 + 0 + 0 + 0, 49 = 49 + 0 + 0 + 0, 44 = 44 + 0 + 0 + 0",
];
