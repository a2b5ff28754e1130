//! What several verbs ask: their common flags, and how these become a question. Verbs do not import each other; what two of
//! them need, and no room does, is here.

pub mod compare;
pub mod dry;
pub mod gemm;
pub mod gguf_header;
pub mod record_declared;
pub mod tree;
pub mod tree_record;
