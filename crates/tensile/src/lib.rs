//! rocBLAS and hipBLASLt catalogs: the `.dat` trees, their solutions, and the code objects that hold the kernels.
//!
//! Takes bytes and a listing of names; never opens a file.
#![forbid(unsafe_code)]
