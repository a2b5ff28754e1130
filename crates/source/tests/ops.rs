//! The other operations on a real tree: flash attention, RoPE, row lookup, products with experts.

use source::{Device, Outcome, Overrides, Shape, Survey, Tree};

/// `TYPE@COLUMNS` and the launched kernel, for one GPU.
fn kernels(tree: &Tree, shape: Shape, gpu: &str, types: &[&str], columns: &[i64]) -> Vec<String> {
    let types = types.iter().map(|ty| (*ty).to_owned()).collect();
    let question = shape.question(vec![Device::find(gpu).expect("known")], types, columns.to_vec());
    let survey = Survey::run(tree, question, &Overrides::default()).expect("evaluates");
    let mut out = Vec::new();
    for (ty, name) in survey.question.types.iter().enumerate() {
        for &columns in &survey.question.columns {
            out.push(match &survey.answer(0, ty, columns).expect("answered").outcome {
                Outcome::Chosen(choice) => format!("{name}@{columns} {}", choice.kernel),
                Outcome::Undetermined { why, .. } => format!("{name}@{columns} ? {why}"),
            });
        }
    }
    out
}

#[test]
fn operations_of_a_real_tree_are_settled() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let rows = Shape::GetRows { rows: 32000, k: 4096 };
    assert_eq!(
        kernels(&tree, rows, "gfx1201", &["F16", "Q8_0", "Q4_K"], &[1, 512]),
        [
            "F16@1 k_get_rows_float",
            "F16@512 k_get_rows_float",
            "Q8_0@1 k_get_rows",
            "Q8_0@512 k_get_rows",
            "Q4_K@1 k_get_rows_kq",
            "Q4_K@512 k_get_rows_kq"
        ]
    );
    let rope = |mode| Shape::Rope { head: 128, heads: 32, mode };
    assert_eq!(kernels(&tree, rope(0), "gfx1201", &["F32"], &[1]), ["F32@1 rope_norm"]);
    assert_eq!(kernels(&tree, rope(2), "sm_90", &["F16"], &[512]), ["F16@512 rope_neox"]);
    let experts = Shape::MulMatId { rows: 4096, k: 4096, experts: 128, used: 8 };
    assert_eq!(
        kernels(&tree, experts, "gfx1201", &["Q4_K"], &[1, 512]),
        ["Q4_K@1 mul_mat_vec_q", "Q4_K@512 mul_mat_q"]
    );
    let attention = Shape::FlashAttn { head: 128, head_v: 128, heads: 32, heads_kv: 8, kv: 4096, mask: true };
    for gpu in ["gfx90a", "gfx1100", "gfx1201", "sm_75", "sm_90"] {
        for answer in kernels(&tree, attention.clone(), gpu, &["F16", "Q8_0"], &[1, 8, 512]) {
            assert!(!answer.contains('?'), "{gpu} {answer}");
        }
    }
}
