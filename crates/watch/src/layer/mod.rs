//! A Vulkan layer of ours in a program that is started with it: every compute dispatch, submitted and ended.
//!
//! The layer is `shims/vklayer`; what it writes is read while the program runs. A dispatch counts when its command buffer is
//! submitted, as often as it is; it has ended when a fence behind it, its queue or its device was seen to end. On Mesa's
//! stand-in for the kernel driver fences signal at once and mean nothing: the device decides the rung.

use say::{Key, key};
mod process;
mod session;
mod source;

pub use crate::layer::process::has_stand_in;
pub use crate::layer::session::{LAYER, Session, manifest};
pub use crate::layer::source::LayerSource;

/// What it can never see.
pub const BLIND: &[Key] =
    &[key!("view-layer-blind-programs"), key!("view-blind-children"), key!("view-layer-blind-commands")];
