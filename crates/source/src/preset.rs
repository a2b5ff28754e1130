//! The defines of a build of this tree: from its own CMake files with their defaults and the wanted backend turned on,
//! from Debian's packaging if the tree contains it, and from the compiler and the SDK.

use crate::build_script;
use crate::cmake::{Build, Cmake, Targets};
use crate::device::Vendor;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// Names and values; `None` for a name that is explicitly undefined.
pub type Defines = Vec<(String, Option<String>)>;

say::named! {
    /// The build system of this build.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Builder: name {
        Upstream = "upstream",
        Ollama = "ollama",
        Debian = "debian",
        /// A crate, which only its build script compiles.
        Cargo = "cargo",
        /// The tree has no build files.
        Assumed = "assumed",
    }
}

impl Builder {
    /// The builder of a tree with CMake files, determined by its other files.
    fn of(tree: &Tree) -> Builder {
        let ollamas = |path: &str| path.starts_with("ml/backend/ggml/") || path.starts_with("llama/runner/");
        if tree.paths().any(ollamas) { Builder::Ollama } else { Builder::Upstream }
    }
}

#[derive(Debug, Clone)]
pub struct Preset {
    pub builder: Builder,
    pub vendor: Vendor,
    /// Whether CMake files were read, so that their options can be set.
    pub by_cmake: bool,
    /// Whether the build file lists every define that it passes, so that no other name is defined.
    pub complete: bool,
    pub defines: Defines,
    /// Additional defines of single files: the end of a path, and its defines.
    pub of_file: Vec<(String, Defines)>,
    /// The origin of each define: file and line, or the basis of an assumption.
    pub origin: BTreeMap<String, String>,
    /// CMake options in the files that were read. An unset define with the name of an option is off, not unknown.
    pub options: BTreeMap<String, String>,
    /// Defines that build files mention without settling whether they are set.
    pub unsure: BTreeSet<String>,
    /// The defines among them whose value is unknown.
    pub unsure_value: BTreeSet<String>,
    /// The position at which reading of the build files stopped.
    pub unread: Option<say::Message>,
    /// The targets of the build and their sources.
    pub targets: Targets,
}

/// The origin of defines from the compiler or from a header of the SDK.
const SDK: &str = "the compiler and its SDK";

/// The defines of the HIP compiler and SDK. The version is assumed; an answer that depends on it is undetermined.
const HIP: &[(&str, &str)] = &[("__HIP_PLATFORM_AMD__", "1"), ("__HIPCC__", "1"), ("HIP_VERSION", "60300000")];
const CUDA: &[(&str, &str)] = &[
    ("__CUDACC__", "1"),
    ("CUDART_VERSION", "12080"),
    ("CUDA_VERSION", "12080"),
    ("CUBLAS_VER_MAJOR", "12"),
    ("CUBLAS_VER_MINOR", "8"),
    ("CCCL_MAJOR_VERSION", "2"),
    ("CCCL_MINOR_VERSION", "7"),
];

/// Options that turn the backend on, in historical order.
const HIP_SWITCHES: &[&str] = &["GGML_HIP", "GGML_HIPBLAS", "LLAMA_HIPBLAS", "WHISPER_HIPBLAS"];
const CUDA_SWITCHES: &[&str] = &["GGML_CUDA", "LLAMA_CUDA", "LLAMA_CUBLAS", "WHISPER_CUDA", "WHISPER_CUBLAS"];

impl Preset {
    /// `given` are CMake options set by the user.
    pub fn find(tree: &Tree, vendor: Vendor, dispatcher: &str, given: &[(String, String)]) -> Preset {
        let mut preset = Preset {
            builder: Builder::Assumed,
            vendor,
            by_cmake: false,
            complete: false,
            defines: Vec::new(),
            of_file: Vec::new(),
            origin: BTreeMap::new(),
            options: BTreeMap::new(),
            unsure: BTreeSet::new(),
            unsure_value: BTreeSet::new(),
            unread: None,
            targets: Targets::default(),
        };
        let debian = debian_options(tree);
        if let Some(root) = root(tree, dispatcher) {
            let vars: Vec<(String, String)> = switched_on(vendor).chain(debian.iter().chain(given).cloned()).collect();
            preset.take(Cmake::run(tree, &root, &vars), dispatcher);
            preset.builder = if debian.is_empty() { Builder::of(tree) } else { Builder::Debian };
        }
        let without_cmake = if preset.by_cmake { None } else { preset.take_script(tree, dispatcher) };
        // If there are no build files, or none turned the backend on, use the defines common to every build of this
        // backend. A CUDA build defines no other vendor; only a tree without build files leaves that open.
        let needed: &[&str] = match vendor {
            Vendor::Hip => &["GGML_USE_HIP", "GGML_USE_HIPBLAS"],
            Vendor::Cuda => &["GGML_USE_CUDA", "GGML_USE_CUBLAS"],
        };
        let settled = vendor == Vendor::Cuda && preset.by_cmake;
        if !settled && !needed.iter().any(|name| preset.origin.contains_key(*name)) {
            preset.builder = Builder::Assumed;
            for name in needed {
                preset.add((*name).to_owned(), "1".to_owned(), "assumed: no build file of the tree sets it".to_owned());
            }
        }
        if let Some(builder) = without_cmake {
            preset.builder = builder;
            preset.complete = true;
        }
        let sdk = if vendor == Vendor::Hip { HIP } else { CUDA };
        for (name, value) in sdk {
            preset.add((*name).to_owned(), (*value).to_owned(), SDK.to_owned());
        }
        preset
    }

