//! Products with experts that the host sorts: the launches depend on the chosen experts, which are data.

use source::graph::{Given, GraphAnswer, Routing, ask_written, parse_all};
use source::{Device, Overrides, Tree};

const TREE: &str = "llama-cpp-sys-2-0.1.160";

/// 64 tokens, two of four experts each, of a type for which no kernel handles all experts on this GPU.
const GRAPH: &str = "@ graph of 7 on ROCm0 from 10\nw = BF16 256,64,4 at 0x100000 weights\nx = F32 256,1,64 at 0x200000\n\
                     i = I32 2,64 at 0x300000\ny = MUL_MAT_ID F32 64,2,64 from w,x,i at 0x400000\n\
                     z = MUL_MAT_ID F32 64,2,64 from w,x,i at 0x500000\nREADS@ end 20\n";

fn tree() -> Option<Tree> {
    let dir = test_artifacts::need(TREE)?;
    Some(Tree::open(&dir.display().to_string()).expect("opens"))
}

fn asked(tree: &Tree, reads: &str, routing: Option<Routing>) -> GraphAnswer {
    let graphs = parse_all(&GRAPH.replace("READS", reads)).expect(reads);
    let device = Device::find("gfx1030").expect("known");
    let given = Given { code: None, routing };
    ask_written(tree, &device, &Overrides::default(), "g.txt", graphs, &given).expect("evaluates")
}

/// The products of each step between the gather and the scatter of rows; the reason if a step is open.
fn products(answer: &GraphAnswer) -> Vec<Result<Vec<String>, String>> {
    let steps = answer.evaluations[0].steps.iter();
    let of = |step: &source::graph::GraphStep| match &step.undetermined {
        Some(why) => Err(why.to_string()),
        None => {
            let names: Vec<String> = step.launches.iter().map(|launch| launch.kernel.clone()).collect();
            assert!(names.first().is_some_and(|name| name.starts_with("k_get_rows")), "{names:?}");
            assert!(names.last().is_some_and(|name| name.starts_with("k_get_rows")), "{names:?}");
            Ok(names.into_iter().filter(|name| name.starts_with("hipblas")).collect())
        }
    };
    steps.map(of).collect()
}

fn read(ids: &[i32]) -> String {
    let words: Vec<String> = ids.iter().map(i32::to_string).collect();
    format!("@ read 0x300000 {} {}\n", ids.len() * 4, words.join(","))
}

#[test]
fn the_launches_follow_the_experts_that_were_read_back() {
    let Some(tree) = tree() else { return };
    let all: Vec<i32> = (0..128).map(|at| at % 4).collect();
    // Only the first token goes to the first two experts, all others to the last two; the second product is routed
    // differently.
    let few: Vec<i32> = [0, 1].into_iter().chain((0..126).map(|at| 2 + at % 2)).collect();
    let answer = asked(&tree, &[read(&few), read(&all)].concat(), None);
    let found = products(&answer);
    let [Ok(first), Ok(second)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((first.len(), second.len()), (4, 4));
    // Single rows and 63 rows use a different function than 32 rows.
    assert!(first != second && second.iter().all(|name| *name == second[0]), "{first:?} {second:?}");
    let reads = answer.evaluations[0].read_back.as_ref().expect("it read");
    assert_eq!((reads.given, reads.used), (2, 2));
    assert!(answer.routing.is_some_and(|routing| routing.contains("read it back")));
}

#[test]
fn a_routing_that_was_asked_for_goes_before_what_was_read() {
    let Some(tree) = tree() else { return };
    let none: Vec<i32> = vec![9; 128];
    for (routing, count) in [(Routing::Even, 4), (Routing::First, 2)] {
        let answer = asked(&tree, &read(&none), Some(routing));
        let found: Vec<Option<usize>> = products(&answer).into_iter().map(|it| it.ok().map(|it| it.len())).collect();
        assert_eq!(found, [Some(count); 2]);
        assert!(answer.routing.is_some_and(|routing| routing.contains("as requested")));
    }
}

#[test]
fn where_nobody_told_or_what_was_told_cannot_be_it_is_open() {
    let Some(tree) = tree() else { return };
    let all: Vec<i32> = (0..128).map(|at| at % 4).collect();
    let with = |at: usize, id: i32| all.iter().enumerate().map(move |(place, old)| if place == at { id } else { *old });
    let one = |at, id| read(&with(at, id).collect::<Vec<i32>>());
    let bad = |at, id| one(at, id).repeat(2);
    for (reads, why) in [
        (String::new(), "is unknown"),
        ("@ read 0x300000 512 -\n".repeat(2), "is unknown"),
        // The data was copied from another tensor, or from another part of the same tensor.
        (read(&all).replace("0x300000", "0x300010").repeat(2), "is unknown"),
        (read(&all[..64]).repeat(2), "is unknown"),
        // An expert that does not exist; a token that goes to the same expert twice.
        (bad(5, 4), "would abort"),
        (bad(127, -1), "would abort"),
        (bad(0, i32::MIN), "would abort"),
        (bad(1, 0), "would abort"),
    ] {
        let answer = asked(&tree, &reads, None);
        for step in products(&answer) {
            assert!(step.as_ref().is_err_and(|found| found.contains(why)), "{why}: {step:?}");
        }
    }
    // With only one of two copies, nothing is left for the second product.
    let answer = asked(&tree, &read(&all), None);
    assert!(matches!(products(&answer).as_slice(), [Ok(_), Err(_)]), "{:?}", products(&answer));
    // More copies than the code reads: the result is unaffected, and the surplus is counted.
    let answer = asked(&tree, &read(&all).repeat(3), None);
    assert!(products(&answer).iter().all(Result::is_ok));
    let reads = answer.evaluations[0].read_back.as_ref().expect("it read");
    assert_eq!((reads.given, reads.used), (3, 2));
    // The first copy is impossible, and one copy is left over: it is unknown which of them belongs to the second
    // product.
    let answer = asked(&tree, &[one(5, 4), read(&all), read(&all)].concat(), None);
    assert!(products(&answer).iter().all(Result::is_err), "{:?}", products(&answer));
}
