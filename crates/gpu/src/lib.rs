//! GPUs as data: one profile per card with the origin of every number, targets and the code that they can use, and
//! occupancy.
//!
//! The crate does no I/O, has no unsafe code, and does not panic on any input. `occupancy` and `cuda_occupancy` have no dependencies,
//! because the stand-ins for the HIP and CUDA runtimes include them by path and must compute the same results as the rest
//! of the program.
#![forbid(unsafe_code)]

mod apple;
pub mod arch;
pub mod cards;
mod cuda_attributes;
pub mod cuda_occupancy;
mod limits;
mod listing;
mod number;
mod nvidia;
mod nvidia_profiles;
pub mod occupancy;
mod plain;
pub mod profile;
pub mod target;

pub use apple::{AppleGpu, FAMILY_ORIGIN as APPLE_FAMILY_ORIGIN, Unknown, apple_gpu, apple_gpus};
pub use arch::{Arch, How, Taken, UnknownArch};
pub use cards::{all, find};
pub use cuda_attributes::CUDA_ATTRIBUTES;
pub use limits::{Limits, limits};
pub use listing::{Listed, generation, listed, reference, title};
pub use number::Number;
pub use nvidia::{nvidia_names, nvidia_target};
pub use nvidia_profiles::{nvidia_profile, nvidia_profiles};
pub use profile::{Profile, ProfileError};
pub use target::{TargetId, processor_in, processors_in};
