//! Tests the real loader, ggml, RADV and its compiler on simulated cards.

use dryrun::{
    Backends, Blas, Card, Ending, Map, Plan, RunRoot, Streams, Survey, VulkanCard, VulkanDiff, VulkanMap,
    VulkanOutcome, VulkanRecord, VulkanRequest, VulkanSelection, VulkanSurvey, vulkan_library, vulkan_steps,
};
use evidence::Says;
use gguf::TensorType;
use std::ffi::OsString;
use std::path::Path;

struct Stage {
    place: RunRoot,
    home: tempfile::TempDir,
}

impl Stage {
    fn new() -> Option<Stage> {
        let tree = test_artifacts::need("debian-sid-vulkan")?;
        let place = RunRoot::find(tree.to_str().expect("a plain path")).expect("a tree");
        Some(Stage { place, home: tempfile::tempdir().expect("a directory") })
    }

    fn run(&self, card: &str, kind: &str, more: &[&str]) -> VulkanOutcome {
        let shape = gguf::known("llama-3.2-1b").expect("known");
        let kind = TensorType::parse(kind).expect("known");
        let skeleton = gguf::skeleton(&shape, kind, 1, false).expect("a skeleton");
        let model = self.home.path().join("m.gguf");
        std::fs::write(&model, &skeleton.header).expect("written");
        let file = std::fs::OpenOptions::new().write(true).open(&model).expect("there");
        file.set_len(skeleton.file_size).expect("sparse");
        let mut command: Vec<OsString> = ["llama-bench", "-m"].map(OsString::from).to_vec();
        command.push(model.clone().into());
        command.extend(["-r", "1", "--no-warmup", "-t", "1"].map(OsString::from));
        command.extend(more.iter().map(OsString::from));
        let request = VulkanRequest {
            place: &self.place,
            card: VulkanCard::find(card).expect("played"),
            command: &command,
            show: &[self.home.path().to_owned()],
            streams: Streams::Captured,
            sparse_read: true,
            code: true,
        };
        request.run().expect("a run")
    }

    fn survey(&self, card: &str, shape: &str, kinds: &[&str], columns: &[u64]) -> VulkanMap {
        let card = VulkanCard::find(card).expect("played");
        let shape = gguf::known(shape).expect("known");
        let kinds: Vec<TensorType> = kinds.iter().map(|kind| TensorType::parse(kind).expect("known")).collect();
        let survey = VulkanSurvey { place: &self.place, card, shape, layers: 2 };
        survey.run(&kinds, columns, &|_| {}).expect("a map")
    }
}

fn kernel(answer: &VulkanSelection, kind: &str, columns: u32) -> String {
    let of = |row: &&dryrun::VulkanRow| row.kind.as_deref() == Some(kind) && row.columns == Some(columns);
    answer.selected.iter().find(of).map(|row| row.kernel.clone()).unwrap_or_default()
}

/// The same types and column counts use different kernels on different generations: half-precision matrices on gfx1201,
/// byte matrices on gfx1100, integer dot products on gfx1030.
#[test]
fn each_generation_gets_kernels_of_its_own() {
    let Some(stage) = Stage::new() else { return };
    for (card, wide, feature, mnemonic) in [
        ("rx-9070-xt", "matmul_quant_f16_f16acc", "matrix", "v_wmma_f16_16x16x16_f16"),
        ("navi31", "matmul_q4_k_q8_1", "matrix", "v_wmma_i32_16x16x16_iu8"),
        ("navi21", "matmul_q4_k_q8_1", "dot", "v_dot4_i32_i8"),
    ] {
        let outcome = stage.run(card, "Q4_K", &["-p", "64", "-n", "1"]);
        let answer = VulkanSelection::of(&outcome, VulkanCard::find(card).expect("played"), "sid".into());
        assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
        assert!(answer.is_whole() && answer.driver.as_deref().is_some_and(|of| of.starts_with("radv")), "{answer:?}");
        let target = answer.target.to_uppercase();
        let named =
            [card.to_uppercase(), target].iter().any(|name| answer.device.as_deref().unwrap_or("").contains(name));
        assert!(named, "{card}: {:?}", answer.device);
        assert!(kernel(&answer, "Q4_K", 64).starts_with(wide), "{card}: {:#?}", answer.selected);
        assert!(kernel(&answer, "Q4_K", 1).starts_with("mul_mat_vec_q4_k"), "{card}");
        let row = answer.selected.iter().find(|row| row.kernel.starts_with(wide)).expect("selected");
        assert!(row.features.iter().any(|name| name == feature), "{card}: {row:?}");
        let code = row.code.as_ref().expect("the driver was asked");
        let counted = code.matrix.get(mnemonic).or(code.dot.get(mnemonic)).copied().unwrap_or(0);
        assert!(counted > 0 && code.vgprs > Some(0) && code.instructions > counted, "{card}: {code:?}");
    }
}

