//! Logs that the libraries write of themselves, as launches: AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB, HIPBLASLT_LOG_MASK.
//!
//! A line of the HIP runtime's log that names a shader is a dispatch. A line of rocBLAS or hipBLASLt is a call, not a kernel.
//! A line of Tensile is a choice. They stay apart: calls are counted as calls, and choices count as kernels only where no
//! dispatch is in the log, and then stand on the rung Selected.

use say::{Key, key};
mod amd;
mod blas;
mod masks;
mod reader;
mod source;

pub use crate::logs::masks::{VARIABLES, Variable, explain, wanted};
pub use crate::logs::reader::{LogAccount, LogReader};
pub use crate::logs::source::account;
pub use crate::logs::source::{LogSource, read_log};

/// What it can never see.
pub const BLIND: &[Key] = &[key!("view-logs-blind")];
