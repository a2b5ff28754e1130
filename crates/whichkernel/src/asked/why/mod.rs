//! The verdict about a server's speed, as `why`, `investigate` and the bare command show it.

pub mod find;
pub mod server_facts;
pub mod short;
pub mod text;
