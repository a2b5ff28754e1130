//! Simulated refusals for tests, like aya's `sys/fake.rs`: a call fails with the errno that a test chooses.
//!
//! Root on a current kernel never sees some errors (EPERM of bpf(2), a kernel without uprobe links, a full process
//! table), so only users would. A refusal applies to the test's own thread and its forks until the value is dropped. It
//! exists only in builds with debug assertions, which tests have; a release does not contain it. (As a feature, it
//! would make every dependent crate compile twice, for tests and for the program.)

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has calls that can be made to fail"))]

use std::io;

/// A system call that a test can make fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Call {
    /// bpf(BPF_MAP_CREATE)
    BpfMap,
    /// bpf(BPF_PROG_LOAD)
    BpfProgram,
    /// bpf(BPF_LINK_CREATE)
    BpfLink,
    Fork,
    Mount,
    /// mmap(2) of a ring's or an event's buffer.
    Map,
    /// openat2(2)
    Openat2,
    PerfEventOpen,
    Ptrace,
    Unshare,
}

#[cfg(debug_assertions)]
pub use armed::{Failing, fail};

#[cfg(debug_assertions)]
mod armed {
    use super::Call;
    use std::cell::Cell;

    thread_local! {
        pub(super) static ERRNO: [Cell<i32>; Call::Unshare as usize + 1] = const { [const { Cell::new(0) }; _] };
    }

    /// The call fails as long as this value exists.
    #[derive(Debug)]
    #[must_use = "the call works again when this is dropped"]
    pub struct Failing {
        call: Call,
        before: i32,
        /// Ties the value to this thread.
        _here: std::marker::PhantomData<*const ()>,
    }

    /// Makes the call fail with this errno, in this thread.
    pub fn fail(call: Call, errno: i32) -> Failing {
        Failing { call, before: replace(call, errno), _here: std::marker::PhantomData }
    }

    impl Drop for Failing {
        fn drop(&mut self) {
            replace(self.call, self.before);
        }
    }

    fn replace(call: Call, errno: i32) -> i32 {
        ERRNO.with(|all| all.get(call as usize).map_or(0, |cell| cell.replace(errno)))
    }
}

/// Called before each of these calls: returns an error if a test requested one.
#[cfg(debug_assertions)]
pub(crate) fn outcome(call: Call) -> io::Result<()> {
    match armed::ERRNO.with(|all| all.get(call as usize).map_or(0, std::cell::Cell::get)) {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

#[cfg(not(debug_assertions))]
#[inline(always)]
#[expect(clippy::unnecessary_wraps, reason = "the same face as in tests")]
pub(crate) fn outcome(_: Call) -> io::Result<()> {
    Ok(())
}
