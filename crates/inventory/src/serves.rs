//! Would this file serve a device? Which of the targets in it the device takes, and how many kernels with code it finds
//! there: a library full of stubs serves nobody.

use crate::report::FileReport;
use gpu::{Arch, How};

/// What a Vulkan driver compiles, as [`Serves::taken`] names it.
const VULKAN: &str = "SPIR-V for Vulkan";

/// The answer for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serves {
    /// The target whose code would be taken; None where there is none.
    pub taken: Option<String>,
    pub how: Option<How>,
    /// Kernels of that target (and its variants), and how many of them compute nothing.
    pub kernels: u64,
    pub stubs: u64,
    /// Entries of it whose kernels nobody counts: SPIR-V and bitcode.
    pub uncounted: u64,
    /// Nothing of the file was left unread, so that what was not found is not there.
    pub complete: bool,
}

impl Serves {
    /// Kernels that compute something.
    pub fn live(&self) -> u64 {
        self.kernels.saturating_sub(self.stubs)
    }

    /// None where nobody can say.
    pub fn answer(&self) -> Option<bool> {
        if self.live() > 0 || (self.uncounted > 0 && self.kernels == 0) {
            return Some(true);
        }
        self.complete.then_some(false)
    }
}

impl FileReport {
    pub fn serves(&self, wanted: &Arch) -> Serves {
        let targets = self.targets();
        let taken = wanted.takes(targets.keys().map(String::as_str));
        let mut serves = Serves {
            taken: taken.map(|taken| taken.code.to_owned()),
            how: taken.map(|taken| taken.how),
            kernels: 0,
            stubs: 0,
            uncounted: 0,
            complete: self.is_complete(),
        };
        let Some(taken) = taken else {
            // A file for Vulkan alone: the driver compiles its modules for whatever GPU it drives.
            if targets.is_empty() && !self.modules.is_empty() && *wanted != Arch::Spirv {
                serves.taken = Some(VULKAN.to_owned());
                serves.how = Some(How::Compiled);
                serves.uncounted = self.modules.len() as u64;
            }
            return serves;
        };
        // Variants by features (`gfx90a:xnack+` and `gfx90a:xnack-`) serve together: which one is up to the device.
        let same = |code: &str| wanted.takes([code]).is_some_and(|other| other.how == taken.how);
        let nvidia = matches!(wanted, Arch::Nvidia(_));
        let counts = |code: &str| code == taken.code || (!nvidia && same(code));
        for (_, summary) in targets.iter().filter(|(code, _)| counts(code)) {
            serves.kernels += summary.kernels;
            serves.stubs += summary.stubs;
            serves.uncounted += summary.uncounted;
        }
        serves
    }
}
