//! Dry run: runs the real program on a simulated GPU.
//!
//! The parent describes a card ([`gpu::Profile`]) and the kernels of the runtime's libraries ([`kernels`]), puts the
//! stand-in libraries where the loader finds them first, runs the program, and reads the records of what the host code
//! selected. All results are Selected, never Launched.
#![forbid(unsafe_code)]

mod account;
pub mod answers;
mod backends;
mod cell;
mod cuda;
mod device;
mod dispatch_map;
mod ending;
mod error;
mod evaluated;
mod events;
mod hip_library;
mod host;
mod images;
mod kernel_cache;
mod kernels;
mod late_code;
mod loaded;
mod machine;
mod names;
mod nearest_target;
mod observer;
mod parallel;
mod plan;
mod products;
mod program_file;
mod run_records;
mod run_root;
mod runtime_diff;
pub mod sandbox;
mod selection;
mod session;
mod side_by_side;
mod sightings;
mod solutions;
mod surroundings;
mod survey;
mod verdict;
mod visible;
mod vulkan;
mod wait;

pub use crate::account::Checked;
pub use crate::backends::{Backends, HipRests, Product, Taken, VulkanRests};
pub use crate::cell::{Cell, Way, WayShape};
pub use crate::dispatch_map::{DispatchCell, DispatchMap, DispatchMaps, Said, Sheet, WayTaken, agreement};
pub use crate::ending::{Ending, Finish};
pub use crate::error::DryrunError;
pub use crate::events::{Events, Rejected};
pub use crate::host::{HostError, host_profiles};
pub use crate::kernels::{Described, describe};
pub use crate::late_code::Unjudged;
pub use crate::loaded::Loaded;
pub use crate::nearest_target::near;
pub use crate::observer::DryrunObserver;
pub use crate::parallel::each as parallel;
pub use crate::plan::{Card, Map, Plan};
pub use crate::products::{Account, Computed, Part, Pass, Products};
pub use crate::run_records::Counted;
pub use crate::run_root::RunRoot;
pub use crate::runtime_diff::{Aspect, CellDifference, RuntimeDiff};
pub use crate::selection::{Needs, Phase, Selected, TraceStep, select, select_each, steps};
pub use crate::session::{Blas, GRAPHS, Outcome, PRODUCTS, Request, Running, Streams};
pub use crate::side_by_side::{CardRun, KernelOnCards, LaunchesOnCard, OnCard, SideBySide};
pub use crate::sightings::{RecordContext, cuda_library, library};
pub use crate::survey::{Survey, last_words};
pub use crate::verdict::{Played, Verdict, of_cells, reach_of_cell, read_back, shown};
pub use crate::visible::VisibleDevices;
pub use crate::vulkan::{
    Code, VulkanCard, VulkanCardMap, VulkanCell, VulkanDiff, VulkanDifference, VulkanDryrun, VulkanMap, VulkanMaps,
    VulkanOutcome, VulkanRecord, VulkanRequest, VulkanRow, VulkanSelection, VulkanStep, VulkanSurvey, vulkan_library,
    vulkan_steps,
};
