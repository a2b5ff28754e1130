//! Defines that no build file mentions but that an answer may depend on.

use crate::preset::Preset;
use crate::rules::Rules;

/// Names that only other compilers and systems define.
const OTHERS: &[&str] = &["WIN32", "_WIN32", "MUSART_VERSION"];

/// Names that compilers define as 1 or not at all; a tree does not determine which.
const FLAGS_OF_COMPILERS: &[&str] = &[
    "__clang__",
    "__x86_64__",
    "__amd64__",
    "__aarch64__",
    "__LP64__",
    "__SSE2__",
    "__AVX__",
    "__AVX2__",
    "__AVX512F__",
    "__FMA__",
    "__F16C__",
    "__OPTIMIZE__",
    "__FAST_MATH__",
    "__EXCEPTIONS",
];

/// Names defined only elsewhere: in device code, by another compiler, for another system or processor.
const ELSEWHERE: &[&str] = &[
    "__CUDA",
    "__NV",
    "__HIP",
    "__hip",
    "__gfx",
    "__GFX",
    "__AMD",
    "__amd",
    "__SPIR",
    "__MUSA",
    "__SYCL",
    "__OPENCL",
    "_MSC",
    "_WIN",
    "__WIN",
    "__MINGW",
    "__CYGWIN",
    "__APPLE",
    "__MACH",
    "__ANDROID",
    "__EMSCRIPTEN",
    "__FreeBSD",
    "__NetBSD",
    "__OpenBSD",
    "__DragonFly",
    "__sun",
    "_AIX",
    "__INTEL",
    "__ICC",
    "__PGI",
    "__OBJC",
    "__ARM",
    "__arm",
    "__POWER",
    "__powerpc",
    "__ppc",
    "__PPC",
    "__riscv",
    "__loongarch",
    "__wasm",
    "__s390",
    "__VEC",
    "__mips",
    "__i386",
    "_M_",
    "__SANITIZE",
];

/// Whether a name is reserved for compilers and may be defined in one of the builds here.
fn is_compilers(name: &str) -> bool {
    let reserved =
        name.starts_with("__") || name.strip_prefix('_').is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let elsewhere = ELSEWHERE.iter().any(|start| name.starts_with(start)) && name != "__amd64__";
    FLAGS_OF_COMPILERS.contains(&name) || (reserved && !elsewhere && name != "__cplusplus")
}

/// Whether compilers define this name with a value.
pub fn is_compilers_value(name: &str) -> bool {
    is_compilers(name) && !FLAGS_OF_COMPILERS.contains(&name) && !name.contains('(')
}

/// The text after each `define` and `undef`.
fn written(text: &str) -> impl Iterator<Item = &str> {
    // Both directives contain this text.
    memchr::memmem::find_iter(text.as_bytes(), "def").filter_map(|at| {
        let (before, after) = (text.get(..at)?, text.get(at..)?);
        after.strip_prefix("define ").or_else(|| after.strip_prefix("def ").filter(|_| before.ends_with("un")))
    })
}

impl Rules<'_> {
    /// Names that conditionals of the backend read, that nothing in the tree defines and no build file mentions, and
    /// that can affect the question.
    pub fn unknown_defines(&self, preset: &Preset, has_part: impl Fn(&str) -> bool) -> Vec<String> {
        let entry = self.entry().map_or(0, |function| function.span.file);
        let home = self.program.files.path(entry).rsplit_once('/').map_or("", |(dir, _)| dir).to_owned();
        // GGML_HIP_NO_X means that the option GGML_HIP_X is off; if it is on, the define is missing.
        let negated = |name: &str| {
            let option = name.replacen("_NO_", "_", 1);
            option != name && preset.options.get(&option).is_some_and(|value| value == "ON")
        };
        // The other vendor's SDK is absent, so its names are not defined.
        let prefixes: &[&str] = match self.vendor {
            crate::device::Vendor::Hip => &["CUDA", "CUBLAS", "CCCL", "NCCL", "CUDNN"],
            crate::device::Vendor::Cuda => &["HIP", "ROC", "RCCL"],
        };
        let others = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let known = |name: &str| {
            (preset.complete && !is_compilers(name)) || (name.starts_with('_') && !name.starts_with("__has_") && !is_compilers(name))
                // nvcc uses gcc by default; HIP's compiler defines it.
                || name == "__clang__"
                // GGML_USE_X names the backend that is built; other vendors' names are not defined.
                || name.starts_with("GGML_USE_")
                || negated(name)
                || preset.origin.contains_key(name)
                || preset.options.contains_key(name)
                || self.program.is_defined(name)
                || name.contains("MUSA")
                || others(name)
        };
        let device_code = |path: &str| path.ends_with(".cu") || path.ends_with(".cuh");
        let mut names: Vec<String> = self
            .program
            .asked()
            .filter(|(name, spans)| {
                // `__COUNTER__(file:7)`: a condition that depends on where it is written, in any header.
                if name.contains('(') && !name.starts_with("__has_") {
                    return true;
                }
                let mut paths = spans.iter().map(|span| self.program.files.path(span.file));
                paths.any(|path| path.starts_with(&home) && device_code(path))
            })
            .map(|(name, _)| name.to_owned())
            .filter(|name| !known(name) && !OTHERS.contains(&name.as_str()))
            .collect();
        // Search the texts only for the remaining names, usually none.
        if !names.is_empty() {
            let written: Vec<&str> = self.program.files.iter().flat_map(|file| written(&file.text)).collect();
            names.retain(|name| !written.iter().any(|text| text.starts_with(name.as_str())));
        }
        names.retain(|name| has_part(name));
        names.retain(|name| !self.is_mentioned(&home, name));
        names.extend(preset.unsure.iter().filter(|name| !name.starts_with("GGML_USE_") && has_part(name)).cloned());
        names.sort();
        names.dedup();
        names
    }

    /// Whether build files mention a name, or a header next to the dispatcher defines something with it.
    fn is_mentioned(&self, home: &str, name: &str) -> bool {
        let build =
            |path: &&str| path.ends_with("CMakeLists.txt") || path.ends_with(".cmake") || path.ends_with("Makefile");
        let finder = memchr::memmem::Finder::new(name);
        let text = |path: &str| self.tree.text(path).unwrap_or_else(|_| "".into());
        if self.tree.paths().filter(build).any(|path| finder.find(text(path).as_bytes()).is_some()) {
            return true;
        }
        // Names that a header defines under its own condition (for another vendor, or for the device) do not count.
        let header = |path: &&str| path.starts_with(home) && (path.ends_with(".h") || path.ends_with(".cuh"));
        self.tree.paths().filter(header).any(|path| {
            let text = text(path);
            finder.find_iter(text.as_bytes()).any(|at| {
                let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
                let line = before.rsplit('\n').next().unwrap_or_default();
                line.trim_start().starts_with('#')
                    && (line.contains("define ") || after.lines().next().is_some_and(|rest| rest.contains("define ")))
            })
        })
    }
}
