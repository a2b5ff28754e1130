//! The source files that a build compiles, by target.

use super::Cmake;
use std::collections::{BTreeMap, BTreeSet};

/// The sources of a library or a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Files, and whether each certainly belongs to the target.
    pub files: BTreeMap<String, bool>,
    /// A command that may add or remove unknown files.
    pub open: Option<String>,
}

/// Whether a build compiles a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compiled {
    Yes,
    /// The build's own list excludes the file.
    No,
    /// It is unknown whether the build compiles the file, because of this command.
    Unknown(String),
    /// No target has a file in that directory.
    NotListed,
}

/// The targets of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    by_name: BTreeMap<String, Target>,
    /// Files with HEADER_FILE_ONLY, and whether that is certain.
    not_compiled: BTreeMap<String, bool>,
    /// The build file of the backend itself was read.
    pub has_backend: bool,
    /// The directory of the dispatcher, and the targets that contain the dispatcher. These decide about files in and
    /// below the directory, except at the root of a tree: there, files of other targets are next to the dispatcher.
    home: String,
    of_home: Vec<String>,
    /// The targets that have a file of a directory.
    of_dir: BTreeMap<String, Vec<String>>,
}

impl Targets {
    /// The targets as seen from a dispatcher.
    pub fn entered_at(mut self, entry: &str) -> Targets {
        dir(entry).clone_into(&mut self.home);
        let having = |has: &dyn Fn(&str) -> bool| -> Vec<String> {
            let found = self.by_name.iter().filter(|(_, target)| target.files.keys().any(|file| has(file)));
            found.map(|(name, _)| name.clone()).collect()
        };
        let of_home = Some(having(&|file| file == entry)).filter(|found| !found.is_empty());
        self.of_home = of_home.unwrap_or_else(|| having(&|file| dir(file).starts_with(&self.home)));
        for (name, target) in &self.by_name {
            for at in target.files.keys().map(|file| dir(file)).collect::<BTreeSet<&str>>() {
                self.of_dir.entry(at.to_owned()).or_default().push(name.clone());
            }
        }
        self
    }

    pub fn compiled(&self, path: &str) -> Compiled {
        let at = dir(path);
        let within = !self.home.is_empty() && at.starts_with(&self.home);
        let of_home = (within || at == self.home).then_some(&self.of_home);
        let of_dir = self.of_dir.get(at).filter(|_| !within);
        let near = || of_home.into_iter().chain(of_dir).flatten().filter_map(|name| self.by_name.get(name));
        let listed = near().filter_map(|target| target.files.get(path)).max();
        let open = || near().find_map(|target| target.open.clone());
        match (self.not_compiled.get(path), listed) {
            (Some(true), _) => Compiled::No,
            (Some(false), _) => Compiled::Unknown("HEADER_FILE_ONLY".to_owned()),
            (None, Some(true)) => Compiled::Yes,
            (None, Some(false)) => Compiled::Unknown(open().unwrap_or_else(|| path.to_owned())),
            (None, None) if near().next().is_none() => Compiled::NotListed,
            (None, None) => open().map_or(Compiled::No, Compiled::Unknown),
        }
    }
}

/// A file's directory with a trailing slash; empty at the root.
fn dir(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default()
}

/// Keywords of `add_library`, `add_executable` and `target_sources` that are not files.
const WORDS: &[&str] = &[
    "STATIC",
    "SHARED",
    "MODULE",
    "OBJECT",
    "INTERFACE",
    "PRIVATE",
    "PUBLIC",
    "EXCLUDE_FROM_ALL",
    "WIN32",
    "MACOSX_BUNDLE",
    "BEFORE",
    "UNKNOWN",
];

