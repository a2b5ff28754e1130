//! Where probes go: the watched functions, the cheapest site in each, and putting them there.

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
