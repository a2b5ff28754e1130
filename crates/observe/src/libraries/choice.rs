//! Declared: the kernel that the catalog of a BLAS library leads to for a product.
//!
//! The catalog is a rule of the library file, like a dispatch rule of a source tree, so it needs no rung of its own. The
//! subject is the catalog file that decides, by its hash, and the target.

use super::id;
use crate::Sighting;
use evidence::{About, Coverage, Declared, Fact, Finding, Observation, Refused, Subject, Witness};
use tensile::select::{Call, Chosen};

/// The origin of a choice.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    /// The catalog file and its hash.
    pub file: &'a str,
    pub sha256: &'a str,
    pub runtime: &'a str,
    pub target: &'a str,
    /// The card by its profile: its number of compute units may decide.
    pub gpu: &'a str,
    pub library: &'a str,
    pub version: &'a str,
}

/// The chosen kernel, for the ledger.
pub fn choice(of: Decided<'_>, call: &Call, chosen: &Chosen, time: &str) -> Result<Sighting, Refused> {
    let subject = Subject::file(of.file, of.sha256).runtime(of.runtime).target(of.target).gpu(of.gpu);
    let op = |transposed: bool| if transposed { 'T' } else { 'N' };
    let about = About::new([
        ("m", call.m.to_string()),
        ("n", call.n.to_string()),
        ("k", call.k.to_string()),
        // The type's name as the observers of BLAS calls write it.
        ("types", format!("{}_r", call.types[0].name())),
        ("trans", format!("{}{}", op(call.trans_a), op(call.trans_b))),
        ("batch", call.batch.to_string()),
        ("library", of.library.to_owned()),
        ("version", of.version.to_owned()),
    ]);
    let finding = Finding::Saw(Fact::new("blas.kernel", about, chosen.kernel.as_str()));
    let coverage = Coverage::complete("products", 1).account(Witness::WriterCount);
    Observation::on::<Declared>(id(), subject, finding, coverage, time).map(Sighting::from)
}
