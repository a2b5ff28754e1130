//! Which files of a package belong to which GPU target, according to Tensile's file names.

use codeobject::{processor_in, processors_in};
use std::path::Path;

/// Whether a name is exactly a processor name: gfx90a, gfx12-generic.
pub fn is_target(name: &str) -> bool {
    processor_in(name) == Some(name)
}

/// Whether a file is wanted for these `targets` (empty: all). Only the kernel libraries of rocBLAS and hipBLASLt are
/// split by target. Other files, and files that name no target, are for all.
pub fn wanted(path: &Path, targets: &[String]) -> bool {
    if targets.is_empty() {
        return true;
    }
    let text = path.to_string_lossy();
    if !text.contains("/library/") {
        return true;
    }
    let mut named = processors_in(&text).peekable();
    // A generic target serves other processors than the one in its name.
    let serves = |name: &str| name.ends_with("-generic") || targets.iter().any(|target| target == name);
    named.peek().is_none() || named.any(serves)
}

/// A catalog file, or the symlink `librocblas.so.4` that names the library's version. A choice needs no other file.
pub fn is_catalog(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let name = text.rsplit('/').next().unwrap_or_default();
    let link = |stem: &str| name.strip_prefix(stem).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    (text.contains("/library/") && name.ends_with(".dat")) || link("librocblas.so.") || link("libhipblaslt.so.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_paths() {
        let names = |path| processors_in(path).collect::<Vec<_>>();
        assert_eq!(names("Kernels.so-000-gfx90a-xnack+.hsaco"), ["gfx90a"]);
        assert_eq!(names("library/gfx1201/TensileLibrary_X_gfx1201.dat"), ["gfx1201", "gfx1201"]);
        assert_eq!(names("TensileLibrary_Type_HH_fallback.dat"), [""; 0]);
        assert_eq!(names("gfx gfxx gfx12 gfx"), [""; 0]);
    }

    #[test]
    fn a_catalog_is_its_tables_and_the_link_that_names_the_version() {
        let is = |path: &str| is_catalog(Path::new(path));
        assert!(is("usr/lib/x86_64-linux-gnu/rocblas/4.4.1/library/TensileLibrary_lazy_gfx906.dat"));
        assert!(is("usr/lib/x86_64-linux-gnu/librocblas.so.4"));
        assert!(!is("usr/lib/x86_64-linux-gnu/librocblas.so.4.4"));
        assert!(!is("usr/lib/x86_64-linux-gnu/rocblas/4.4.1/library/Kernels.so-000-gfx906.hsaco"));
        assert!(!is("usr/share/doc/x.dat"));
    }

    #[test]
    fn other_targets_and_only_those_are_left_out() {
        let only = ["gfx1100".to_owned(), "gfx900".to_owned()];
        let keep = |path: &str| wanted(Path::new(path), &only);
        assert!(keep("usr/lib/rocblas/4.4.1/library/Kernels.so-000-gfx1100.hsaco"));
        assert!(keep("usr/lib/rocblas/4.4.1/library/TensileLibrary_Type_HH_fallback.dat"));
        assert!(!keep("usr/lib/rocblas/4.4.1/library/TensileLibrary_lazy_gfx906.dat"));
        assert!(!keep("usr/lib/hipblaslt/library/gfx1201/x.co"));
        assert!(keep("usr/lib/hipblaslt/library/TensileLibrary_lazy_gfx11-generic.dat"));
        assert!(keep("usr/share/doc/gfx906.txt"));
        assert!(wanted(Path::new("a/library/x_gfx906.co"), &[]));
    }
}
