//! Paths as a process with another root sees them: links are followed inside that root, never out of it.

use std::{
    fs::File,
    io,
    path::{Component, Path, PathBuf},
};

/// As in the kernel: more links than this is a loop.
const LINKS: usize = 40;

/// A root directory (`/`, an unpacked tree, `/proc/PID/root`) in which absolute paths are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    root: PathBuf,
}

impl Inside {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Inside { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where an inside path lies for us, links not resolved.
    pub fn outside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The inside path with all links resolved; it need not exist beyond what could be resolved.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut todo: Vec<PathBuf> = path.components().rev().map(|c| PathBuf::from(c.as_os_str())).collect();
        let mut done = PathBuf::from("/");
        let mut links = 0;
        while let Some(next) = todo.pop() {
            match next.components().next() {
                Some(Component::ParentDir) => {
                    done.pop();
                }
                Some(Component::Normal(name)) => {
                    let here = done.join(name);
                    match std::fs::read_link(self.outside(&here)) {
                        Ok(target) => {
                            links += 1;
                            if links > LINKS {
                                return Err(io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error()));
                            }
                            if target.is_absolute() {
                                done = PathBuf::from("/");
                            }
                            todo.extend(target.components().rev().map(|c| PathBuf::from(c.as_os_str())));
                        }
                        Err(_) => done = here,
                    }
                }
                Some(Component::RootDir) => done = PathBuf::from("/"),
                _ => {}
            }
        }
        Ok(done)
    }

    /// The regular file there. The kernel keeps links inside, whoever changes them meanwhile.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        sys::regular_file::open_in(&self.root, path)
    }

    /// All of a small file there.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        use io::Read;
        let mut bytes = Vec::new();
        self.open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn absolute_links_stay_inside_and_loops_end() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::write(root.join("usr/lib/real.so"), "x").unwrap();
        symlink("usr/lib", root.join("lib")).unwrap();
        symlink("/usr/lib/real.so", root.join("usr/lib/link.so")).unwrap();
        symlink("../../../../etc/passwd", root.join("usr/lib/up.so")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        fs::create_dir(root.join("etc")).unwrap();
        symlink("/etc/passwd", root.join("usr/lib/host.so")).unwrap();
        let inside = Inside::new(root);
        let resolve = |path: &str| inside.resolve(Path::new(path));
        assert_eq!(resolve("/lib/link.so").unwrap(), Path::new("/usr/lib/real.so"));
        assert_eq!(resolve("/lib/up.so").unwrap(), Path::new("/etc/passwd"));
        assert!(inside.open(Path::new("/lib/up.so")).is_err(), "the tree has no etc/passwd");
        assert!(inside.open(Path::new("/lib/host.so")).is_err(), "nor the host's");
        assert!(inside.open(Path::new("/lib/link.so")).is_ok());
        assert!(resolve("/loop").is_err());
    }
}
