//! `cargo run --example vulkan -- TREE... [-- CARD...]`: the Vulkan pipelines of 24 cells of each tree.

use source::{Shape, Tree, VulkanProfile, VulkanRules};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = args.split(|arg| arg == "--");
    let trees = parts.next().unwrap_or_default();
    let cards = parts.next().map_or_else(|| vec!["gfx1201".to_owned()], <[String]>::to_vec);
    let only: Vec<i64> =
        parts.next().map(|list| list.iter().filter_map(|n| n.parse().ok()).collect()).unwrap_or_default();
    for name in trees {
        let tree = Tree::open(name).expect("a tree");
        let begun = Instant::now();
        let mut rules = VulkanRules::open(&tree).expect("a Vulkan backend");
        for card in &cards {
            let card = VulkanProfile::find(card).expect("a card");
            let counts = if only.is_empty() { vec![1, 8, 9, 64, 512] } else { only.clone() };
            let kinds = ["Q4_K", "Q8_0", "F16", "F32", "Q6_K", "Q4_0"];
            let cells: Vec<(String, i64)> =
                kinds.iter().flat_map(|kind| counts.iter().map(move |&count| ((*kind).to_owned(), count))).collect();
            let shape = Shape::MulMat { rows: 4096, k: 4096 };
            let answers = rules.choices(&card, &shape, &cells).expect("answers");
            let open = answers.iter().filter(|cell| cell.kernel.is_none()).count();
            println!("{name} {}: {open} of {} open, {:.1} s", card.card, answers.len(), begun.elapsed().as_secs_f64());
            for cell in &answers {
                let why = cell.undetermined.as_ref().map(|why| why.to_string()).unwrap_or_default();
                println!("  {} {} {} {why}", cell.kind, cell.columns, cell.kernel.as_deref().unwrap_or("UNDETERMINED"));
                if cell.kernel.is_none() && open == answers.len() {
                    break;
                }
            }
        }
    }
}
