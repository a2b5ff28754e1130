//! Questions that several verbs share: their common flags, and how these become a question. Verbs do not import each
//! other; code that two verbs need and that belongs to no other crate is here.

pub mod compare;
pub mod dry;
pub mod gemm;
pub mod gguf_header;
pub mod metal;
pub mod record_declared;
pub mod tree;
pub mod tree_record;
pub mod why;
