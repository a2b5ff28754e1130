//! The rules of ggml's Vulkan backend in a real tree, evaluated.

use source::{Shape, Tree, VulkanProfile, VulkanRules};

fn tree() -> Option<Tree> {
    let path = test_artifacts::need("llama-cpp-sys-4-0.11.0")?;
    Some(Tree::open(path.to_str().expect("a plain path")).expect("a tree"))
}

/// Paths and pipelines from dry runs of ggml 0.27 on RADV, at 1 and 8 columns.
#[test]
fn vectors_take_the_pipeline_that_dry_runs_showed() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let shape = Shape::MulMat { rows: 18944, k: 3584 };
    for (card, kind, columns, wanted) in [
        ("gfx1201", "Q4_K", 1, "mul_mat_vec_q4_k_q8_1_f32"),
        ("gfx1201", "Q8_0", 1, "mul_mat_vec_q8_0_f32_f32"),
        ("gfx1201", "Q8_0", 8, "mul_mat_vec_q8_0_q8_1_f32"),
        ("gfx1201", "Q6_K", 8, "mul_mat_vec_q6_k_f32_f32"),
        ("vega20", "Q8_0", 1, "mul_mat_vec_q8_0_q8_1_f32"),
        ("navi10", "Q4_K", 1, "mul_mat_vec_q4_k_f32_f32"),
        ("gfx1201", "F16", 1, "mul_mat_vec_f16_f32_f32"),
    ] {
        let card = VulkanProfile::find(card).expect("kept");
        let choice = rules.choice(&card, &shape, kind, columns).expect("a choice");
        assert_eq!(choice.kernel.as_deref(), Some(wanted), "{choice:?}");
        assert_eq!(choice.path.as_deref(), Some("mul_mat_vec"));
    }
}

/// Pipelines from dry runs of ggml 0.27 on RADV above eight columns: halves or bytes, accumulator, tile.
#[test]
fn matrices_take_the_pipeline_that_dry_runs_showed() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let shape = Shape::MulMat { rows: 8192, k: 2048 };
    for (card, kind, columns, wanted) in [
        ("gfx1201", "Q4_K", 9, "matmul_quant_f16_f16acc_aligned_0"),
        ("gfx1201", "Q4_K", 290, "matmul_quant_f16_f16acc_aligned_2"),
        ("gfx1201", "Q8_0", 9, "matmul_q8_0_q8_1_0"),
        ("gfx1201", "Q8_0", 290, "matmul_q8_0_q8_1_2"),
        ("navi21", "Q4_K", 9, "matmul_q4_k_q8_1_0"),
        ("navi31", "Q4_K", 290, "matmul_q4_k_q8_1_2"),
    ] {
        let card = VulkanProfile::find(card).expect("kept");
        let choice = rules.choice(&card, &shape, kind, columns).expect("a choice");
        assert_eq!(choice.kernel.as_deref(), Some(wanted), "{choice:?}");
        assert_eq!(choice.path.as_deref(), Some("matmul"));
    }
}

#[test]
fn a_variable_of_the_environment_is_an_input() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let mut card = VulkanProfile::find("gfx1201").expect("kept");
    assert!(card.under("GGML_VK_DISABLE_MMVQ"));
    let choice = rules.choice(&card, &Shape::MulMat { rows: 18944, k: 3584 }, "Q4_K", 1).expect("a choice");
    assert_eq!(choice.kernel.as_deref(), Some("mul_mat_vec_q4_k_f32_f32"));
}

/// Dry runs of Debian's ggml 0.27 on RADV 26.2.6 with the stand-in, with a model of llama-3.2-1b's shape.
const SELECTED: &str = include_str!("data/vulkan-dryrun.tsv");

/// Every card that the stand-in simulates, and on one of them all tiles of five types.
#[test]
fn source_and_dry_run_agree_in_every_cell() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let (mut compared, mut different) = (0, Vec::new());
    for line in SELECTED.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [card, kind, columns, kernel] = fields.as_slice() else { panic!("{line}") };
        let card = VulkanProfile::find(card).expect("kept");
        let shape = Shape::MulMat { rows: 8192, k: 2048 };
        let choice = rules.choice(&card, &shape, kind, columns.parse().expect("a number")).expect("a choice");
        compared += 1;
        if choice.kernel.as_deref() != Some(*kernel) {
            different.push(format!("{line}: {choice:?}"));
        }
    }
    assert!(compared > 80 && different.is_empty(), "{} of {compared}: {different:#?}", different.len());
}

/// The same dry runs under one environment variable each: path and pipeline of every cell.
const UNDER: &str = include_str!("data/vulkan-dryrun-environment.tsv");

#[test]
fn source_and_dry_run_agree_under_every_variable() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let (mut compared, mut different) = (0, Vec::new());
    for line in UNDER.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [variable, card, kind, columns, kernel] = fields.as_slice() else { panic!("{line}") };
        let mut card = VulkanProfile::find(card).expect("kept");
        assert!(card.under(variable), "{variable}");
        let shape = Shape::MulMat { rows: 8192, k: 2048 };
        let choice = rules.choice(&card, &shape, kind, columns.parse().expect("a number")).expect("a choice");
        compared += 1;
        // Undetermined cells are reported, never wrong.
        if choice.kernel.as_deref().is_some_and(|own| own != *kernel) {
            different.push(format!("{line}: {choice:?}"));
        }
        assert!(choice.kernel.is_some(), "{line}: {choice:?}");
    }
    assert!(compared > 300 && different.is_empty(), "{} of {compared}: {different:#?}", different.len());
}

/// Dry runs of a model of qwen3-30b-a3b's shape: the pipelines of all expert products per length. Those of the last
/// block, with one column, occur at every length.
const EXPERTS: &str = include_str!("data/vulkan-dryrun-experts.tsv");

#[test]
fn experts_take_the_pipelines_that_dry_runs_showed() {
    let Some(tree) = tree() else { return };
    let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
    let (mut compared, mut different) = (0, Vec::new());
    for line in EXPERTS.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [card, kind, columns, kernels] = fields.as_slice() else { panic!("{line}") };
        let card = VulkanProfile::find(card).expect("kept");
        let mut own = std::collections::BTreeSet::new();
        for (rows, k) in [(768, 2048), (2048, 768)] {
            for count in [1, columns.parse().expect("a number")] {
                let shape = Shape::MulMatId { rows, k, experts: 128, used: 8 };
                let choice = rules.choice(&card, &shape, kind, count).expect("a choice");
                own.insert(choice.kernel.clone().unwrap_or_else(|| format!("{choice:?}")));
            }
        }
        compared += 1;
        if own.iter().cloned().collect::<Vec<_>>().join(" ") != *kernels {
            different.push(format!("{line}: {own:?}"));
        }
    }
    assert!(compared > 80 && different.is_empty(), "{} of {compared}: {different:#?}", different.len());
}
