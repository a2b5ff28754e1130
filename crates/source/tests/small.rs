//! A small handwritten tree with ggml's constructs: the answer follows every change.

mod ours;

use ours::{ask, changed, files, plain, tree};
use source::{Device, Outcome, Overrides, Path, Shape, Survey};

use Path::{Blas, Mmq, Mmvq};

#[test]
fn the_small_tree_is_read_with_all_its_pitfalls() {
    let tree = tree(files());
    let rdna4 = plain(&tree, "gfx1201", "Q4_K", &[1, 3, 8, 9, 33, 64, 65, 290]);
    let expected = [(Mmvq, 1), (Mmvq, 4), (Mmvq, 8), (Mmq, 16), (Mmq, 64), (Mmq, 64), (Mmq, 64), (Mmq, 64)];
    assert_eq!(rdna4, expected.map(Some), "tiles from the included table, twins told apart");
    // (ENUM) && x is not a cast; #ifdef inside an expression; the default argument is only in the header.
    assert_eq!(plain(&tree, "gfx90a", "Q4_K", &[256, 257]), [Some((Mmq, 64)), Some((Blas, 0))]);
    assert_eq!(plain(&tree, "gfx90a", "Q4_0", &[9]), [Some((Blas, 0))]);
    assert_eq!(plain(&tree, "gfx1030", "Q4_K", &[63, 64]), [Some((Mmq, 64)), Some((Blas, 0))]);
    assert_eq!(plain(&tree, "gfx1201", "F16", &[1, 512]), [Some((Blas, 0)), Some((Blas, 0))]);
}

#[test]
fn defines_decide() {
    let tree = tree(files());
    let force = Overrides { cmake: vec![("GGML_CUDA_FORCE_CUBLAS".into(), "ON".into())], ..Overrides::default() };
    assert_eq!(ask(&tree, "gfx1201", "Q4_K", &[8, 9], &force), [Some((Mmvq, 8)), Some((Blas, 0))]);
    let wide = Overrides { define: vec!["TREE_WIDE".into()], ..Overrides::default() };
    assert_eq!(
        ask(&tree, "gfx90a", "Q4_K", &[257, 512, 513], &wide),
        [Some((Mmq, 64)), Some((Mmq, 64)), Some((Blas, 0))]
    );
}

#[test]
fn a_define_that_no_build_file_knows_leaves_it_open() {
    let mut files = files();
    for (path, text) in &mut files {
        if *path == "src/cuda/mmq.cu" {
            *text = text.replace("TREE_WIDE", "GGML_CUDA_SURPRISE");
        }
    }
    let tree = tree(files);
    assert_eq!(plain(&tree, "gfx90a", "Q4_K", &[256, 257, 513]), [Some((Mmq, 64)), None, Some((Blas, 0))]);
    let off = Overrides { undefine: vec!["GGML_CUDA_SURPRISE".into()], ..Overrides::default() };
    assert_eq!(ask(&tree, "gfx90a", "Q4_K", &[257], &off), [Some((Blas, 0))]);
}

/// A build is for Linux by default; other compiler defines are unknown.
#[test]
fn what_a_compiler_defines_for_linux_is_defined() {
    let asks = |name: &str| changed("#ifdef TREE_WIDE", &format!("#ifdef {name}"));
    let linux = asks("__linux__");
    assert_eq!(plain(&linux, "gfx90a", "Q4_K", &[257, 513]), [Some((Mmq, 64)), Some((Blas, 0))]);
    let off = Overrides { undefine: vec!["__linux__".into()], ..Overrides::default() };
    assert_eq!(ask(&linux, "gfx90a", "Q4_K", &[257], &off), [Some((Blas, 0))]);
    assert_eq!(plain(&asks("_WIN32"), "gfx90a", "Q4_K", &[257]), [Some((Blas, 0))]);
    assert_eq!(plain(&asks("__AVX2__"), "gfx90a", "Q4_K", &[257, 513]), [None, Some((Blas, 0))]);
}

#[test]
fn the_answer_follows_a_changed_tree() {
    let renamed = changed("should_use_mmq", "is_tiled_product_better");
    assert_eq!(plain(&renamed, "gfx90a", "Q4_K", &[256, 257]), [Some((Mmq, 64)), Some((Blas, 0))]);
    let inverted = changed("if (CC_IS_RDNA4(cc)) { return true; }", "if (!CC_IS_RDNA4(cc)) { return true; }");
    assert_eq!(plain(&inverted, "gfx1201", "Q4_K", &[63, 64]), [Some((Mmq, 64)), Some((Blas, 0))]);
    assert_eq!(plain(&inverted, "gfx90a", "Q4_K", &[257]), [Some((Mmq, 64))]);
    let reordered = changed(
        "quantized && ne11 <= MAX_BATCH",
        "quantized && ne11 <= MAX_BATCH && !should_use_mmq(src0->type, cc, ne11)",
    );
    assert_eq!(plain(&reordered, "gfx1201", "Q4_K", &[1]), [Some((Mmq, 16))]);
    let limit = changed("#define MAX_BATCH 8", "#define MAX_BATCH 4");
    assert_eq!(plain(&limit, "gfx1201", "Q4_K", &[4, 5]), [Some((Mmvq, 4)), Some((Mmq, 16))]);
}

