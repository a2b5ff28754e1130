//! The libraries of a GPU stack by name, and the versions in their file names.

pub const VULKAN_LOADER: &str = "vulkan-loader";
pub const VULKAN_LAYER: &str = "vulkan-layer";
/// Mesa's driver that runs Vulkan on the CPU.
pub const LAVAPIPE: &str = "lavapipe";
/// Mesa's replacement for a kernel driver.
pub const DRM_STAND_IN: &str = "drm-stand-in";

/// Prefixes of file names, each with its part of the stack; the longest match counts.
const PARTS: [(&str, &str); 45] = [
    ("libamdhip64", "hip"),
    ("libhiprtc", "hiprtc"),
    ("libhsa-runtime64", "hsa"),
    ("libamd_comgr", "comgr"),
    ("librocblas", "rocblas"),
    ("libhipblas", "hipblas"),
    ("libhipblaslt", "hipblaslt"),
    ("librocsolver", "rocsolver"),
    ("librocsparse", "rocsparse"),
    ("libhipsparse", "hipsparse"),
    ("librocprofiler", "rocprofiler"),
    ("libroctx64", "roctx"),
    ("libroctracer64", "roctracer"),
    ("librocroller", "rocroller"),
    ("libMIOpen", "miopen"),
    ("librccl", "rccl"),
    ("libdrm_amdgpu", "drm-amdgpu"),
    ("libggml-hip", "ggml-hip"),
    ("libggml-cuda", "ggml-cuda"),
    ("libggml-vulkan", "ggml-vulkan"),
    ("libggml-cpu", "ggml-cpu"),
    ("libggml-base", "ggml-base"),
    ("libggml", "ggml"),
    ("libllama", "llama"),
    ("libmtmd", "mtmd"),
    ("libcudart", "cudart"),
    ("libcuda.so", "cuda"),
    ("libcublas", "cublas"),
    ("libcublasLt", "cublaslt"),
    ("libcudnn", "cudnn"),
    ("libnccl", "nccl"),
    ("libnvrtc", "nvrtc"),
    ("libnvidia-", "nvidia"),
    ("libtorch_hip", "torch-hip"),
    ("libvulkan.so", VULKAN_LOADER),
    ("libvulkan_", "vulkan-driver"),
    ("libvulkan_radeon", "radv"),
    ("libvulkan_lvp", LAVAPIPE),
    ("libvulkan_intel", "anv"),
    ("libvulkan_nouveau", "nvk"),
    ("amdvlk", "amdvlk"),
    ("libGLX_nvidia", "nvidia-vulkan"),
    ("libVkLayer_", VULKAN_LAYER),
    ("libamdgpu_noop_drm_shim", DRM_STAND_IN),
    ("libnouveau_noop_drm_shim", DRM_STAND_IN),
];

/// Whether the Vulkan loader opens this part as a driver.
pub fn is_vulkan_driver(part: &str) -> bool {
    matches!(part, "vulkan-driver" | "radv" | LAVAPIPE | "anv" | "nvk" | "amdvlk" | "nvidia-vulkan")
}

/// The part of a GPU stack that a file belongs to, by its name.
pub fn part(file_name: &str) -> Option<&'static str> {
    if !file_name.contains(".so") {
        return None;
    }
    let fits = PARTS.iter().filter(|(start, _)| file_name.starts_with(start));
    fits.max_by_key(|(start, _)| start.len()).map(|(_, part)| *part)
}

/// Whether this is one of AMD's own libraries, whose releases must agree within one process.
pub fn is_rocm(part: &str) -> bool {
    matches!(
        part,
        "hip"
            | "hiprtc"
            | "hsa"
            | "comgr"
            | "rocblas"
            | "hipblas"
            | "hipblaslt"
            | "rocsolver"
            | "rocsparse"
            | "hipsparse"
    )
}

/// The part after `.so.`: `librocblas.so.4.3.60303` -> `4.3.60303`.
pub fn version(file_name: &str) -> Option<String> {
    let (_, version) = file_name.split_once(".so.")?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

/// AMD's own builds end in the release as five or six digits: `librocblas.so.4.3.60303` is ROCm 6.3.3. HIP's build
/// numbers look similar (`libamdhip64.so.6.4.43484`), but their first digits are not a release.
pub fn rocm_release(file_name: &str) -> Option<String> {
    let (_, last) = file_name.rsplit_once('.')?;
    let number: u32 = last.parse().ok().filter(|_| (5..=6).contains(&last.len()))?;
    let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100);
    (5..=99).contains(&major).then(|| format!("{major}.{minor}.{patch}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_versions() {
        assert_eq!(part("libhipblaslt.so.0"), Some("hipblaslt"));
        assert_eq!(part("libhipblas.so.2.4"), Some("hipblas"));
        assert_eq!(part("libcublasLt.so.12"), Some("cublaslt"));
        assert_eq!(part("libggml-hip.so"), Some("ggml-hip"));
        assert_eq!(part("libc.so.6"), None);
        assert_eq!(version("librocblas.so.4.3.60303").as_deref(), Some("4.3.60303"));
        assert_eq!(version("libggml-hip.so"), None);
    }

    #[test]
    fn the_release_is_in_the_file_name() {
        assert_eq!(rocm_release("librocblas.so.4.3.60303").as_deref(), Some("6.3.3"));
        assert_eq!(rocm_release("libhipblas.so.3.1.70102").as_deref(), Some("7.1.2"));
        assert_eq!(rocm_release("librocblas.so.4.4"), None);
        assert_eq!(rocm_release("libamdhip64.so.6"), None);
        // HIP's own build number, as distributions ship it.
        assert_eq!(rocm_release("libamdhip64.so.6.4.43484"), None);
    }
}
