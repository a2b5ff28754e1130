//! Dry run: the real program on a GPU that is not there.
//!
//! The parent describes a card ([`gpu::Profile`]) and the kernels of the runtime's libraries ([`kernels`]), puts the
//! stand-in libraries where the loader finds them first, runs the program, and reads back what its host code selected.
//! Everything seen here is Selected, never Launched.

mod device;
mod error;
mod guard;
mod host;
mod images;
mod kernels;
mod names;
mod near;
mod observer;
mod place;
mod selection;
mod session;
mod sightings;
mod solutions;
mod survey;
mod wait;

pub use error::DryrunError;
pub use host::{HostError, host_profiles};
pub use kernels::{Described, describe};
pub use near::near;
pub use observer::DryrunObserver;
pub use place::Place;
pub use selection::{Needs, Phase, Selected, Step, select, select_each, steps};
pub use session::{Blas, Ending, Outcome, Request, Running, Streams, on_path};
pub use sightings::{Scene, library};
pub use survey::{Cell, Survey, last_words};
