//! Whom they watch: processes, what these have mapped, and the names of what they launch.

pub mod driver_objects;
pub mod drivers;
pub mod held;
pub mod hold;
pub mod late_names;
pub mod mapped_file;
pub mod memory;
pub mod names;
pub mod pipeline_names;
pub mod proc;
pub mod processes;
mod records;
pub mod resolver;
pub mod spawn;
pub mod tree;