impl Cmake<'_> {
    /// Adds files to a target. `certain`: the command is run. `whole`: all of its arguments are known. `kept`: the
    /// known arguments are certainly present.
    pub(super) fn add_sources(&mut self, args: &[String], line: usize, [certain, whole, kept]: [bool; 3]) {
        let Some((name, files)) = args.split_first() else { return };
        if files.iter().any(|word| word == "ALIAS" || word == "IMPORTED") {
            return;
        }
        let place = format!("{}:{line}", self.file);
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        let mut open = (!whole || !certain).then(|| place.clone());
        let sets = files.iter().any(|word| word == "FILE_SET");
        // A generator expression may enclose several items.
        let mut depth = 0usize;
        for word in files.iter().filter(|word| !WORDS.contains(&word.as_str())) {
            let plain = word.replace("/<root>", "");
            let within = depth > 0;
            depth = (depth + plain.matches("$<").count()).saturating_sub(plain.matches('>').count());
            if plain.contains("$<") || within || sets {
                open = Some(place.clone());
                let parts = plain.split(['$', '<', '>', ':', ',', ';']).filter(|part| part.contains('.'));
                let whole = |part: &str| if part.starts_with('/') { format!("/<root>{part}") } else { part.to_owned() };
                found.extend(parts.map(|part| (self.resolve(&whole(part)), false)));
                continue;
            }
            let sure = certain && kept && !self.not_sure_of.contains(word);
            found.insert(self.resolve(word), sure);
        }
        let target = self.build.targets.by_name.entry(name.clone()).or_default();
        for (file, sure) in found {
            let known = target.files.entry(file).or_insert(sure);
            *known |= sure;
        }
        target.open = target.open.take().or(open);
    }

    /// A property that replaces the files of a target: its files are then unknown.
    pub(super) fn sets_sources(&mut self, args: &[String], line: usize) {
        if !args.iter().any(|arg| arg == "SOURCES") {
            return;
        }
        let place = format!("{}:{line}", self.file);
        for (name, target) in &mut self.build.targets.by_name {
            if args.contains(name) {
                target.files.values_mut().for_each(|sure| *sure = false);
                target.open.get_or_insert(place.clone());
            }
        }
    }

    /// `HEADER_FILE_ONLY`: the file belongs to its target but is not compiled.
    pub(super) fn header_only(&mut self, files: &[String], value: &str, certain: bool) {
        let on = matches!(value.to_ascii_uppercase().as_str(), "ON" | "1" | "TRUE" | "YES" | "Y");
        let off = matches!(value.to_ascii_uppercase().as_str(), "OFF" | "0" | "FALSE" | "NO" | "N" | "");
        for file in files {
            let path = self.resolve(file);
            match (off && certain, on && certain) {
                (true, _) => drop(self.build.targets.not_compiled.remove(&path)),
                (_, sure) => drop(self.build.targets.not_compiled.insert(path, sure)),
            }
        }
    }

    /// Marks the variables that a command sets as unknown.
    pub(super) fn unknown_names(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.longer.remove(&name);
            self.vague.insert(name);
        }
    }
}

/// Files of the tree that its build excludes.
pub fn left_out<'p>(targets: &Targets, paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    paths.filter(|path| targets.compiled(path) == Compiled::No).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(of: &[(&str, &[&str])], entry: &str) -> Targets {
        let target = |files: &[&str]| Target {
            files: files.iter().map(|file| ((*file).to_owned(), true)).collect(),
            open: None,
        };
        let by_name = of.iter().map(|(name, files)| ((*name).to_owned(), target(files))).collect();
        Targets { by_name, ..Targets::default() }.entered_at(entry)
    }

    #[test]
    fn a_target_beside_the_backend_counts_only_at_the_root() {
        // The layout of llama.cpp until February 2024: ggml.c is next to the dispatcher in a target of its own.
        let flat = targets(&[("ggml", &["ggml.c"]), ("ggml-rocm", &["ggml-cuda.cu"])], "ggml-cuda.cu");
        assert_eq!(flat.compiled("ggml.c"), Compiled::Yes);
        assert_eq!(flat.compiled("ggml-opencl.cpp"), Compiled::No);
        let deep = targets(&[("tests", &["cuda/extra.cu"]), ("ggml-hip", &["cuda/main.cu"])], "cuda/main.cu");
        assert_eq!(deep.compiled("cuda/main.cu"), Compiled::Yes);
        assert_eq!(deep.compiled("cuda/extra.cu"), Compiled::No, "another target does not speak for the backend");
    }
}
