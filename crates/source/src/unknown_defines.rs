//! Defines that no build file speaks of: an answer may hang on them.

use crate::preset::Preset;
use crate::rules::Rules;

/// What compilers and systems define that these builds do not run on, or that a release build always has.
const OTHERS: &[&str] = &["NDEBUG", "WIN32", "_WIN32", "MUSART_VERSION"];

/// What follows each `define` and `undef` of a text.
fn written(text: &str) -> impl Iterator<Item = &str> {
    // Both words have it.
    memchr::memmem::find_iter(text.as_bytes(), "def").filter_map(|at| {
        let (before, after) = (text.get(..at)?, text.get(at..)?);
        after.strip_prefix("define ").or_else(|| after.strip_prefix("def ").filter(|_| before.ends_with("un")))
    })
}

impl Rules<'_> {
    /// Names that conditionals of the backend asked for, that nothing in the tree defines and no build file mentions.
    pub fn unknown_defines(&self, preset: &Preset) -> Vec<String> {
        if preset.complete {
            return Vec::new();
        }
        let entry = self.entry().map_or(0, |function| function.span.file);
        let home = self.program.files.path(entry).rsplit_once('/').map_or("", |(dir, _)| dir).to_owned();
        // GGML_HIP_NO_X stands for the option GGML_HIP_X turned off; one that is on leaves it undefined.
        let negated = |name: &str| {
            let option = name.replacen("_NO_", "_", 1);
            option != name && preset.options.get(&option).is_some_and(|value| value == "ON")
        };
        // The other vendor's SDK is not there: what it defines is not defined.
        let prefixes: &[&str] = match self.vendor {
            crate::device::Vendor::Hip => &["CUDA", "CUBLAS", "CCCL", "NCCL", "CUDNN"],
            crate::device::Vendor::Cuda => &["HIP", "ROC", "RCCL"],
        };
        let others = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let known = |name: &str| {
            (name.starts_with('_') && !name.starts_with("__has_"))
                // GGML_USE_X says which backend is built: another vendor's is not.
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
            .filter(|(_, spans)| {
                let mut paths = spans.iter().map(|span| self.program.files.path(span.file));
                paths.any(|path| path.starts_with(&home) && device_code(path))
            })
            .map(|(name, _)| name.to_owned())
            .filter(|name| {
                !known(name) && !OTHERS.contains(&name.as_str()) && !name.starts_with("_")
                    || name.starts_with("__has_") && !known(name)
            })
            .collect();
        // What is left is looked for in the texts: mostly nothing is.
        if !names.is_empty() {
            let written: Vec<&str> = self.program.files.iter().flat_map(|file| written(&file.text)).collect();
            names.retain(|name| !written.iter().any(|text| text.starts_with(name.as_str())));
        }
        if !names.is_empty() {
            let mentioned = self.mentioned(&home);
            names.retain(|name| !mentioned.contains(name.as_str()));
        }
        names.sort();
        names
    }

    /// What build files say, and what headers beside the dispatcher define.
    fn mentioned(&self, home: &str) -> String {
        let mut mentioned = String::new();
        let build =
            |path: &&str| path.ends_with("CMakeLists.txt") || path.ends_with(".cmake") || path.ends_with("Makefile");
        for path in self.tree.paths().filter(build) {
            mentioned.push_str(&self.tree.text(path).unwrap_or_else(|_| "".into()));
        }
        // What a header defines under a condition of its own (another vendor's, the device's) is its business.
        let header = |path: &&str| path.starts_with(home) && (path.ends_with(".h") || path.ends_with(".cuh"));
        for path in self.tree.paths().filter(header) {
            let text = self.tree.text(path).unwrap_or_else(|_| "".into());
            for line in text.lines().filter(|line| line.trim_start().starts_with('#') && line.contains("define ")) {
                mentioned.push_str(line);
                mentioned.push('\n');
            }
        }
        mentioned
    }
}
