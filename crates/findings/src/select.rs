//! The selection of code objects and kernels.

use crate::count::no_kernel;
use codeobject::TargetId;
use gpu::Arch;
use inventory::{File, Found};
use launch::NameFilter;
use say::{bail, say};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub struct Select {
    arch: Option<Arch>,
    /// `arch` as the target id of AMD's code objects.
    target: Option<TargetId>,
    kernel: Option<NameFilter>,
    /// The number of kernels that the filter matched.
    matched: AtomicU64,
    shown: AtomicU64,
}

impl Select {
    /// `gpu`: a target, or the name of a card; `kernel`: a name or a regular expression.
    pub fn new(gpu: Option<&str>, kernel: Option<&str>) -> say::Result<Self> {
        let arch = gpu.map(Arch::parse).transpose()?;
        let kernel = kernel.map(NameFilter::new).transpose()?;
        let target = arch.as_ref().and_then(amd);
        Ok(Select { arch, target, kernel, matched: AtomicU64::new(0), shown: AtomicU64::new(0) })
    }

    /// Whether a code object matches. Without a requested target, every target matches; a host entry never does.
    pub fn object(&self, found: &Found<'_>) -> bool {
        match (&self.arch, &self.target, found.target) {
            (None, _, _) => true,
            (_, Some(wanted), Some(target)) => target.answers(wanted),
            _ => false,
        }
    }

    /// Whether a target matches, by its name in a report: `gfx90a:xnack-`, `sm_90a`.
    pub fn named(&self, target: &str) -> bool {
        match (&self.arch, &self.target) {
            (None, _) => true,
            (_, Some(wanted)) => TargetId::parse(target).is_some_and(|target| target.answers(wanted)),
            (Some(arch), None) => arch.to_string() == target,
        }
    }

    pub fn kernel(&self, mangled: &str, name: &str) -> bool {
        self.shown.fetch_add(1, Ordering::Relaxed);
        let wanted = self.kernel.as_ref().is_none_or(|filter| filter.matches(mangled, name));
        self.matched.fetch_add(u64::from(wanted), Ordering::Relaxed);
        wanted
    }

    /// If the filter matches nothing, it is probably a typo: an error that names similar kernels.
    pub fn check(&self, file: &File) -> say::Result<()> {
        let Some(filter) = self.kernel.as_ref().filter(|_| self.matched.load(Ordering::Relaxed) == 0) else {
            return Ok(());
        };
        Err(no_kernel(file, self.target.as_ref(), filter))
    }

    /// Like [`Self::check`], for a target that does not occur; the error lists the targets that do.
    pub fn check_target(&self, report: &inventory::FileReport) -> say::Result<()> {
        let Some(arch) = &self.arch else { return Ok(()) };
        let targets = report.targets();
        if targets.keys().any(|target| self.named(target)) || targets.is_empty() {
            return Ok(());
        }
        let there: Vec<&str> = targets.keys().map(String::as_str).collect();
        let taken = arch.takes(there.iter().copied()).map(|taken| taken.code);
        let hint = taken.map(|code| say!("command-hint-takes", code));
        bail!("command-no-own-code", arch = arch.to_string(), hint, there)
    }
}

/// AMD's target id; None if it is another vendor's.
pub fn amd(arch: &Arch) -> Option<TargetId> {
    match arch {
        Arch::Amd(target) => TargetId::parse(&target.to_string()),
        Arch::Spirv => TargetId::parse(gpu::arch::SPIRV),
        Arch::Nvidia(_) => None,
    }
}
