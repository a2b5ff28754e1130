//! The steps that a tree and its binds require. All strings are created before the fork.

use crate::sandbox::{Bind, Enter, EnterError};
use say::{Message, say};
use std::{
    ffi::CString,
    fs,
    path::{Component, Path, PathBuf},
};
use sys::files::{self, Access};
use sys::namespaces::NamespaceStep;
use sys::unix::FileTypeExt;

/// The steps, and a description of each for errors.
#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<NamespaceStep>,
    pub names: Vec<Step>,
}

/// The description of a step.
#[derive(Debug, Clone)]
pub struct Step {
    pub what: Message,
    /// Whether the step fails without the permission to create namespaces.
    pub early: bool,
}

/// The directory in which the new root is assembled. Every tree has it, and no package puts anything there.
const STAGE: &str = "mnt";
/// Directories that are provided from outside or filled by binds.
const OUTSIDE: [&str; 8] = ["proc", "dev", "sys", "tmp", "mnt", "root", "home", "run"];

/// Parts of the real /sys that programs use and that say nothing about a card.
const REAL: [&str; 12] = [
    "block",
    // Types of perf events: without them, `watch` cannot place a uprobe on the program.
    "bus/event_source",
    "dev",
    "firmware",
    "fs",
    "hypervisor",
    "kernel",
    "power",
    "class/net",
    "class/dmi",
    "bus/cpu",
    "bus/node",
];
/// Parts that are made up, with the place where the kernel shows them. Clang's `amdgpu-arch` does not go through `class`.
const MADE: [(&str, &str); 5] = [
    ("class/kfd", "class/kfd"),
    ("class/kfd", "devices/virtual/kfd"),
    ("class/drm", "class/drm"),
    ("bus/pci", "bus/pci"),
    ("module/amdgpu", "module/amdgpu"),
];

/// The real devices, except the driver's own.
fn devices() -> Vec<String> {
    let below = |part: &str| -> Vec<String> {
        let list = fs::read_dir(Path::new("/sys").join(part)).into_iter().flatten().flatten();
        list.map(|entry| format!("{part}/{}", entry.file_name().to_string_lossy())).collect()
    };
    let mut all = below("devices");
    all.retain(|part| part != "devices/virtual");
    all.extend(below("devices/virtual").into_iter().filter(|part| part != "devices/virtual/kfd"));
    all
}

impl Plan {
    pub fn new(enter: &Enter) -> Result<Plan, EnterError> {
        let mut plan = Plan::default();
        let uid = sys::host::user();
        let gid = sys::host::group();
        let map = |id: u32| format!("{id} {id} 1\n").into_bytes();
        let unshare = NamespaceStep::Unshare { root: uid == 0, uid_map: map(uid), gid_map: map(gid) };
        plan.early(unshare, say!("dryrun-step-unshare"));
        plan.early(NamespaceStep::Private, say!("dryrun-step-private"));
        match &enter.root {
            Some(root) => plan.inside(root, enter)?,
            None => plan.here(enter)?,
        }
        plan.add(NamespaceStep::Chdir(text(&enter.cwd)?), say!("dryrun-step-chdir", path = enter.cwd));
        Ok(plan)
    }

    /// A tree becomes the root.
    fn inside(&mut self, root: &Path, enter: &Enter) -> Result<(), EnterError> {
        let root = root.canonicalize().map_err(|source| EnterError::Path { path: root.to_owned(), source })?;
        if !root.join("usr/lib").is_dir() {
            return Err(EnterError::NotATree { path: root });
        }
        let stage = root.join(STAGE);
        if !stage.is_dir() {
            files::create_dir(&stage, Access::Private)
                .map_err(|source| EnterError::Path { path: stage.clone(), source })?;
        }
        self.early(NamespaceStep::Tmpfs(text(&stage)?), say!("dryrun-step-tmpfs", path = stage));
        self.tree(&root, &stage)?;
        for (source, target) in &enter.over {
            let rest = target.strip_prefix("/").unwrap_or(target);
            self.bind(source, &stage.join(rest))?;
        }
        for dir in ["proc", "dev"] {
            let (source, target) = (Path::new("/").join(dir), stage.join(dir));
            self.directory(&target)?;
            self.bind(&source, &target)?;
        }
        self.directory(&stage.join("sys"))?;
        match &enter.sysfs {
            Some((made, _)) => self.sysfs(made, &stage.join("sys"))?,
            None => self.bind(Path::new("/sys"), &stage.join("sys"))?,
        }
        for dir in ["tmp", "root", "home", "run"] {
            self.directory(&stage.join(dir))?;
        }
        for bind in &enter.binds {
            self.outside(bind, &stage)?;
        }
        self.early(NamespaceStep::Chroot(text(&stage)?), say!("dryrun-step-chroot", path = stage));
        Ok(())
    }

