//! `--record` for trees: records the declarations of the source in the ledger, on the rung Declared.

use crate::context::Context;
use callchain::rocblas::Rocblas;
use callchain::{Chain, Fact as Beside};
use evidence::{Observation, Refused};
use observe::declared_tree;
pub use observe::declared_tree::Way;
use source::Tree;

pub fn chains(tree: &Tree, chains: &[Chain], beside: &[Beside], files: usize, context: &Context) -> say::Result<()> {
    write(declared_tree::chains(tree, chains, beside, files), "chain-recorded", context)
}

pub fn ways(tree: &Tree, name: &str, ways: &[Way<'_>], files: usize, context: &Context) -> say::Result<()> {
    write(declared_tree::ways(tree, name, ways, files), "chain-recorded", context)
}

pub fn rocblas(tree: &Tree, found: &Rocblas, files: usize, context: &Context) -> say::Result<()> {
    write(declared_tree::rocblas(tree, found, files), "chain-recorded", context)
}

pub fn rules(tree: &Tree, survey: &source::Survey<'_>, context: &Context) -> say::Result<()> {
    write(declared_tree::rules(tree, survey), "source-recorded", context)
}

fn write(made: Result<Vec<Observation>, Refused>, key: &str, context: &Context) -> say::Result<()> {
    let observations = made?;
    if observations.is_empty() {
        return Ok(());
    }
    let receipts = context.open_ledger()?.append(&observations)?;
    context.note(&context.lang.text_with(key, &[("count", receipts.len().into())]));
    Ok(())
}