    /// Takes over the result of the CMake files.
    fn take(&mut self, build: Build, dispatcher: &str) {
        let split = |define: String| match define.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (define, "1".to_owned()),
        };
        for (define, place) in build.defines {
            let (name, value) = split(define);
            self.add(name, value, place);
        }
        for (file, define) in build.of_file {
            let (name, value) = split(define);
            self.of_file.push((file, vec![(name, Some(value))]));
        }
        self.unsure = build.unsure;
        self.unsure_value = build.unsure_value;
        self.unread = build.unread;
        self.options = build.options;
        self.targets = build.targets.entered_at(dispatcher);
        let backend = match self.vendor {
            Vendor::Hip => "ggml-hip/CMakeLists.txt",
            Vendor::Cuda => "ggml-cuda/CMakeLists.txt",
        };
        self.targets.has_backend = build.files.iter().any(|file| file.ends_with(backend));
        self.by_cmake = true;
    }

    /// Takes over the defines that a tree without CMake files passes to its compiler: Go's flags, or a crate's build
    /// script.
    fn take_script(&mut self, tree: &Tree, dispatcher: &str) -> Option<Builder> {
        let tag = if self.vendor == Vendor::Hip { "rocm" } else { "cuda" };
        let mut passed = build_script::cgo(tree, dispatcher, tag);
        let builder = if !passed.is_empty() {
            Some(Builder::Ollama)
        } else if let Some(script) = build_script::find(tree, dispatcher) {
            if self.vendor == Vendor::Cuda {
                passed = build_script::passed(tree, &script, tag);
            }
            Some(Builder::Cargo)
        } else {
            None
        };
        for passed in passed {
            self.add(passed.name, passed.value, passed.place);
        }
        builder
    }

    fn add(&mut self, name: String, value: String, origin: String) {
        if !self.origin.contains_key(&name) {
            self.defines.push((name.clone(), Some(value)));
            self.origin.insert(name, origin);
        }
    }

    /// Applies `-D NAME[=VALUE]`.
    pub fn define(&mut self, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        self.unsure.remove(name);
        self.undefine(name);
        self.defines.retain(|(known, _)| known != name);
        self.defines.push((name.to_owned(), Some(value.to_owned())));
        self.origin.insert(name.to_owned(), "-D".to_owned());
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.defines.iter().any(|(known, value)| known == name && value.is_some())
    }

    /// Applies `-U NAME`.
    pub fn undefine(&mut self, name: &str) {
        self.unsure.remove(name);
        self.defines.retain(|(known, _)| known != name);
        self.defines.push((name.to_owned(), None));
        self.origin.insert(name.to_owned(), "-U".to_owned());
    }

    /// The defines, including the compilers' defaults: a release build (CMake's default here) for Linux, with clang as
    /// HIP's compiler.
    pub(crate) fn with_compilers(&self) -> Defines {
        let mut all = self.defines.clone();
        let clang = (self.vendor == Vendor::Hip).then_some("__clang__");
        for name in ["NDEBUG", "__linux__", "__unix__"].into_iter().chain(clang) {
            if !all.iter().any(|(known, _)| known == name) {
                all.push((name.to_owned(), Some("1".to_owned())));
            }
        }
        all
    }

    /// SDK versions without a given value: names and assumed values.
    pub fn assumed(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_sdk = |name: &str| self.origin.get(name).is_some_and(|origin| origin == SDK);
        let versions = self.defines.iter().filter(move |(name, _)| of_sdk(name) && !name.starts_with("__"));
        versions.filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)))
    }

    /// `NAME` or `NAME=VALUE` of the defines that are set, for display; the SDK's own last.
    pub fn listed(&self) -> Vec<String> {
        let shown = |(name, value): &(String, Option<String>)| match value.as_deref() {
            Some("1") => name.clone(),
            Some(value) => format!("{name}={value}"),
            None => format!("(no {name})"),
        };
        self.defines.iter().map(shown).collect()
    }
}

/// The CMake variables that select a vendor's backend.
fn switched_on(vendor: Vendor) -> impl Iterator<Item = (String, String)> {
    let (switches, hip, cuda) = match vendor {
        Vendor::Hip => (HIP_SWITCHES, "hipcc", ""),
        Vendor::Cuda => (CUDA_SWITCHES, "", "nvcc"),
    };
    let compilers = [("CMAKE_HIP_COMPILER", hip), ("CMAKE_CUDA_COMPILER", cuda), ("CMAKE_HIP_PLATFORM", "amd")];
    let all = switches.iter().map(|name| (*name, "ON")).chain(compilers);
    all.map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// The outermost CMakeLists.txt above the dispatcher that is a project.
pub(crate) fn root(tree: &Tree, dispatcher: &str) -> Option<String> {
    let mut dirs: Vec<&str> = dispatcher.match_indices('/').filter_map(|(at, _)| dispatcher.get(..at)).collect();
    dirs.insert(0, "");
    let file = |dir: &str| if dir.is_empty() { "CMakeLists.txt".to_owned() } else { format!("{dir}/CMakeLists.txt") };
    let project = |path: &String| tree.text(path).is_ok_and(|text| text.to_ascii_lowercase().contains("project("));
    dirs.into_iter().map(file).filter(|path| tree.has(path)).find(project)
}

/// `-DNAME=VALUE` from Debian's packaging, if the tree is a Debian source package.
fn debian_options(tree: &Tree) -> Vec<(String, String)> {
    let Some(rules) = tree.paths().find(|path| *path == "debian/rules" || path.ends_with("/debian/rules")) else {
        return Vec::new();
    };
    let text = tree.text(rules).map(|text| text.to_string()).unwrap_or_default();
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix("-D"));
    let options = words.filter_map(|word| word.trim_end_matches('\\').split_once('='));
    options
        .filter(|(name, value)| name.starts_with("GGML_") && !value.contains('$'))
        .map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()))
        .collect()
}
