//! `cargo run --example metal -- TREE... [-- CARD...]`: the Metal kernels of some cells of each tree.

use source::{MetalRules, Shape, Tree};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = args.split(|arg| arg == "--");
    let trees = parts.next().unwrap_or_default();
    let cards = parts.next().map_or_else(|| vec!["apple-m3-max".to_owned()], <[String]>::to_vec);
    for name in trees {
        let tree = Tree::open(name).expect("a tree");
        let mut rules = match MetalRules::open(&tree) {
            Ok(rules) => rules,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        for card in &cards {
            let card = gpu::apple_gpu(card).expect("a card");
            for (shape, kinds) in [
                (Shape::MulMat { rows: 4096, k: 4096 }, &["Q4_K", "Q8_0", "F16", "F32", "Q6_K", "Q4_0"][..]),
                (Shape::MulMatId { rows: 768, k: 2048, experts: 128, used: 8 }, &["Q4_K", "Q8_0", "F16"]),
                (
                    Shape::FlashAttn { head: 128, head_v: 128, heads: 32, heads_kv: 8, kv: 4096, mask: true },
                    &["F16", "Q8_0"],
                ),
            ] {
                let cells: Vec<(String, i64)> = kinds
                    .iter()
                    .flat_map(|kind| [1, 4, 8, 9, 64, 512].map(|count| ((*kind).to_owned(), count)))
                    .collect();
                let begun = Instant::now();
                let answers = rules.choices(card, &[], &shape, &cells).expect("answers");
                let open = answers.iter().filter(|cell| cell.kernel.is_none()).count();
                let seconds = begun.elapsed().as_secs_f64();
                println!(
                    "{name} {} {}: {open} of {} open, {seconds:.1} s",
                    card.name,
                    shape.operation(),
                    answers.len()
                );
                for cell in answers.iter().filter(|cell| cell.kernel.is_none()).take(1) {
                    println!("  {} {} {}", cell.kind, cell.columns, cell.undetermined.as_ref().expect("a reason"));
                }
            }
        }
    }
}
