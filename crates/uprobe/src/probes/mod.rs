//! The probes: the watched functions, the cheapest site in each, and how they are placed.

pub mod arm;
pub mod attach;
pub mod attached;
pub mod canary;
pub mod cost;
pub mod entries;
pub mod exits;
pub mod library;
pub mod pointers;
pub mod preprobe;
pub mod recognise;
pub mod site;
pub mod stub;
pub mod symbols;
pub mod trial;
