//! The extension traits that only Unix has in the standard library.

pub use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
pub use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt};
pub use std::os::unix::process::{CommandExt, ExitStatusExt};
