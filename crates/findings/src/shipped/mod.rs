//! The device code that a file ships: its kernels, and how complete the reading was.

mod conclusions;
mod kernels;

pub use conclusions::{completeness, presence};
pub use kernels::{Gather, Gathered, KernelFact, kernel_names};

/// The name of the observer that records these observations.
pub const NAME: &str = "inspect";
