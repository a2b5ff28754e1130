//! The watched processes, their mappings, and the names of the functions they launch.

pub mod driver_objects;
pub mod drivers;
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
pub mod stop_on_map;
pub mod stopped_program;
pub mod tree;
