//! Which solution rocBLAS and hipBLASLt choose for a product, computed from their catalogs.
//!
//! The rules are those of rocBLAS, hipBLASLt and Tensile (github.com/ROCm/rocm-libraries): the call becomes a problem,
//! the tree of the catalog leads to a table, and the table to a solution whose predicates hold. If the choice depends
//! on a node, predicate or release that is not implemented here, the answer is "not computed" and names it. Files are
//! read through [`crate::Files`]; this module opens none.

mod call;
mod candidate;
mod choice;
mod data_type;
mod gemv;
mod introsort;
mod leaf;
mod problem;
mod release;
mod selector;
mod strict;
mod table;
mod test;
mod tree;
mod value;
mod workspace;

pub use call::{Batches, Beta, Call, Compute, Epilogue, Library, Scales, USUAL_WORKSPACE};
pub use candidate::Candidate;
pub use choice::{Choice, Chosen, NotComputed, Trace, Uncovered};
pub use data_type::DataType;
pub use leaf::CatalogFile;
pub use problem::Hardware;
pub use release::Release;
pub use selector::Selector;
pub use table::{Distance, Entry, Table};
pub use test::Test;
pub use tree::{Row as TreeRow, Tree};
