//! The phase proxy: the prompts sent to a server, the tokens that it really evaluated, the speed, and the paths that
//! the source rules declare for them.
//!
//! A server's count of prompt tokens is not the number of columns of its matrix products: a cached prefix is not
//! evaluated, a long prompt is cut, and the last layer sees one token. Every exchange is kept as it was sent and
//! received, and all results are computed from those exchanges by the same code, live or from a recording. No
//! privileges are needed; inferred results are labelled as such.
#![forbid(unsafe_code)]

mod answer;
mod change;
mod count_check;
mod exchange;
mod gather;
pub mod lanes;
mod launches;
pub mod live;
mod memory;
mod model;
mod observer;
mod pieces;
pub mod plot;
mod read;
pub mod record;
mod release;
pub mod replay;
mod speed;
mod zone;

pub use answer::{Answer, Basis, Fact, Failure, Mark, Missing, Offload, Probe, Server, TypeCount};
pub use change::{Change, Point, Power, changes};
pub use exchange::Exchange;
pub use gather::{SWEEP, Wanted, answer};
pub use launches::{Launch, Onlooker, Watched};
pub use model::{LayerGroup, Mix};
pub use observer::ProbeObserver;
pub use pieces::{Batching, Known};
pub use speed::{Load, Speed, Spread};
pub use zone::{Part, Zone};
