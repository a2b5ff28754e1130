//! The runtimes that can be fetched by name, and the packages behind each of their parts.

/// A part is a choice of `--parts`; its packages are the roots of the dependency closure.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub name: &'static str,
    pub packages: &'static [&'static str],
    /// Whether the part has files per GPU target, from which `--targets` selects.
    pub split: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Suite {
    pub name: &'static str,
    /// Debian suites, the preferred one first.
    pub suites: &'static [&'static str],
    pub parts: &'static [Part],
    pub default_parts: &'static [&'static str],
    /// Only kernel catalogs (`.dat`) are unpacked, and nothing that the packages depend on is fetched.
    pub catalogs: bool,
}

/// Package names contain their ABI number, so a transition in the archive shows up here as "no such package".
pub const SUITES: &[Suite] = &[
    Suite {
        name: "debian-sid",
        suites: &["sid"],
        parts: &[
            Part { name: "ggml", packages: &["libggml0", "libggml0-backend-hip"], split: false },
            Part { name: "tools", packages: &["llama.cpp-tools", "libllama0"], split: false },
            Part { name: "hip", packages: &["libamdhip64-6", "libhsa-runtime64-1"], split: false },
            Part { name: "rocblas", packages: &["librocblas4", "libhipblas2"], split: true },
            Part { name: "hipblaslt", packages: &["libhipblaslt1"], split: true },
            // RADV and lavapipe, the loader, and Mesa's own stand-ins for the kernel drivers.
            Part {
                name: "vulkan",
                packages: &[
                    "libggml0",
                    "libggml0-backend-vulkan",
                    "libvulkan1",
                    "mesa-vulkan-drivers",
                    "mesa-drm-shim",
                ],
                split: false,
            },
        ],
        default_parts: &["ggml", "tools"],
        catalogs: false,
    },
    Suite {
        name: "debian-experimental",
        suites: &["experimental", "sid"],
        parts: &[
            Part { name: "hip", packages: &["libamdhip64-7", "libhsa-runtime64-1"], split: false },
            Part { name: "rocblas", packages: &["librocblas5"], split: true },
            Part { name: "hipblas", packages: &["libhipblas3"], split: false },
            Part { name: "hipblaslt", packages: &["libhipblaslt1"], split: true },
            // For programs on the stand-in GPU: a compiler for HIP, hipblaslt-bench, and what Python packages need.
            Part {
                name: "compiler",
                packages: &[
                    "clang-22",
                    "clang-tools-22",
                    "lld-22",
                    "llvm-22",
                    "rocm-device-libs-22",
                    "libamdhip64-dev",
                    "libstdc++-15-dev",
                ],
                split: false,
            },
            Part { name: "bench", packages: &["libhipblaslt1-bench"], split: false },
            Part { name: "rocblas-bench", packages: &["librocblas5-bench"], split: false },
            Part { name: "miopen", packages: &["libmiopen1", "libmiopen1-tests"], split: false },
            Part { name: "python", packages: &["python3", "libamd-comgr3"], split: false },
            Part { name: "jax", packages: &["libhipfft0", "libhipsolver1", "libhipsparse4", "librccl1"], split: false },
        ],
        default_parts: &["rocblas"],
        catalogs: false,
    },
    // The same ggml as in sid, built with ROCm 5.7 for users of the stable release. The backports lack the tools, so
    // these come from sid, with the C library that they need.
    Suite {
        name: "debian-backports",
        suites: &["trixie-backports", "sid", "trixie"],
        parts: &[
            Part { name: "ggml", packages: &["libggml0", "libggml0-backend-hip"], split: false },
            Part { name: "tools", packages: &["llama.cpp-tools", "libllama0"], split: false },
            Part { name: "hip", packages: &["libamdhip64-5", "libhsa-runtime64-1"], split: false },
            Part { name: "rocblas", packages: &["librocblas0", "libhipblas0"], split: true },
        ],
        default_parts: &["ggml", "tools"],
        catalogs: false,
    },
    Suite {
        name: "debian-trixie",
        suites: &["trixie"],
        parts: &[
            Part { name: "hip", packages: &["libamdhip64-5", "libhsa-runtime64-1"], split: false },
            Part { name: "rocblas", packages: &["librocblas0", "libhipblas0"], split: true },
        ],
        default_parts: &["rocblas"],
        catalogs: false,
    },
    Suite {
        name: "debian-bookworm",
        suites: &["bookworm"],
        parts: &[Part { name: "rocrand", packages: &["librocrand1"], split: false }],
        default_parts: &["rocrand"],
        catalogs: false,
    },
    // The catalogs that `explain gemm` reads, from two releases, without kernels.
    Suite {
        name: "debian-sid-catalogs",
        suites: &["sid"],
        parts: &[
            Part { name: "rocblas", packages: &["librocblas4"], split: true },
            Part { name: "hipblaslt", packages: &["libhipblaslt1"], split: true },
        ],
        default_parts: &["rocblas", "hipblaslt"],
        catalogs: true,
    },
    Suite {
        name: "debian-experimental-catalogs",
        suites: &["experimental", "sid"],
        parts: &[
            Part { name: "rocblas", packages: &["librocblas5"], split: true },
            Part { name: "hipblaslt", packages: &["libhipblaslt1"], split: true },
        ],
        default_parts: &["rocblas", "hipblaslt"],
        catalogs: true,
    },
];

/// Dependencies that a manually started program in the unpacked tree does not need: configuration at installation,
/// model downloads, helpers for other front ends.
pub const NOT_FOLLOWED: &[(&str, &str)] = &[
    ("debconf", "asks questions during installation; nothing is installed here"),
    ("wget", "downloads models; models are given by path here"),
    ("curl", "downloads models; models are given by path here"),
    ("ca-certificates", "needed only for downloads"),
    ("librocsolver0", "LAPACK on the GPU; ggml calls none of it"),
];

pub fn suite(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

impl Suite {
    pub fn part(&self, name: &str) -> Option<&'static Part> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The part whose root this package is.
    pub fn part_of(&self, package: &str) -> Option<&'static str> {
        self.parts.iter().find(|part| part.packages.contains(&package)).map(|part| part.name)
    }
}
