//! Child processes, namespaces, rights and trials: features for watching and running other programs, which only Linux
//! has.

use super::{Never, unsupported};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub mod child {
    use super::Never;

    #[derive(Debug)]
    pub struct Child(pub(crate) Never);

    impl Child {
        pub fn pid(&self) -> u32 {
            match self.0 {}
        }

        pub fn is_over(&self) -> bool {
            match self.0 {}
        }

        pub fn wait(&mut self) {
            match self.0 {}
        }
    }
}

pub mod guard {
    use super::{Command, Never, io, unsupported};

    /// Child processes are not ended if this process is killed.
    #[derive(Debug)]
    pub struct GroupGuard(());

    impl GroupGuard {
        #[expect(clippy::unnecessary_wraps, reason = "the same face as on Linux")]
        pub fn new() -> io::Result<GroupGuard> {
            Ok(GroupGuard(()))
        }

        pub fn enter_before_exec(&self, _: &mut Command) {}
    }

    #[derive(Debug)]
    pub struct ResumeGuard(Never);

    impl ResumeGuard {
        pub fn new(_: &crate::bpf::Map) -> io::Result<ResumeGuard> {
            unsupported()
        }
    }
}

pub mod heap {
    pub fn in_large_pages(_: usize) {}
}

pub mod hip_runtime {
    use super::Never;

    pub const PROPERTIES: usize = 1472;

    /// hipError_t, other than hipSuccess.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Status(pub u32);

    #[derive(Debug)]
    pub struct HipRuntime(Never);

    impl HipRuntime {
        pub fn open() -> Result<HipRuntime, String> {
            Err(say::say!("sys-only-linux").to_string())
        }

        pub fn device_count(&self) -> Result<i32, Status> {
            match self.0 {}
        }

        pub fn device_properties(&self, _: i32) -> Option<Result<[u8; PROPERTIES], Status>> {
            match self.0 {}
        }
    }
}

/// Ctrl-C ends the process as usual.
pub mod interrupt {
    pub fn catch() {}

    pub fn catch_hangup() {}

    pub fn asked() -> bool {
        false
    }

    pub fn signal() -> Option<i32> {
        None
    }
}

pub mod look_only {
    use super::{Path, io, unsupported};

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Refused {
        pub writes: bool,
        pub tcp: bool,
    }

    pub fn look_only(_: &[&Path]) -> io::Result<Refused> {
        unsupported()
    }
}

pub mod mapped_call {
    use super::{Never, io, unsupported};
    use crate::unix::BorrowedFd;

    #[derive(Debug, Clone, Copy)]
    pub struct Function<'f> {
        pub file: BorrowedFd<'f>,
        pub size: usize,
        pub at: usize,
    }

    pub fn call(_: Function<'_>, _: u64) -> io::Result<super::child::Child> {
        unsupported()
    }

    #[derive(Debug)]
    pub struct Timing(Never);

    impl Timing {
        pub fn start(_: Function<'_>, _: u32, _: u32) -> io::Result<Timing> {
            unsupported()
        }

        pub fn is_ready(&self) -> bool {
            match self.0 {}
        }

        pub fn figure(&mut self) -> Option<f64> {
            match self.0 {}
        }

        pub fn again(&mut self) -> Option<f64> {
            match self.0 {}
        }
    }
}

pub mod mount {
    use super::{io, unsupported};
    use std::ffi::CStr;

    pub fn tracefs(_: &CStr) -> io::Result<()> {
        unsupported()
    }

    pub fn unmount(_: &CStr) -> io::Result<()> {
        unsupported()
    }
}

pub mod namespaces {
    use super::Command;
    pub use crate::kernel_types::NamespaceStep;

    pub fn before_exec(_: &mut Command, _: Vec<NamespaceStep>, _: i32) {}
}

pub mod rights {
    use super::{PathBuf, io};

    pub type CapabilitySet = ();

    pub fn kept(_: bool, _: bool, _: &[PathBuf]) -> CapabilitySet {}

    /// There are no capabilities to give up.
    #[expect(clippy::unnecessary_wraps, reason = "the same face as on Linux")]
    pub fn keep((): CapabilitySet, _: bool) -> io::Result<()> {
        Ok(())
    }
}

pub mod trial {
    use super::{Path, io, unsupported};

    /// The call that was refused, and its error.
    #[derive(Debug)]
    pub struct Refused {
        pub call: &'static str,
        pub error: io::Error,
    }

    say::worded! { struct Refused { call, error } => "about-why" (what = call, why = error) }

    pub fn seize_sibling() -> Result<(), Refused> {
        unsupported().map_err(|error| Refused { call: "PTRACE_SEIZE", error })
    }

    pub fn own_namespaces() -> Result<(), Refused> {
        unsupported().map_err(|error| Refused { call: "unshare", error })
    }

    pub fn opens(_: &Path) -> io::Result<()> {
        unsupported()
    }
}
