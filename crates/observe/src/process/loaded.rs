//! Each loaded library: its location, its version, and the edge that loaded it.

use crate::process::{Mapped, View};
use runtime::{
    library_names,
    linkage::{Chain, Dynamic, How, Search},
};
use say::{Message, Say as _};
use std::path::{Path, PathBuf};

say::named! {
    /// The location of a library: next to the program (an Ollama bundle, a build tree, an unpacked runtime) or in the
    /// system.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Origin: name {
        Program = "program",
        Bundle = "bundle",
        Rocm = "rocm",
        System = "system",
        Other = "other",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The path as the process sees it.
    pub path: PathBuf,
    pub deleted: bool,
    pub soname: Option<String>,
    /// The part after `.so.` in the file's own name: `4.3.60303`.
    pub version: Option<String>,
    /// The ROCm release, if the name contains it: `6.3.3`.
    pub release: Option<String>,
    /// The name of the GPU stack's part, for libraries that belong to one: `rocblas`, `hip`, `ggml-hip`, `cudart`.
    pub part: Option<&'static str>,
    pub origin: Origin,
    /// Position in the chain; None for a mapped file that the loader did not load.
    pub object: Option<usize>,
    pub how: How,
    /// SONAMEs of the objects that list the library in DT_NEEDED.
    pub needed_by: Vec<String>,
    /// Why the library's content could not be read.
    pub problem: Option<Message>,
}

/// Matches mapped files with those that the loader would load; the program opened the rest itself.
pub(super) fn explain(
    view: &View,
    search: &Search,
    chain: &mut Chain,
    mapped: &[Mapped],
    program: &Path,
) -> Vec<Loaded> {
    let read: Vec<(PathBuf, &Mapped, Result<Dynamic, Message>)> = mapped
        .iter()
        .filter(|file| file.executable || file.path.to_string_lossy().contains(".so"))
        .map(|file| {
            let dynamic = view.open(file).map_err(|error| error.message());
            let dynamic = dynamic.and_then(|file| Dynamic::read(&file).map_err(|error| error.message()));
            (view.inside(&file.path), file, dynamic)
        })
        .collect();
    // A library that another new library needs is loaded with that one, so open libraries without dependents first.
    let unexplained = |chain: &Chain| -> Vec<PathBuf> {
        let rest = read.iter().filter(|(path, _, dynamic)| {
            dynamic.as_ref().is_ok_and(|dynamic| dynamic.is_dynamic) && chain.by_path(search, path).is_none()
        });
        rest.map(|(path, ..)| path.clone()).collect()
    };
    let named: Vec<&String> = read.iter().filter_map(|(.., d)| d.as_ref().ok()).flat_map(|d| &d.needed).collect();
    for path in unexplained(chain) {
        let soname = read.iter().find(|(other, ..)| *other == path).and_then(|(.., d)| d.as_ref().ok()?.soname.clone());
        if !soname.is_some_and(|soname| named.contains(&&soname)) {
            chain.dlopen(search, &path);
        }
    }
    for path in unexplained(chain) {
        chain.dlopen(search, &path);
    }
    read.into_iter().map(|(path, file, dynamic)| one(search, chain, path, file, dynamic, program)).collect()
}

fn one(
    search: &Search,
    chain: &Chain,
    path: PathBuf,
    file: &Mapped,
    dynamic: Result<Dynamic, Message>,
    program: &Path,
) -> Loaded {
    let base = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (dynamic, problem) = match dynamic {
        Ok(dynamic) => (Some(dynamic), None),
        Err(problem) => (None, Some(problem)),
    };
    let soname = dynamic.and_then(|dynamic| dynamic.soname);
    // A deleted file has no usable path, but the loader still knows it by its SONAME.
    let by_name =
        |name: &str| chain.objects.iter().position(|o| o.name == name || o.dynamic.soname.as_deref() == Some(name));
    let object = chain.by_path(search, &path).or_else(|| by_name(soname.as_deref().unwrap_or(&base)));
    let how = object.and_then(|index| chain.objects.get(index)).map_or(How::Dlopen, |object| object.how);
    let needed_by = object
        .map(|index| {
            chain.needed_by(index).map(|o| o.dynamic.soname.clone().unwrap_or_else(|| o.name.clone())).collect()
        })
        .unwrap_or_default();
    Loaded {
        origin: origin(&path, program),
        part: library_names::part(&base),
        version: library_names::version(&base),
        release: library_names::rocm_release(&base),
        deleted: file.deleted,
        how: if how == How::Missing { How::Dlopen } else { how },
        path,
        soname,
        object,
        needed_by,
        problem,
    }
}

fn origin(path: &Path, program: &Path) -> Origin {
    let text = path.to_string_lossy();
    if path == program {
        return Origin::Program;
    }
    if text.starts_with("/opt/rocm") {
        return Origin::Rocm;
    }
    // `bin/ollama` with `lib/ollama/...` next to it, or libraries in the program's own directory.
    let bundle = program.parent().is_some_and(|dir| {
        let system = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"].iter().any(|d| dir == Path::new(d));
        !system && path.starts_with(dir) || dir.parent().is_some_and(|up| path.starts_with(up.join("lib/ollama")))
    });
    match () {
        () if bundle || text.contains("/lib/ollama/") => Origin::Bundle,
        () if ["/lib", "/usr/lib", "/lib64", "/usr/lib64"].iter().any(|dir| path.starts_with(dir)) => Origin::System,
        () => Origin::Other,
    }
}
