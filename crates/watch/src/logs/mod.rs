//! Launches from the libraries' own logs: AMD_LOG_LEVEL, ROCBLAS_LAYER, TENSILE_DB, HIPBLASLT_LOG_MASK.
//!
//! A line of the HIP runtime's log that names a shader is a dispatch. A line of rocBLAS or hipBLASLt is a call, not a
//! kernel. A line of Tensile is a choice. They are kept separate: calls are counted as calls, and choices count as
//! kernels only if the log has no dispatch; they are then on the rung Selected.

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

/// Events that this observer can never see.
pub const BLIND: &[Key] = &[key!("view-logs-blind")];
