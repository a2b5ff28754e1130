//! The live view of a watch: which kernels run now, how fast, by which path, and what was not seen.
//!
//! [`Collector`] turns the counts of a watch into a [`Snapshot`] once a second; [`View`] keeps the user's selections;
//! [`frame`] draws both as lines of text. These three do no I/O and read no clock, so tests draw every state.
//! [`Screen`] is the terminal. Frames use ASCII only, because box and block characters are two cells wide on some
//! Japanese terminals. Colour is never the only sign of a fact.
#![forbid(unsafe_code)]

mod cells;
mod collect;
mod detail;
mod draw;
mod keys;
mod paint;
mod screen;
mod snapshot;
mod tables;

pub use collect::{Collector, Now};
pub use draw::frame;
pub use keys::{Act, Pane, Sort, View};
pub use paint::Paint;
pub use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
pub use screen::Screen;
pub use snapshot::{Claim, Detail, Fallback, Fate, Kernel, PathShare, Process, Snapshot, Speed, State, Sure};
