//! A released tree whose dispatcher is renamed, inverted, reordered or moved: the answer follows the changed code.

mod ours;

use ours::plain;
use source::Path::{Blas, Mmq, Mmvq};
use source::Tree;

const DISPATCHER: &str = "ggml-cuda/ggml-cuda.cu";
const RULE: &str = "ggml-cuda/mmq.cu";

/// The deciding files of a released tree: the backend, ggml's own sources and headers, and the build files.
fn released() -> Option<Vec<(String, String)>> {
    let tree = Tree::open(&test_artifacts::need("llama-cpp-sys-4-0.11.0")?.display().to_string()).expect("opens");
    let wanted = |path: &&str| {
        let Some((_, rest)) = path.split_once("ggml/src/") else { return path.contains("ggml/") };
        rest.starts_with("ggml-cuda/") || rest.starts_with("ggml-hip/") || !rest.contains('/')
    };
    let files =
        tree.paths().filter(wanted).filter_map(|path| Some((path.to_owned(), tree.text(path).ok()?.to_string())));
    Some(files.collect())
}

/// Replaces a text in that file, or with "" in every file; panics if the text is not found.
fn replaced(files: &[(String, String)], file: &str, from: &str, to: &str) -> Vec<(String, String)> {
    let mut found = 0;
    let change = |(path, text): &(String, String)| {
        let here = path.ends_with(file) && text.contains(from);
        found += usize::from(here);
        (path.clone(), if here { text.replace(from, to) } else { text.clone() })
    };
    let files = files.iter().map(change).collect();
    assert!(found > 0, "{from} stands nowhere");
    files
}

fn paths(files: Vec<(String, String)>, gpu: &str, columns: &[i64]) -> Vec<Option<source::Path>> {
    let tree = Tree::from_memory("released", files.into_iter().map(|(path, text)| (path, text.into_bytes())));
    let answers = plain(&tree, gpu, "Q4_K", columns);
    answers.into_iter().map(|answer| answer.map(|(path, _)| path)).collect()
}

#[test]
fn the_answer_follows_a_released_tree_that_was_changed() {
    let Some(files) = released() else { return };
    let columns = [1, 8, 9, 290];
    let before = paths(files.clone(), "gfx1201", &columns);
    assert_eq!(before, [Some(Mmvq), Some(Mmvq), Some(Mmq), Some(Mmq)]);

    let renamed = replaced(&files, "", "ggml_cuda_should_use_mmq", "ggml_cuda_tiles_are_better");
    assert_eq!(paths(renamed, "gfx1201", &columns), before);

    let call = "if (ggml_cuda_should_use_mmq(src0->type, cc, ne11, /*n_experts =*/ 0))";
    let inverted = replaced(&files, DISPATCHER, call, &call.replace("if (", "if (!"));
    assert_eq!(paths(inverted, "gfx1201", &columns), [Some(Mmvq), Some(Mmvq), Some(Blas), Some(Blas)]);

    let vector = "if (ggml_cuda_should_use_mmvq(src0->type, cc, ne11))";
    let first = format!("{call} {{ ggml_cuda_mul_mat_q(ctx, src0, src1, nullptr, dst); return; }}\n    {vector}");
    let reordered = replaced(&files, DISPATCHER, vector, &first);
    assert_eq!(paths(reordered, "gfx1201", &columns), [Some(Mmq); 4]);

    // The rule, moved from its file to a new one.
    let rule = files.iter().find(|(path, _)| path.ends_with(RULE)).map(|(_, text)| text.clone()).expect("is there");
    let start = rule.find("bool ggml_cuda_should_use_mmq(").expect("is there");
    let end = start + rule[start..].find("\n}\n").expect("ends") + 3;
    let mut moved = replaced(&files, RULE, &rule[start..end], "");
    let home = files.iter().find(|(path, _)| path.ends_with(RULE)).map(|(path, _)| path.replace("mmq.cu", "rules.cu"));
    moved.push((home.expect("is there"), format!("#include \"mmq.cuh\"\n\n{}", &rule[start..end])));
    assert_eq!(paths(moved, "gfx1201", &columns), before);
}