/// ggml silently computes on the CPU. The answer must then not name a kernel of the card.
#[test]
fn what_ran_on_the_processor_names_no_kernel() {
    let Some(stage) = Stage::new() else { return };
    let outcome = stage.run("gfx1201", "Q4_K", &["-p", "8", "-n", "0", "-dev", "none", "-ngl", "0"]);
    let answer = VulkanSelection::of(&outcome, VulkanCard::find("gfx1201").expect("played"), "sid".into());
    assert_eq!((outcome.ending, answer.seen), (Ending::Code(0), 0), "{}", outcome.said);
    assert!(!answer.is_whole() && answer.device.is_none() && answer.selected.is_empty());
    assert_ne!(*answer.reach.says(), Says::Complete, "that nothing came is not that all of it was seen");
}

/// The stand-in has 4 GiB, and a model of 7B shape in F32 needs more.
#[test]
fn a_model_that_is_larger_than_the_stand_in_is_answered() {
    let Some(stage) = Stage::new() else { return };
    let map = stage.survey("gfx1201", "qwen2-7b", &["F32"], &[1, 64]);
    assert!(map.is_answered(), "{:?}", map.cells);
}

#[test]
fn a_program_that_fails_is_no_whole_answer() {
    let Some(stage) = Stage::new() else { return };
    let outcome = stage.run("gfx1201", "Q4_K", &["-p", "8", "--no-such-flag"]);
    let answer = VulkanSelection::of(&outcome, VulkanCard::find("gfx1201").expect("played"), "sid".into());
    assert!(matches!(outcome.ending, Ending::Code(code) if code != 0));
    assert!(!answer.is_whole());
}

#[test]
fn a_place_without_radv_is_refused_with_the_way_to_it() {
    let here = RunRoot::Directory { path: Path::new("/").to_owned() };
    let request = VulkanRequest {
        place: &here,
        card: VulkanCard::find("gfx1201").expect("played"),
        command: &["true".into()],
        show: &[],
        streams: Streams::Captured,
        sparse_read: false,
        code: false,
    };
    let error = request.run().expect_err("refused").to_string();
    assert!(error.contains("runtime fetch debian-sid --parts tools,vulkan"), "{error}");
}

/// Each length is a separate pass. The single column of the last block occurs at every length, so it is not the answer
/// for any of them.
#[test]
fn a_grid_has_a_cell_for_each_type_and_length() {
    let Some(stage) = Stage::new() else { return };
    let map = stage.survey("gfx1201", "llama-3.2-1b", &["Q4_K", "Q8_0"], &[1, 9, 290]);
    let labels: Vec<(&str, u64, &str)> =
        map.cells.iter().map(|cell| (cell.kind.as_str(), cell.columns, cell.label.as_str())).collect();
    let wanted = [
        ("Q4_K", 1, "vec-q8_1_f32+dot"),
        ("Q4_K", 9, "mm-f16_f16acc_aligned_0+matrix"),
        ("Q4_K", 290, "mm-f16_f16acc_aligned_2+matrix"),
    ];
    assert_eq!(labels.get(..3), Some(&wanted[..]), "{labels:?}");
    assert_eq!(labels.len(), 6);
    assert!(labels.iter().filter(|(kind, ..)| *kind == "Q8_0").all(|(_, _, label)| !["-", "!"].contains(label)));
    assert!(map.is_answered() && *map.reach().says() == Says::Complete && map.reach().is_whole());
    // The sizes are those of the model: width 2048, feed-forward 8192.
    let wide = map.cells.iter().find(|cell| cell.kind == "Q4_K" && cell.columns == 290).expect("asked");
    let sizes: Vec<[u32; 3]> = wide.products().flat_map(|row| row.sizes.clone()).collect();
    assert!(sizes.contains(&[8192, 290, 2048]) && sizes.contains(&[512, 290, 2048]), "{sizes:?}");
    let library = vulkan_library(&stage.place).expect("there");
    let record = VulkanRecord {
        place: &stage.place,
        card: map.card,
        driver: map.driver.as_deref().expect("named"),
        model: "llama-3.2-1b",
        time: "2026-11-16T00:00:00Z",
        library,
    };
    let kept = record.survey(&map.cells).expect("recorded");
    let text: Vec<String> = kept.iter().map(|one| serde_json::to_string(&one.observation).expect("json")).collect();
    let has = |words: &[&str]| text.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(&["vulkan.pipeline", "matmul_quant_f16_f16acc_aligned_2", "290", "libggml-vulkan.so"]), "{text:#?}");
    assert!(has(&["vulkan.driver", "radv Mesa"]) && text.iter().all(|line| line.contains("selected")));
    // A map does not differ from itself. A card without matrix units differs in every cell with many columns.
    let same = VulkanDiff::of(("a", &map), ("b", &map), "sid".into());
    assert!(same.differences.is_empty() && same.conclusion.is_whole());
    let other = stage.survey("navi10", "llama-3.2-1b", &["Q4_K", "Q8_0"], &[1, 9, 290]);
    let diff = VulkanDiff::of(("a", &map), ("b", &other), "sid".into());
    assert!(matches!(diff.conclusion.says(), Says::Different { .. }) && diff.differences.len() >= 4, "{diff:?}");
}