    /// The root stays, and a few of its parts are replaced.
    fn here(&mut self, enter: &Enter) -> Result<(), EnterError> {
        if let Some((made, stage)) = &enter.sysfs {
            self.early(NamespaceStep::Tmpfs(text(stage)?), say!("dryrun-step-tmpfs", path = stage));
            self.sysfs(made, stage)?;
            self.bind(stage, Path::new("/sys"))?;
        }
        for (source, target) in &enter.over {
            self.bind(source, target)?;
        }
        Ok(())
    }

    /// Assembles /sys: parts of the real one, and those that are made up.
    fn sysfs(&mut self, made: &Path, stage: &Path) -> Result<(), EnterError> {
        let real = REAL.iter().map(|part| (*part).to_owned()).chain(devices());
        let real = real.map(|part| (Path::new("/sys").join(&part), part));
        let made = MADE.iter().map(|(part, at)| (made.join(part), (*at).to_owned()));
        for (source, part) in real.chain(made).filter(|(source, _)| source.is_dir()) {
            let mut at = stage.to_owned();
            for name in part.split('/') {
                at.push(name);
                self.directory(&at)?;
            }
            self.bind(&source, &at)?;
        }
        Ok(())
    }

    /// Adds the tree's own top level: directories are bound read-only, links are copied.
    fn tree(&mut self, root: &Path, stage: &Path) -> Result<(), EnterError> {
        let broken = |source| EnterError::Path { path: root.to_owned(), source };
        for entry in fs::read_dir(root).map_err(broken)? {
            let entry = entry.map_err(broken)?;
            let (name, path) = (entry.file_name(), entry.path());
            if OUTSIDE.iter().any(|outside| name == *outside) {
                continue;
            }
            let target = stage.join(&name);
            let kind = entry.file_type().map_err(broken)?;
            if kind.is_symlink() {
                let to = fs::read_link(&path).map_err(broken)?;
                self.add(
                    NamespaceStep::Link { target: text(&to)?, at: text(&target)? },
                    say!("dryrun-step-link", path = target),
                );
            } else if kind.is_dir() {
                self.directory(&target)?;
                self.bind(&path, &target)?;
                self.read_only(&path, &target)?;
            }
        }
        Ok(())
    }

    fn outside(&mut self, bind: &Bind, stage: &Path) -> Result<(), EnterError> {
        let broken = |source| EnterError::Path { path: bind.source.clone(), source };
        let source = bind.source.canonicalize().map_err(broken)?;
        let kind = fs::metadata(&source).map_err(broken)?.file_type();
        let target = if bind.target.is_absolute() {
            bind.target.clone()
        } else {
            std::path::absolute(&bind.target).map_err(broken)?
        };
        let mut at = stage.to_owned();
        let names: Vec<_> = target.components().filter(|c| matches!(c, Component::Normal(_))).collect();
        for (i, name) in names.iter().enumerate() {
            at.push(name);
            if i + 1 == names.len() && (kind.is_file() || kind.is_socket()) {
                self.add(NamespaceStep::File(text(&at)?), placing(&target));
            } else {
                self.add(NamespaceStep::Directory(text(&at)?), placing(&target));
            }
        }
        self.bind(&source, &at)?;
        if !bind.writable {
            self.read_only(&source, &at)?;
        }
        Ok(())
    }

    fn directory(&mut self, at: &Path) -> Result<(), EnterError> {
        self.add(NamespaceStep::Directory(text(at)?), say!("dryrun-step-directory", path = at));
        Ok(())
    }

    fn bind(&mut self, source: &Path, target: &Path) -> Result<(), EnterError> {
        let step = NamespaceStep::Bind { source: text(source)?, target: text(target)? };
        self.add(step, say!("dryrun-step-bind", path = source));
        Ok(())
    }

    fn read_only(&mut self, source: &Path, target: &Path) -> Result<(), EnterError> {
        // mount_namespaces(7): in a user namespace a remount must keep the flags that came with the mount.
        let flags = sys::host::mount_flags(source).unwrap_or(0);
        let step = NamespaceStep::ReadOnly { target: text(target)?, flags };
        self.add(step, say!("dryrun-step-read-only", path = target));
        Ok(())
    }

    fn add(&mut self, step: NamespaceStep, what: Message) {
        self.steps.push(step);
        self.names.push(Step { what, early: false });
    }

    /// Adds a step that depends on the system's policy for namespaces.
    fn early(&mut self, step: NamespaceStep, what: Message) {
        self.steps.push(step);
        self.names.push(Step { what, early: true });
    }
}

fn placing(target: &Path) -> Message {
    say!("dryrun-step-place", path = target)
}

fn text(path: &Path) -> Result<CString, EnterError> {
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| EnterError::Path { path: PathBuf::from(path), source: std::io::ErrorKind::InvalidInput.into() })
}