#[test]
fn the_answer_follows_moved_files() {
    let mut moved: Vec<(&'static str, String)> = files();
    for (path, _) in &mut moved {
        *path = match *path {
            "src/cuda/mmq.cu" => "src/cuda/quant/product.cu",
            "src/cuda/main.cu" => "src/cuda/backend.cu",
            other => other,
        };
    }
    for (path, text) in &mut moved {
        if *path == "src/cuda/quant/product.cu" {
            *text = text.replace("\"mmq.cuh\"", "\"../mmq.cuh\"");
        }
    }
    let tree = tree(moved);
    assert_eq!(plain(&tree, "gfx1201", "Q4_K", &[8, 290]), [Some((Mmvq, 8)), Some((Mmq, 64))]);
}

#[test]
fn what_is_not_understood_is_undetermined_with_its_place() {
    let mut files = files();
    for (path, text) in &mut files {
        if *path == "src/cuda/mmq.cu" {
            *text = text.replace("return ne11 < 64;", "return weather_is_fine(ne11);");
        }
    }
    let tree = tree(files);
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question = shape.question(vec![Device::find("gfx1030").expect("known")], vec!["Q4_K".to_owned()], vec![64]);
    let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
    match &survey.answer(0, 0, 64).expect("answered").outcome {
        Outcome::Undetermined { why, either, .. } => {
            assert!(why.to_string().contains("weather_is_fine"), "{why}");
            assert_eq!(either.iter().map(|choice| choice.path).collect::<Vec<_>>(), [Blas, Mmq]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_trees_say_what_is_wrong() {
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    let question =
        || shape.clone().question(vec![Device::find("gfx1201").expect("known")], vec!["Q4_K".to_owned()], vec![1]);
    let empty = tree(Vec::new());
    let error = Survey::run(&empty, question(), &Overrides::default()).expect_err("no dispatcher").to_string();
    assert!(error.contains("no ggml dispatcher"), "{error}");
    let mut broken = files();
    broken.push(("src/cuda/broken.cuh", "int a;\n<<<<<<< HEAD\nint b;\n=======\nint c;\n>>>>>>> x\n".to_owned()));
    for (path, text) in &mut broken {
        if *path == "src/cuda/main.cu" {
            text.insert_str(0, "#include \"broken.cuh\"\n");
        }
    }
    let error = Survey::run(&tree(broken), question(), &Overrides::default()).expect_err("conflict").to_string();
    assert!(error.contains("src/cuda/broken.cuh:2"), "{error}");
    // Half a file, a recursive macro, an endless loop: no answer, and no crash.
    for text in ["void f( {", "#define A A(A\nA(", "static void ggml_cuda_mul_mat(int a) { for (;;) {} }"] {
        let mut files = files();
        if let Some((_, main)) = files.iter_mut().find(|(path, _)| *path == "src/cuda/main.cu") {
            main.insert_str(main.len() / 2, text);
        }
        let _ = Survey::run(&tree(files), question(), &Overrides::default());
    }
}

/// Flipped, cut and repeated bytes: any file is read within limits, and nothing panics.
#[test]
fn damaged_files_are_read_within_bounds() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let device = Device::find("gfx1201").expect("known");
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..120 {
        let mut files = files();
        let count = files.len();
        let (_, text) = &mut files[random(count)];
        let mut bytes = std::mem::take(text).into_bytes();
        for _ in 0..1 + random(4) {
            let (at, to) = (random(bytes.len()), random(bytes.len()));
            match random(4) {
                0 => bytes[at] = b"(){}<>#\"\\;,*&:"[random(14)],
                1 => drop(bytes.drain(at.min(to)..(at.min(to) + 1 + random(40)).min(bytes.len()))),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let piece = bytes[at.min(to)..at.max(to).min(at.min(to) + 60)].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        *text = String::from_utf8_lossy(&bytes).into_owned();
        let tree = tree(files);
        let preset = source::Preset::find(&tree, device.vendor, "src/cuda/main.cu", &[]);
        let shape = Shape::MulMat { rows: 4096, k: 4096 };
        match source::Rules::open(&tree, device.vendor, &preset, shape.operation()) {
            Ok(mut rules) => {
                opened += 1;
                let _ = rules.answer(&device, &|columns| shape.op("Q4_K", columns), 9, 512);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(opened > 0 && refused > 0, "{opened} trees were read on, {refused} refused");
}
