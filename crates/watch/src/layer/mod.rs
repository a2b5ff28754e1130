//! Our Vulkan layer in a program that is started with it: sees every compute dispatch, its submission and its end.
//!
//! The layer is `shims/vklayer`; its records are read while the program runs. A dispatch counts once for each
//! submission of its command buffer. It has ended when a fence after it has signalled, or its queue or device was seen
//! to be idle. On Mesa's stand-in for the kernel driver fences signal at once and mean nothing: the device decides the
//! rung.

use say::{Key, key};
mod process;
mod session;
mod source;

pub use crate::layer::process::has_stand_in;
pub use crate::layer::session::{LAYER, Session, manifest};
pub use crate::layer::source::LayerSource;

/// Events that this observer can never see.
pub const BLIND: &[Key] =
    &[key!("view-layer-blind-programs"), key!("view-blind-children"), key!("view-layer-blind-commands")];
