//! A checkout: where its ggml is, which translation units the HIP backend has, and the defines from its options.

use crate::error::{Error, Result, at};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The directory with `src/ggml-cuda` and `include`.
    pub ggml: PathBuf,
    /// The checkout of llama.cpp around it, or the one that was named for a tree without tools.
    pub llama: Option<PathBuf>,
    /// Ollama's modified copy of llama.cpp's library, which takes precedence over the checkout's.
    pub changed: Option<PathBuf>,
}

/// Instances in every build; those of vector attention depend on an option.
const INSTANCES: [&str; 4] = ["fattn-tile", "fattn-mma", "mmq", "mmf"];
/// Key and value types for which the vector attention kernels are built by default: both types equal.
const VECTOR_TYPES: [&str; 4] = ["f16", "q4_0", "q8_0", "bf16"];

impl Tree {
    /// `with`: a checkout of llama.cpp whose tools are built with the tree's own ggml.
    pub fn find(source: &Path, with: Option<&Path>) -> Result<Tree> {
        let has_tools = |root: &Path| root.join("tools/llama-bench").is_dir();
        if let Some(with) = with
            && !has_tools(with)
        {
            return Err(Error::NoTools { path: with.to_owned() });
        }
        // ggml by itself, llama.cpp, a crate that vendors it, Ollama.
        for place in ["", "ggml", "llama.cpp/ggml", "ml/backend/ggml/ggml"] {
            let ggml = source.join(place);
            if ggml.join("src/ggml-cuda/ggml-cuda.cu").is_file() {
                let ggml = ggml.canonicalize().map_err(at(&ggml))?;
                let around = ggml.parent().filter(|root| has_tools(root));
                let llama = with.or(around).map(Path::to_owned);
                let changed = Some(source.join("llama/llama.cpp")).filter(|path| path.join("src").is_dir());
                return Ok(Tree { ggml, llama, changed });
            }
        }
        Err(Error::NoGgml { path: source.to_owned() })
    }

    /// The units that CMake's globs give (ggml-hip/CMakeLists.txt), relative to `src/ggml-cuda`, in order.
    pub fn units(&self) -> Result<Vec<String>> {
        let home = self.ggml.join("src/ggml-cuda");
        let mut units = names(&home, ".cu")?;
        let instances = names(&home.join("template-instances"), ".cu")?;
        let add = |units: &mut Vec<String>, fits: &dyn Fn(&str) -> bool| {
            let of = instances.iter().filter(|name| fits(name)).map(|name| format!("template-instances/{name}"));
            units.extend(of);
        };
        for start in INSTANCES {
            add(&mut units, &|name| name.starts_with(start));
        }
        let vector = |name: &str| {
            let rest = name.strip_prefix("fattn-vec").unwrap_or_default().trim_end_matches(".cu");
            VECTOR_TYPES.iter().any(|kind| rest.ends_with(&format!("{kind}-{kind}")))
        };
        add(&mut units, &vector);
        Ok(units)
    }

    /// Every file that a unit may include, by its name in the tree.
    pub fn sources(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut list = Vec::new();
        for place in ["include", "src", "src/ggml-cuda", "src/ggml-cuda/template-instances", "src/ggml-cuda/vendors"] {
            let dir = self.ggml.join(place);
            if !dir.is_dir() {
                continue;
            }
            for end in [".h", ".hpp", ".cuh", ".cu", ".inc"] {
                list.extend(names(&dir, end)?.into_iter().map(|name| (format!("{place}/{name}"), dir.join(name))));
            }
        }
        list.sort();
        Ok(list)
    }

    /// The defines that the options produce (ggml-hip/CMakeLists.txt), with the tree's defaults. A tree without an
    /// option never sets its define: Ollama's build therefore has no matrix instructions for MMQ on CDNA.
    pub fn defines(&self) -> Result<Vec<String>> {
        let path = self.ggml.join("CMakeLists.txt");
        let text =
            if path.is_file() { sys::regular_file::text(&path, 64 << 20).map_err(at(&path))? } else { String::new() };
        let on = |name: &str| option(&text, name);
        let mut defines = vec!["GGML_USE_HIP".to_owned()];
        for (wanted, define) in [
            (on("GGML_HIP_GRAPHS") == Some(true), "GGML_HIP_GRAPHS"),
            (on("GGML_HIP_NO_VMM") == Some(true), "GGML_HIP_NO_VMM"),
            (on("GGML_HIP_MMQ_MFMA") != Some(true), "GGML_HIP_NO_MMQ_MFMA"),
            (on("GGML_CUDA_FA") == Some(false), "GGML_CUDA_NO_FA"),
            (on("GGML_CUDA_FORCE_MMQ") == Some(true), "GGML_CUDA_FORCE_MMQ"),
            (on("GGML_CUDA_FORCE_CUBLAS") == Some(true), "GGML_CUDA_FORCE_CUBLAS"),
        ] {
            if wanted {
                defines.push(define.to_owned());
            }
        }
        Ok(defines)
    }
}

/// The default of a CMake option declared as `option(NAME "text" ON)`.
fn option(text: &str, name: &str) -> Option<bool> {
    let line = text.lines().find(|line| {
        let rest = line.trim().strip_prefix("option(").and_then(|rest| rest.trim_start().strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
    })?;
    match line.trim_end().trim_end_matches(')').split_whitespace().next_back()? {
        "ON" => Some(true),
        "OFF" => Some(false),
        _ => None,
    }
}

/// The names in a directory with this ending, sorted like CMake's glob.
fn names(dir: &Path, end: &str) -> Result<Vec<String>> {
    let mut list = Vec::new();
    for entry in fs::read_dir(dir).map_err(at(dir))? {
        let name = entry.map_err(at(dir))?.file_name().to_string_lossy().into_owned();
        if name.ends_with(end) {
            list.push(name);
        }
    }
    list.sort_unstable();
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_as_its_cmake_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join("ml/backend/ggml/ggml").join(path);
        for name in [
            "ggml-cuda.cu",
            "mmq.cu",
            "common.cuh",
            "template-instances/mmq-instance-q4_k.cu",
            "template-instances/fattn-vec-instance-f16-f16.cu",
            "template-instances/fattn-vec-instance-f16-q4_0.cu",
        ] {
            let path = at("src/ggml-cuda").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir_all(at("include")).unwrap();
        let tree = Tree::find(home.path(), None).unwrap();
        assert_eq!(tree.llama, None);
        assert_eq!(
            tree.units().unwrap(),
            [
                "ggml-cuda.cu",
                "mmq.cu",
                "template-instances/mmq-instance-q4_k.cu",
                "template-instances/fattn-vec-instance-f16-f16.cu"
            ]
        );
        // Without the option, as in Ollama's tree, the CDNA branch is compiled out.
        assert!(tree.defines().unwrap().contains(&"GGML_HIP_NO_MMQ_MFMA".to_owned()));
        let options = "option(GGML_HIP_MMQ_MFMA \"ggml: use MFMA\" ON)\noption(GGML_HIP_GRAPHS \"ggml: graphs\" ON)\n";
        fs::write(at("CMakeLists.txt"), options).unwrap();
        let defines = tree.defines().unwrap();
        assert_eq!(defines, ["GGML_USE_HIP", "GGML_HIP_GRAPHS"]);
        assert!(matches!(Tree::find(&home.path().join("ml/backend"), None), Err(Error::NoGgml { .. })));
        // A checkout without tools is rejected.
        assert!(matches!(Tree::find(home.path(), Some(home.path())), Err(Error::NoTools { .. })));
    }
}