/// Lists select experts. Routing and attention must not be confused with the experts' weights.
#[test]
fn experts_have_a_cell_at_the_columns_of_their_layer() {
    let Some(stage) = Stage::new() else { return };
    let map = stage.survey("gfx1201", "qwen3-30b-a3b", &["Q4_K"], &[1, 64]);
    for cell in &map.cells {
        let experts: Vec<&str> = cell.products().filter(|row| row.by_id).map(|row| row.kernel.as_str()).collect();
        let wanted = if cell.columns == 1 { "mul_mat_vec_id_q4_k" } else { "matmul_id" };
        assert!(!experts.is_empty() && experts.iter().all(|name| name.starts_with(wanted)), "{cell:#?}");
    }
    assert!(map.is_answered());
}

/// Every dispatch keeps its position, its groups and all push constants.
#[test]
fn a_trace_leaves_nothing_out() {
    let Some(stage) = Stage::new() else { return };
    let outcome = stage.run("navi21", "Q8_0", &["-p", "64", "-n", "0"]);
    let steps = vulkan_steps(&outcome);
    assert_eq!(steps.len(), outcome.dispatches());
    assert!(steps.iter().enumerate().all(|(place, step)| step.seq == place && step.groups.is_some()));
    let product = steps.iter().find(|step| step.node == Some("MUL_MAT Qcur-0") && step.m.is_some()).expect("a node");
    // M, N and K are its first three push constants, in the byte order of the machine.
    assert_eq!((product.m, product.n, product.k), (Some(2048), Some(64), Some(2048)), "{product:?}");
    assert!(product.push.starts_with("000800004000000000080000"), "{product:?}");
    assert!(steps.last().is_some_and(|step| step.node.is_some_and(|node| node.contains("result_output"))));
}

/// Compares HIP's tile kernel with RADV's for the same product on the same card, each with facts about its own code. If
/// the HIP library has no code for the target, registers and instructions are not reported.
#[test]
fn hip_and_vulkan_stand_side_by_side() {
    let (Some(stage), Some(sid)) = (Stage::new(), test_artifacts::need("debian-sid")) else { return };
    let hip = RunRoot::Tree { name: "debian-sid".into(), root: sid.join("root") };
    let shape = || gguf::known("llama-3.2-1b").expect("known");
    let kinds = [TensorType::parse("Q4_K").expect("known")];
    for (given, ships) in [("gfx1100", true), ("gfx1201", false)] {
        let profile = gpu::find(given).expect("known");
        let card = Card { given: given.into(), profile, overridden: None };
        let plan = Plan::new(&hip, card, false, false, None).expect("a plan");
        assert_eq!(plan.described.ships, ships, "{given}: what Debian builds for has changed");
        let survey = Survey {
            place: &hip,
            profile: &plan.card.profile,
            described: &plan.described,
            strict: plan.strict,
            shape: shape(),
            layers: 2,
            blas: Blas::Recorded,
            variables: &[],
        };
        let cells = survey.run(&kinds, &[290], &|_| {}).expect("cells");
        let vulkan = stage.survey(given, "llama-3.2-1b", &["Q4_K"], &[290]);
        let both = Backends::of((&hip, &Map { plan, cells, absent: Vec::new() }), ("b".into(), &vulkan));
        assert!(both.is_answered() && both.hip.ships == ships, "{both:#?}");
        assert_eq!(both.reach.is_whole(), ships);
        let [product] = both.products.as_slice() else { panic!("{both:#?}") };
        let (left, right) = (product.hip.first().expect("HIP"), product.vulkan.first().expect("Vulkan"));
        assert!(left.kernel.starts_with("mul_mat_q<Q4_K") && left.path == "MMQ", "{left:?}");
        assert!(right.path == "matmul" && right.vgprs > Some(0), "{right:?}");
        // If no wave size was requested, the number of waves that fit is not reported.
        assert_eq!(right.waves.is_some(), given == "gfx1100", "{right:?}");
        assert!(right.matrix.keys().all(|name| name.starts_with("v_wmma")) && !right.matrix.is_empty(), "{right:?}");
        assert_eq!((left.vgprs.is_some(), left.instructions.is_some(), left.waves.is_some()), (ships, ships, ships));
        if ships {
            assert!(left.matrix.keys().any(|name| name.starts_with("v_wmma_i32")), "{left:?}");
        }
    }
}
