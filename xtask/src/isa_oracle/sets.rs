//! The real files on which the decoder is compared.

use super::objects::files;
use std::path::{Path, PathBuf};

/// Files of one origin, and a selection of their code objects.
#[derive(Debug, Clone)]
pub struct Set {
    pub name: &'static str,
    pub files: Vec<PathBuf>,
}

/// One in this many of the Tensile objects for other targets is compared.
const SAMPLE: u64 = 40;

/// The sets in the cache; a missing artifact or runtime gives no set.
pub fn all() -> Vec<Set> {
    let artifact = |name: &str| files(&test_artifacts::directory(name));
    let named = |path: &Path, part: &str| path.file_name().is_some_and(|name| name.to_string_lossy().contains(part));
    let tensile: Vec<PathBuf> = ["debian-experimental", "debian-sid"]
        .iter()
        .flat_map(|runtime| files(&test_artifacts::directory(runtime)))
        .filter(|path| path.components().any(|part| part.as_os_str() == "library"))
        .collect();
    let ggml = files(&test_artifacts::directory("debian-sid")).into_iter().filter(|path| named(path, "libggml-hip"));
    let (mine, other): (Vec<_>, Vec<_>) = tensile.into_iter().partition(|path| named(path, "gfx1201"));
    let sample = other.into_iter().filter(|path| hash(path).is_multiple_of(SAMPLE));
    let sets = vec![
        Set { name: "bitsandbytes 0.50.2", files: artifact("bitsandbytes-0.50.2") },
        Set { name: "jax-rocm7-plugin 0.12.0", files: artifact("jax-rocm7-plugin-0.12.0") },
        Set { name: "jax-rocm60-plugin 0.5.0", files: artifact("jax-rocm60-plugin-0.5.0") },
        Set { name: "Tensile, sample of the others", files: sample.collect() },
        Set { name: "amd-aiter 0.1.7.post2.dev18", files: artifact("amd-aiter-0.1.7.post2.dev18") },
        Set { name: "libggml-hip", files: ggml.collect() },
        Set { name: "Tensile, gfx1201", files: mine },
    ];
    sets.into_iter().filter(|set| !set.files.is_empty()).collect()
}

/// FNV-1a of the file's name: the same sample everywhere.
fn hash(path: &Path) -> u64 {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
