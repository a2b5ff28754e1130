//! Windows, WebAssembly and other systems: files use only the standard library; everything that needs Linux is an error
//! of the kind `Unsupported`. Types that only Linux can make hold [`Never`], so their methods need no body.

pub mod abi;
pub mod bpf;
pub mod files;
pub mod host;
pub mod perf_event;
pub mod private_dir;
mod processes;
pub mod regular_file;
pub mod rooted;
pub mod terminal;
pub mod unix;

pub use processes::*;

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

/// A value that cannot exist.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Never {}

pub(crate) fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, say::say!("sys-only-linux")))
}

/// A connection that cannot be made.
#[derive(Debug)]
pub(crate) struct UnixStream(Never);

impl UnixStream {
    pub(crate) fn connect(_: impl AsRef<Path>) -> io::Result<UnixStream> {
        unsupported()
    }

    pub(crate) fn set_read_timeout(&self, _: Option<Duration>) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn set_write_timeout(&self, _: Option<Duration>) -> io::Result<()> {
        match self.0 {}
    }
}

impl Read for UnixStream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Write for UnixStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// Unguessable bytes.
#[cfg(windows)]
pub(crate) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    #[link(name = "bcryptprimitives", kind = "raw-dylib")]
    unsafe extern "system" {
        fn ProcessPrng(data: *mut u8, len: usize) -> i32;
    }
    // SAFETY: writes exactly this many bytes to a buffer of ours; it never fails (bcryptprimitives.dll, Windows 10).
    match unsafe { ProcessPrng(bytes.as_mut_ptr(), bytes.len()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A web page needs no secrets.
#[cfg(not(windows))]
pub(crate) fn fill(_: &mut [u8]) -> io::Result<()> {
    unsupported()
}

/// The name that a program is called by is its file's name.
pub(crate) fn called(_: &mut std::process::Command, _: &std::ffi::OsStr) {}
