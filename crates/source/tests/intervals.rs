//! One run answers for a range of column counts. Every answer must equal the one for the count alone and, for
//! conditions inserted into the small tree, the condition itself.

mod ours;

use ours::{changed, plain};
use source::Path::{Blas, Mmq, Mmvq};
use source::{Device, Overrides, Preset, Rules, Shape, Survey, Tree};

type Condition = (&'static str, fn(i64) -> bool);

/// Conditions on the column count that change more than once, or not in step with it.
const CONDITIONS: &[Condition] = &[
    ("ne11 % 3 == 0", |n| n % 3 == 0),
    ("ne11 * ne11 < 5000", |n| n * n < 5000),
    ("ne11 * ne11 - 130*ne11 + 4000 > 0", |n| n * n - 130 * n + 4000 > 0),
    ("(ne11 & (ne11 - 1)) == 0", |n| n & (n - 1) == 0),
    ("((ne11 >> 3) ^ 5) % 4 == 1", |n| ((n >> 3) ^ 5) % 4 == 1),
    ("(~ne11 & 16) != 0", |n| !n & 16 != 0),
    ("(ne11 + 31)/32 * 32 - ne11 < 9", |n| (n + 31) / 32 * 32 - n < 9),
    ("(ne11 + 15)/16 == (ne11 + 23)/24 + 2", |n| (n + 15) / 16 == (n + 23) / 24 + 2),
    ("(ne11 + 15)/16 < (ne11 + 7)/8", |n| (n + 15) / 16 < (n + 7) / 8),
    ("(ne11 + 127)/128 < (ne11 + 119)/120", |n| (n + 127) / 128 < (n + 119) / 120),
    ("(3*ne11 + 5)/7 < (2*ne11 + 40)/5", |n| (3 * n + 5) / 7 < (2 * n + 40) / 5),
    ("(ne11 + 9)/10 > ne11 - 90", |n| (n + 9) / 10 > n - 90),
    ("(uint64_t) ne11 / 6 < (uint64_t) ne11 / 5", |n| n / 6 < n / 5),
    ("(ne11 - 100)/3 < (ne11 - 90)/4", |n| (n - 100) / 3 < (n - 90) / 4),
    ("100*ne11 / (((ne11 + 39)/40) * 40) >= 90", |n| 100 * n / (((n + 39) / 40) * 40) >= 90),
    ("ne11 == 77 || ne11 == 201", |n| n == 77 || n == 201),
    ("(uint8_t) (ne11 * 3) > 100", |n| (n * 3) % 256 > 100),
    ("(1 << (ne11 % 5)) > 4", |n| (1 << (n % 5)) > 4),
    ("512 / ne11 == 3", |n| 512 / n == 3),
    ("std::min<int64_t>(ne11, 300 - ne11) > 60", |n| n.min(300 - n) > 60),
    ("0.75f * ne11 > 100.0f && ne11 / 2.0f < 110.0f", |n| 0.75 * n as f64 > 100.0 && n as f64 / 2.0 < 110.0),
];

#[test]
fn conditions_that_come_and_go_are_followed_exactly() {
    let columns: Vec<i64> = (1..=256).collect();
    for (text, condition) in CONDITIONS {
        let tree = changed("return ne11 < 64;", &format!("return {text};"));
        let answers = plain(&tree, "gfx1030", "Q4_K", &columns);
        for (&n, answer) in columns.iter().zip(answers) {
            let path = answer.map(|(path, _)| path);
            let expected = if n <= 8 {
                Mmvq
            } else if condition(n) {
                Mmq
            } else {
                Blas
            };
            assert_eq!(path, Some(expected), "{text} at {n} columns");
        }
    }
}

/// A few counts asked as points get the same answers as among all counts.
#[test]
fn counts_that_are_asked_as_points_get_the_same() {
    let few = [1, 8, 9, 15, 16, 17, 31, 63, 64, 65, 77, 78, 100, 120, 121, 128, 129, 200, 201, 240, 256];
    for (text, condition) in CONDITIONS {
        let tree = changed("return ne11 < 64;", &format!("return {text};"));
        let devices = vec![Device::find("gfx1030").expect("known")];
        let shape = Shape::MulMat { rows: 4096, k: 4096 };
        let mut question = shape.question(devices, vec!["Q4_K".to_owned()], few.to_vec());
        question.points = true;
        let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
        for (&n, row) in few.iter().zip(survey.rows()) {
            let expected = if n <= 8 {
                Mmvq
            } else if condition(n) {
                Mmq
            } else {
                Blas
            };
            assert_eq!(row.path, Some(expected), "{text} at {n} columns");
        }
    }
}

#[test]
fn a_table_that_is_indexed_by_the_columns_is_followed_exactly() {
    let table = "static const int wide[8] = {1, 0, 0, 1, 1, 1, 0, 1}; return wide[ne11 / 7 % 8] == 1;";
    let tree = changed("return ne11 < 64;", table);
    let columns: Vec<i64> = (9..=200).collect();
    let wide = [true, false, false, true, true, true, false, true];
    for (&n, answer) in columns.iter().zip(plain(&tree, "gfx1030", "Q4_K", &columns)) {
        let expected = if wide[(n / 7 % 8) as usize] { Mmq } else { Blas };
        assert_eq!(answer.map(|(path, _)| path), Some(expected), "{n} columns");
    }
}

#[test]
fn an_assertion_that_fails_at_some_counts_is_undetermined_there_alone() {
    let tree = changed("return ne11 < 64;", "GGML_ASSERT(ne11 % 50 != 7); return true;");
    let columns: Vec<i64> = (9..=200).collect();
    for (&n, answer) in columns.iter().zip(plain(&tree, "gfx1030", "Q4_K", &columns)) {
        assert_eq!(answer.map(|(path, _)| path), (n % 50 != 7).then_some(Mmq), "{n} columns");
    }
}

#[test]
fn a_tile_that_depends_on_the_columns_is_told_per_count() {
    // The tile is a variable of the launching function, as in older kernels: no switch ends a range.
    let files = ours::files().into_iter().map(|(path, text)| {
        let text = text
            .replace("int mmq_x", "int tile")
            .replace("mul_mat_q<type, mmq_x,", "mul_mat_q<type, tile,")
            .replace("const int rows = get", "const int mmq_x = args.ncols / 5 * 8 + 8; const int rows = get");
        (path, text)
    });
    let tree = ours::tree(files.collect());
    let columns: Vec<i64> = (9..=128).collect();
    for (&n, answer) in columns.iter().zip(plain(&tree, "gfx1201", "Q4_K", &columns)) {
        assert_eq!(answer, Some((Mmq, n / 5 * 8 + 8)), "{n} columns");
    }
}

/// A real tree: the ranges of one survey against each count asked alone.
#[test]
fn ranges_of_a_real_tree_are_what_each_count_gets_alone() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-4-0.11.0") else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    let shape = Shape::MulMat { rows: 4096, k: 4096 };
    for (gpu, types) in [("gfx1201", ["Q4_K", "F16"]), ("sm_90", ["Q6_K", "F32"])] {
        let device = Device::find(gpu).expect("known");
        let types = types.map(str::to_owned).to_vec();
        let question = shape.clone().question(vec![device.clone()], types.clone(), (1..=512).collect());
        let survey = Survey::run(&tree, question, &Overrides::default()).expect("evaluates");
        let preset: &Preset = survey.preset(device.vendor).expect("a build");
        let mut rules = Rules::open(&tree, device.vendor, preset, shape.operation()).expect("has a dispatcher");
        rules.settle(&device, &shape.op("Q4_K", 1)).expect("settles");
        for (index, ty) in types.iter().enumerate() {
            // Both sides of every end of a range, and a sample of the counts in between.
            let ends = survey.answers[0][index].iter().flat_map(|answer| [answer.from, answer.to]);
            let mut counts: Vec<i64> = ends.chain((1..=512).step_by(37)).collect();
            counts.sort_unstable();
            counts.dedup();
            for n in counts {
                let alone = rules.answer(&device, &|columns| shape.op(ty, columns), n, n).expect("answers");
                let together = survey.answer(0, index, n).expect("answered");
                assert_eq!(alone.outcome, together.outcome, "{gpu} {ty} at {n} columns");
            }
        }
    }
}
