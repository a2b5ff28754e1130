//! The verdict about a server's speed, shared by `why`, `investigate` and the command without arguments.

pub mod find;
pub mod kernel_census;
pub mod server_facts;
pub mod short;
pub mod text;
