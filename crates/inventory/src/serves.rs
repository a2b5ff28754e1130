//! Whether a file serves a device: the target that the device uses, and the number of kernels with code for that
//! target. A library full of stubs serves no device.

use crate::file_report::FileReport;
use codeobject::TargetId;
use gpu::{Arch, How};
use spirv_modules::Environment;

/// The name in [`Serves::taken`] for modules that a Vulkan driver compiles.
const VULKAN: &str = "SPIR-V for Vulkan";

/// The answer for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serves {
    /// The target whose code would be used; None if there is none.
    pub taken: Option<String>,
    pub how: Option<How>,
    /// The kernels of that target (and its variants), and how many of them compute nothing.
    pub kernels: u64,
    pub stubs: u64,
    /// Entries whose kernels cannot be counted: SPIR-V and bitcode.
    pub uncounted: u64,
    /// Whether the whole file was read, so that anything not found is not there.
    pub complete: bool,
    /// Names of items that may or may not be for this device.
    pub open: Vec<String>,
}

impl Serves {
    /// Kernels with working code, as opposed to stubs.
    pub fn live(&self) -> u64 {
        self.kernels.saturating_sub(self.stubs)
    }

    /// None if the answer is unknown.
    pub fn answer(&self) -> Option<bool> {
        if self.live() > 0 || (self.uncounted > 0 && self.kernels == 0) {
            return Some(true);
        }
        (self.complete && self.open.is_empty()).then_some(false)
    }
}

impl FileReport {
    pub fn serves(&self, wanted: &Arch) -> Serves {
        let targets = self.sure_targets();
        let taken = wanted.takes(targets.keys().map(String::as_str));
        let mut serves = Serves {
            taken: taken.map(|taken| taken.code.to_owned()),
            how: taken.map(|taken| taken.how),
            kernels: 0,
            stubs: 0,
            uncounted: 0,
            complete: self.is_complete(),
            open: self.open_for(wanted),
        };
        let Some(taken) = taken else {
            // A Vulkan driver compiles modules for any GPU that it drives. No file shows whether a GPU has an OpenCL or
            // Level Zero driver that accepts SPIR-V.
            for (environment, count) in self.environments() {
                if *wanted == Arch::Spirv {
                    continue;
                }
                if environment == Environment::Vulkan {
                    serves.taken = Some(VULKAN.to_owned());
                    serves.how = Some(How::Compiled);
                    serves.uncounted = count;
                } else {
                    serves.open.push(format!("{count} SPIR-V ({})", environment.name()));
                }
            }
            return serves;
        };
        // Variants by feature (`gfx90a:xnack+` and `gfx90a:xnack-`) are counted together: the device decides which one
        // is used.
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

    /// Bundle entries that name one target while their e_flags name another: the runtime selects them for the first,
    /// the loader accepts them for the second.
    fn open_for(&self, wanted: &Arch) -> Vec<String> {
        let mut open = Vec::new();
        for object in self.contradicted() {
            let Some(found) = object.contradicted() else { continue };
            let named = object.target.as_ref().map(ToString::to_string).unwrap_or_default();
            let names = [named, found.says.clone(), found.flags.to_string()];
            let concerns = |name: &str| {
                let target = TargetId::from_triple(name).map_or_else(|| name.to_owned(), |target| target.to_string());
                wanted.takes([target.as_str()]).is_some()
            };
            if names.iter().any(|name| concerns(name)) {
                let id = if object.id.is_empty() { "code object" } else { object.id.as_str() };
                open.push(format!("{id}: {} {}, e_flags {}", found.place, found.says, found.flags));
            }
        }
        open.dedup();
        open
    }
}
