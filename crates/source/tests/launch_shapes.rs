//! Launch shapes on the small tree: exact for every column count, open part by part, and part of every comparison.

mod ours;

use ours::{changed, files, tree};
use source::comparison::{Comparison, compare, surveys};
use source::{Device, Outcome, Overrides, Question, Shape, ShapeAt, Survey, Tree};

fn question(gpu: &str, columns: Vec<i64>) -> Question {
    let device = Device::find(gpu).expect("known");
    Shape::MulMat { rows: 4096, k: 4096 }.question(vec![device], vec!["Q4_K".to_owned()], columns)
}

/// The shape at each of these counts. The path must be settled everywhere.
fn shapes(tree: &Tree, gpu: &str, columns: &[i64]) -> Vec<ShapeAt> {
    let survey = Survey::run(tree, question(gpu, columns.to_vec()), &Overrides::default()).expect("evaluates");
    let warp = Device::find(gpu).expect("known").warp();
    let one = |&columns: &i64| {
        let answer = survey.answer(0, 0, columns).expect("answered");
        assert!(matches!(answer.outcome, Outcome::Chosen(_)), "{columns}: {:?}", answer.outcome);
        answer.shape_at(columns, warp).expect("a launch")
    };
    columns.iter().map(one).collect()
}

fn difference(a: &Tree, b: &Tree, columns: Vec<i64>) -> Comparison {
    let [left, right] = surveys([a, b], &question("gfx1201", columns), &Overrides::default()).expect("evaluates");
    compare(&left, &right)
}

/// One run covers many counts; the numbers of each must be those of a run for that count alone.
#[test]
fn the_shape_of_a_range_is_that_of_each_count() {
    let counts: Vec<i64> = (1..=300).collect();
    let edits = [
        ("(args.ncols + mmq_x - 1)/mmq_x, 1)", "(args.ncols + mmq_x - 1)/mmq_x, 1 + args.ncols % 3)"),
        ("<<<grid, 256, 0, stream>>>", "<<<grid, 32 * (args.ncols > 100 ? 8 : 4), args.ncols * args.ncols, stream>>>"),
        ("const dim3 grid(", "const dim3 grid(args.ncols < 77 ? 1 : 2, "),
    ];
    for (from, to) in edits {
        let tree = changed(from, to);
        let together = shapes(&tree, "gfx1201", &counts);
        for (&count, shape) in counts.iter().zip(together).step_by(7) {
            assert_eq!(shapes(&tree, "gfx1201", &[count]), [shape], "{to} at {count}");
        }
    }
    let plain = shapes(&tree(files()), "gfx1201", &[1, 64, 65, 200]);
    let grids: Vec<_> = plain.iter().map(|shape| shape.grid).collect();
    assert_eq!(grids, [Some([1, 1, 1]), Some([32, 1, 1]), Some([32, 2, 1]), Some([32, 4, 1])]);
    assert_eq!(plain.iter().map(|shape| shape.warps).collect::<Vec<_>>(), [Some(1), Some(8), Some(8), Some(8)]);
}

#[test]
fn a_part_that_is_not_known_leaves_the_path_and_the_other_parts() {
    for (from, to, part) in [
        ("<<<grid, 256, 0, stream>>>", "<<<grid, 256, tree_bytes(), stream>>>", "shared: "),
        ("<<<grid, 256, 0, stream>>>", "<<<grid, tree_asks() ? 256 : 128, 0, stream>>>", "block: "),
        ("const dim3 grid((args.nrows + rows - 1)/rows", "const dim3 grid(tree_bytes()", "grid: "),
    ] {
        let with = format!("int tree_bytes(); bool tree_asks();\n{}", "struct mmq_args {");
        let text = changed(from, to);
        let all: Vec<(String, Vec<u8>)> = text
            .paths()
            .map(|path| {
                let read = text.text(path).expect("readable").replace("struct mmq_args {", &with);
                (path.to_owned(), read.into_bytes())
            })
            .collect();
        let tree = Tree::from_memory("small", all);
        let [shape] = shapes(&tree, "gfx1201", &[64]).try_into().expect("one");
        let open = [shape.grid.is_none(), shape.block.is_none(), shape.shared.is_none()];
        assert_eq!(open.iter().filter(|open| **open).count(), 1, "{to}: {shape:?}");
        let [why] = shape.undetermined.as_slice() else { panic!("{to}: {shape:?}") };
        assert!(why.as_str().starts_with(part) && why.as_str().contains("tree_"), "{why}");
    }
}

#[test]
fn a_change_of_the_launch_alone_is_a_difference_by_its_part() {
    let before = tree(files());
    let columns = || vec![1, 8, 9, 64, 200];
    let same = difference(&before, &tree(files()), columns());
    assert_eq!((same.different, same.answered, same.asked), (0, 5, 5));
    for (from, to, part, cells) in [
        ("<<<grid, 256, 0, stream>>>", "<<<grid, 128, 0, stream>>>", "block", 3),
        ("<<<grid, 256, 0, stream>>>", "<<<grid, 256, 64, stream>>>", "shared", 3),
        ("CC_IS_RDNA4(cc) ? 128 : 64", "CC_IS_RDNA4(cc) ? 64 : 64", "grid", 3),
    ] {
        let found = difference(&before, &changed(from, to), columns());
        assert_eq!((found.different, found.answered), (cells, 5), "{to}");
        assert!(found.differences.iter().all(|it| it.differs.names() == [part]), "{:?}", found.differences);
    }
    let found =
        difference(&before, &changed("case 1: mul_mat_vec_q<type, 1>", "case 1: mul_mat_vec_q<type, 2>"), columns());
    assert_eq!(found.differences.first().map(|it| it.differs.names()), Some(vec!["instance"]));
    let found = difference(&before, &changed("#define MAX_BATCH 8", "#define MAX_BATCH 16"), columns());
    assert_eq!(found.differences.first().map(|it| it.differs.names()), Some(vec!["path"]));
}

#[test]
fn without_shapes_only_path_and_instance_are_compared() {
    let (a, b) = (tree(files()), changed("<<<grid, 256, 0, stream>>>", "<<<grid, 128, 0, stream>>>"));
    let question = Question { launch_shapes: false, ..question("gfx1201", vec![9, 64]) };
    let [left, right] = surveys([&a, &b], &question, &Overrides::default()).expect("evaluates");
    let found = compare(&left, &right);
    assert_eq!((found.different, found.answered), (0, 2));
    assert!(left.rows().iter().all(|row| row.shape.is_none()));
}
