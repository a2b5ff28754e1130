//! Variables that change a GPU runtime's behaviour or output, and the meaning of their values.
//!
//! Only these variables are ever shown, because an environment also contains private values. Even then, the value is
//! hidden if the name sounds like a secret.

use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

const PREFIXES: [&str; 21] = [
    "AMD_",
    "CUDA_",
    "GGML_",
    "GPU_",
    "HIP_",
    "HIPBLASLT_",
    "HIPBLAS_",
    "HSA_",
    "LLAMA_",
    "MIOPEN_",
    "NVIDIA_VISIBLE",
    "OLLAMA_",
    "ROCBLAS_",
    "ROCM_",
    "ROCP",
    "ROCR_",
    "TENSILE_",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_INSTANCE_LAYERS",
    "LD_",
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

/// The variables of `all` that matter here, sorted by name.
pub fn of_interest(all: impl IntoIterator<Item = (String, String)>) -> Vec<Variable> {
    let matters = |name: &str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let mut found: Vec<Variable> = all
        .into_iter()
        .filter(|(name, _)| matters(name))
        .map(|(name, value)| Variable { value: ledger::redact::variable(&name, &value).into_owned(), name })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The effect of this variable with this value, if it is known.
pub fn explain(variable: &Variable) -> Option<Message> {
    let value = variable.value.as_str();
    Some(match variable.name.as_str() {
        "HSA_OVERRIDE_GFX_VERSION" => say!("doctor-env-override", target = override_target(value)?),
        name if name.starts_with("HSA_OVERRIDE_GFX_VERSION_") => {
            say!("doctor-env-override", target = override_target(value)?)
        }
        "ROCR_VISIBLE_DEVICES" => say!("doctor-env-rocr-visible"),
        "HIP_VISIBLE_DEVICES" | "GPU_DEVICE_ORDINAL" => say!("doctor-env-hip-visible"),
        "CUDA_VISIBLE_DEVICES" => say!("doctor-env-cuda-visible"),
        "ROCBLAS_LAYER" => say!("doctor-env-rocblas-layer", layers = layers(value, &ROCBLAS_LAYERS)?),
        "HIPBLASLT_LOG_MASK" => say!("doctor-env-hipblaslt-mask", layers = layers(value, &HIPBLASLT_LAYERS)?),
        "AMD_LOG_LEVEL" => match value.parse::<u32>().ok()? {
            0 => return None,
            1 | 2 => say!("doctor-env-amd-log-low"),
            _ => say!("doctor-env-amd-log"),
        },
        "TENSILE_DB" => say!("doctor-env-tensile-db"),
        "ROCBLAS_TENSILE_LIBPATH" | "HIPBLASLT_TENSILE_LIBPATH" => say!("doctor-env-libpath"),
        "ROCM_KPACK_DISABLE" if !matches!(value, "" | "0") => say!("doctor-env-kpack-disable"),
        "ROCM_KPACK_PATH" => say!("doctor-env-kpack-path"),
        "ROCM_KPACK_PATH_PREFIX" => say!("doctor-env-kpack-prefix"),
        "ROCBLAS_USE_HIPBLASLT" => say!("doctor-env-use-hipblaslt"),
        "OLLAMA_DEBUG" => say!("doctor-env-ollama-debug"),
        "OLLAMA_LLM_LIBRARY" => say!("doctor-env-llm-library"),
        "OLLAMA_HOST" => say!("doctor-env-ollama-host"),
        "OLLAMA_NUM_PARALLEL" => say!("doctor-env-num-parallel"),
        "OLLAMA_FLASH_ATTENTION" => say!("doctor-env-flash"),
        "OLLAMA_VULKAN" => say!("doctor-env-vulkan"),
        "GGML_VK_VISIBLE_DEVICES" => say!("doctor-env-vk-visible", value),
        "VK_DRIVER_FILES" | "VK_ICD_FILENAMES" => say!("doctor-env-vk-drivers", value),
        "VK_INSTANCE_LAYERS" => say!("doctor-env-vk-layers", value),
        "OLLAMA_NEW_ENGINE" => say!("doctor-env-new-engine"),
        "GGML_CUDA_DISABLE_GRAPHS" => say!("doctor-env-no-graphs"),
        "GGML_CUDA_DISABLE_FUSION" => say!("doctor-env-no-fusion"),
        "ROCP_TOOL_ATTACH" => say!("doctor-env-tool-attach"),
        "ROCP_TOOL_LIBRARIES" | "ROCPROFILER_REGISTER_FORCE_LOAD" | "HSA_TOOLS_LIB" => {
            say!("doctor-env-tool-libraries")
        }
        "LD_PRELOAD" => say!("doctor-env-preload"),
        "LD_LIBRARY_PATH" => say!("doctor-env-library-path"),
        _ => return None,
    })
}

/// rocBLAS, `library/src/include/logging.hpp`: bits of `rocblas_layer_mode`.
const ROCBLAS_LAYERS: [(u32, &str); 4] = [(1, "trace"), (2, "bench"), (4, "profile"), (8, "internal")];
/// hipBLASLt's documentation on logging: bits of its log mask.
const HIPBLASLT_LAYERS: [(u32, &str); 8] = [
    (1, "error"),
    (2, "trace"),
    (4, "hints"),
    (8, "info"),
    (16, "api"),
    (32, "bench"),
    (64, "profile"),
    (128, "extended profile"),
];

/// The names of the bits in a value: `1 trace + 8 internal` for `9`.
fn layers(value: &str, names: &[(u32, &str)]) -> Option<String> {
    let mask = match value.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => value.parse().ok()?,
    };
    let set: Vec<String> =
        names.iter().filter(|(bit, _)| mask & bit != 0).map(|(bit, name)| format!("{bit} {name}")).collect();
    Some(if set.is_empty() { "0".to_owned() } else { set.join(" + ") })
}

/// The target that an override selects: `gfx1201` for `12.0.1`, `gfx90a` for `9.0.10`. None if the value is not a
/// version.
pub fn override_target(value: &str) -> Option<String> {
    let parts: Vec<u32> = value.split('.').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let [major, minor, step] = parts.as_slice() else { return None };
    Some(format!("gfx{major}{minor:x}{step:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_is_trace_and_internal() {
        assert_eq!(layers("9", &ROCBLAS_LAYERS).as_deref(), Some("1 trace + 8 internal"));
        assert_eq!(layers("0x6", &ROCBLAS_LAYERS).as_deref(), Some("2 bench + 4 profile"));
        assert_eq!(layers("yes", &ROCBLAS_LAYERS), None);
    }

    #[test]
    fn an_override_names_its_target() {
        assert_eq!(override_target("12.0.1").as_deref(), Some("gfx1201"));
        assert_eq!(override_target("9.0.10").as_deref(), Some("gfx90a"));
        assert_eq!(override_target("gfx1100"), None);
    }

    #[test]
    fn secrets_and_strangers_stay_out() {
        let all = [
            ("OLLAMA_API_KEY", "abc"),
            ("OLLAMA_AUTH", "abc"),
            ("LLAMA_API", "abc"),
            ("OLLAMA_HOST", "http://me:abc@host:1"),
            ("HOME", "/root"),
            ("HSA_ENABLE_SDMA", "0"),
        ];
        let found = of_interest(all.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let shown: Vec<String> = found.iter().map(|v| format!("{}={}", v.name, v.value)).collect();
        let expected = [
            "HSA_ENABLE_SDMA=0",
            "LLAMA_API=[redacted]",
            "OLLAMA_API_KEY=[redacted]",
            "OLLAMA_AUTH=[redacted]",
            "OLLAMA_HOST=http://[redacted]@host:1",
        ];
        assert_eq!(shown, expected);
    }
}
