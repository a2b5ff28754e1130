//! The real loader, ggml, RADV and its compiler on cards that are not there.

use dryrun::{Ending, Place, Streams, VulkanCard, VulkanOutcome, VulkanRequest, VulkanSelection};
use gguf::TensorType;
use std::ffi::OsString;
use std::path::Path;

struct Stage {
    place: Place,
    home: tempfile::TempDir,
}

impl Stage {
    fn new() -> Option<Stage> {
        let tree = test_artifacts::need("debian-sid-vulkan")?;
        let place = Place::find(tree.to_str().expect("a plain path")).expect("a tree");
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
}

fn kernel(answer: &VulkanSelection, kind: &str, columns: u32) -> String {
    let of = |row: &&dryrun::VulkanRow| row.kind.as_deref() == Some(kind) && row.columns == Some(columns);
    answer.selected.iter().find(of).map(|row| row.kernel.clone()).unwrap_or_default()
}

/// The same types and column counts end in other kernels on other generations: matrices of halves on gfx1201, of bytes on
/// gfx1100, integer dot products on gfx1030.
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

/// ggml computes on the processor without a word; a kernel of the card is then not named.
#[test]
fn what_ran_on_the_processor_names_no_kernel() {
    let Some(stage) = Stage::new() else { return };
    let outcome = stage.run("gfx1201", "Q4_K", &["-p", "8", "-n", "0", "-dev", "none", "-ngl", "0"]);
    let answer = VulkanSelection::of(&outcome, VulkanCard::find("gfx1201").expect("played"), "sid".into());
    assert_eq!((outcome.ending, answer.seen), (Ending::Code(0), 0), "{}", outcome.said);
    assert!(!answer.is_whole() && answer.device.is_none() && answer.selected.is_empty());
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
    let here = Place::Directory { path: Path::new("/").to_owned() };
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
