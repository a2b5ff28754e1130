//! The location of an archive's entry: always below the root, never through a link.

use std::path::{Component, Path, PathBuf};

/// Directories that are links into `/usr` on merged-/usr systems; packages may use either path.
pub const MERGED: [&str; 5] = ["bin", "sbin", "lib", "lib32", "lib64"];

/// The entry's path below the root, or None if it would leave the root. The root itself is the empty path.
pub fn place(raw: &Path, merged_usr: bool) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for component in raw.components() {
        match component {
            Component::CurDir | Component::RootDir => {}
            Component::Normal(name) => {
                if merged_usr && out.as_os_str().is_empty() && MERGED.iter().any(|dir| name == *dir) {
                    out.push("usr");
                }
                out.push(name);
            }
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

/// The target of a link at `place`: relative, and inside the root according to its text. An absolute target means "from
/// the root of the tree" and is made relative, so that it works with and without chroot.
pub fn link_target(place_of_link: &Path, target: &Path, merged_usr: bool) -> Option<PathBuf> {
    let parent = place_of_link.parent()?;
    if target.is_absolute() {
        let inside = place(target, merged_usr)?;
        let mut out: PathBuf = parent.components().map(|_| Component::ParentDir).collect();
        out.push(inside);
        return Some(out);
    }
    let mut depth = parent.components().count();
    for component in target.components() {
        match component {
            Component::ParentDir => depth = depth.checked_sub(1)?,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_below_the_root() {
        let at = |raw: &str| place(Path::new(raw), true);
        assert_eq!(at("./usr/bin/x").unwrap(), Path::new("usr/bin/x"));
        assert_eq!(at("/etc/passwd").unwrap(), Path::new("etc/passwd"));
        assert_eq!(at("./lib64/ld-linux-x86-64.so.2").unwrap(), Path::new("usr/lib64/ld-linux-x86-64.so.2"));
        assert_eq!(at("opt/lib/x").unwrap(), Path::new("opt/lib/x"));
        assert_eq!(at("../x"), None);
        assert_eq!(at("a/../../x"), None);
        assert_eq!(place(Path::new("lib/x"), false).unwrap(), Path::new("lib/x"));
    }

    #[test]
    fn links_are_kept_inside() {
        let link = |at: &str, target: &str| link_target(Path::new(at), Path::new(target), true);
        assert_eq!(link("usr/lib/a.so", "a.so.1").unwrap(), Path::new("a.so.1"));
        assert_eq!(link("usr/lib/a.so", "../bin/x").unwrap(), Path::new("../bin/x"));
        assert_eq!(link("usr/lib/a.so", "/etc/alternatives/a").unwrap(), Path::new("../../etc/alternatives/a"));
        assert_eq!(link("usr/lib/a.so", "/lib/x").unwrap(), Path::new("../../usr/lib/x"));
        assert_eq!(link("a", "../x"), None);
        assert_eq!(link("usr/a", "../../x"), None);
        assert_eq!(link("usr/a", "b/../../../x"), None);
    }
}
