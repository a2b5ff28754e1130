//! The second account of a run: the matrix products of every graph that the program computed with ggml, on any backend.
//!
//! A library that is preloaded before ggml's own records them (shims/graph/src/products.rs), independently of launches.
//! The account gives the width of each evaluation, the columns whose output was requested, and the products that the
//! CPU computed.

use std::collections::BTreeMap;

/// Products of one kind in one computed graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Products {
    /// Whether the product uses the weights of experts. Then `columns` are tokens, and `batch` is the number of experts
    /// of each.
    pub experts: bool,
    /// The type of the left operand, in capitals as in GGUF.
    pub kind: String,
    pub k: i64,
    pub m: i64,
    pub columns: u64,
    pub batch: i64,
    /// Whether the left operand is a matrix of the model. Other products belong to attention.
    pub weights: bool,
    pub count: u64,
}

/// A graph, or the part of one that a single backend computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub thread: u32,
    pub from: u64,
    pub end: u64,
    /// The name of the backend: `ROCm0`, `CPU`.
    pub backend: String,
    /// Columns of the logits, if this part computes them.
    pub outputs: Option<u64>,
    pub products: Vec<Products>,
}

impl Part {
    /// Whether the product was computed on one of the simulated devices.
    pub fn on_device(&self) -> bool {
        ["ROCm", "HIP", "CUDA"].iter().any(|name| self.backend.starts_with(name))
    }
}

/// One evaluation of a model: a prompt, a part of one, or one token of each sequence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pass {
    pub thread: u32,
    pub from: u64,
    pub end: u64,
    pub parts: Vec<Part>,
}

impl Pass {
    pub fn products(&self) -> impl Iterator<Item = (&Part, &Products)> {
        self.parts.iter().flat_map(|part| part.products.iter().map(move |products| (part, products)))
    }

    /// The number of columns that passed through the layers.
    pub fn width(&self) -> Option<u64> {
        self.products().filter(|(_, of)| of.weights).map(|(_, of)| of.columns).max()
    }

    /// Columns whose logits were requested. None if the evaluation has no logits.
    pub fn outputs(&self) -> Option<u64> {
        self.parts.iter().filter_map(|part| part.outputs).max()
    }

    pub fn has_experts(&self) -> bool {
        self.products().any(|(_, of)| of.experts)
    }

    pub fn holds(&self, thread: Option<u32>, time: u64) -> bool {
        (self.from..=self.end).contains(&time) && thread.is_none_or(|thread| thread == self.thread)
    }
}

/// All products that one process computed, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Computed {
    pub passes: Vec<Pass>,
    /// The number of records that could not be read, for example of graphs with an unknown layout of ggml's structures
    /// or with too many kinds of products.
    pub unread: u64,
}

/// The computed graphs, by process.
pub type Account = BTreeMap<u32, Computed>;

impl Computed {
    /// Parses the recorded text. Reading stops at a truncated line, and `unread` records that the rest is unknown.
    pub fn parse(text: &str) -> Computed {
        let (mut parts, mut passes, mut unread): (Vec<Part>, Vec<Pass>, u64) = (Vec::new(), Vec::new(), 0);
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["pass", thread, from, end] => match (number(thread), number(from), number(end)) {
                    (Some(thread), Some(from), Some(end)) => {
                        passes.push(Pass { thread: thread as u32, from, end, parts: Vec::new() });
                    }
                    _ => unread += 1,
                },
                ["ran", thread, from, end, backend, outputs] => match (number(thread), number(from), number(end)) {
                    (Some(thread), Some(from), Some(end)) => parts.push(Part {
                        thread: thread as u32,
                        from,
                        end,
                        backend: (*backend).to_owned(),
                        outputs: number(outputs),
                        products: Vec::new(),
                    }),
                    _ => unread += 1,
                },
                ["", "d" | "e", ..] => match (parts.last_mut(), products(&words)) {
                    (Some(part), Some(of)) => part.products.push(of),
                    _ => unread += 1,
                },
                _ => unread += 1,
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            unread += 1;
        }
        Computed { passes: grouped(passes, parts), unread }
    }
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn products(words: &[&str]) -> Option<Products> {
    let ["", op, kind, k, m, columns, batch, weights, count] = words else { return None };
    Some(Products {
        experts: *op == "e",
        kind: kind.to_ascii_uppercase(),
        k: k.parse().ok()?,
        m: m.parse().ok()?,
        columns: columns.parse().ok()?,
        batch: batch.parse().ok()?,
        weights: *weights == "w",
        count: count.parse().ok()?,
    })
}

/// Groups parts by the scheduler call that they belong to. A part without one is a separate evaluation.
fn grouped(mut passes: Vec<Pass>, parts: Vec<Part>) -> Vec<Pass> {
    passes.sort_by_key(|pass| pass.from);
    let mut alone = Vec::new();
    for part in parts {
        let before = passes.partition_point(|pass| pass.from <= part.from);
        let candidates = passes.get_mut(..before).unwrap_or_default().iter_mut().rev().take(8);
        let mut own = candidates.filter(|pass| pass.thread == part.thread && pass.end >= part.end);
        match own.next() {
            Some(pass) => pass.parts.push(part),
            None => {
                let (thread, from, end) = (part.thread, part.from, part.end);
                alone.push(Pass { thread, from, end, parts: vec![part] });
            }
        }
    }
    passes.extend(alone);
    passes.retain(|pass| !pass.parts.is_empty());
    passes.sort_by_key(|pass| pass.from);
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ran 7 10 20 ROCm0 -\n d q4_K 4096 4096 290 1 w 12\n e q4_K 2048 768 290 8 w 3\nran 7 21 30 CPU 1\n d q6_K 4096 32000 1 1 w 1\npass 7 9 31\nran 7 40 50 ROCm0 1\n d q4_K 4096 4096 1 1 w 12\npass 7 39 51\n";

    #[test]
    fn the_parts_of_one_evaluation_are_put_together() {
        let computed = Computed::parse(TEXT);
        assert_eq!(computed.unread, 0);
        let widths: Vec<_> = computed.passes.iter().map(|pass| (pass.width(), pass.outputs())).collect();
        assert_eq!(widths, [(Some(290), Some(1)), (Some(1), Some(1))]);
        let backends: Vec<&str> = computed.passes[0].parts.iter().map(|part| part.backend.as_str()).collect();
        assert_eq!(backends, ["ROCm0", "CPU"]);
        assert!(computed.passes[0].has_experts() && !computed.passes[1].has_experts());
        assert_eq!(computed.passes[0].parts[0].products[0].kind, "Q4_K");
    }

    #[test]
    fn lines_that_are_cut_short_or_refused_are_counted() {
        for end in 1..TEXT.len() {
            let computed = Computed::parse(&TEXT[..end]);
            assert!(computed.unread > 0 || TEXT[..end].ends_with('\n'), "{end}");
        }
        assert_eq!(Computed::parse("refused 1 2 3 ROCm0 -\n").unread, 1);
        assert_eq!(Computed::parse(" more 3\n").unread, 1);
    }
}
