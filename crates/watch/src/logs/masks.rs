//! The variables that make a library talk, and what their bits mean.

/// A variable that this observer knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    /// What is set where nothing else was asked for.
    pub default: &'static str,
    bits: &'static [(u64, &'static str)],
    /// A level instead of a mask: everything up to it.
    levels: &'static [&'static str],
}

/// rocBLAS: rocblas_layer_mode (rocblas-types.h). hipBLASLt: rocblaslt_layer_mode (rocblaslt-types.h). Tensile: Debug.cpp.
/// HIP: LogLevel (rocclr/utils/debug.hpp). Ollama: envconfig/config.go.
pub const VARIABLES: [Variable; 6] = [
    Variable {
        name: "AMD_LOG_LEVEL",
        default: "4",
        bits: &[],
        levels: &["nothing", "errors", "warnings", "info: calls and kernels", "debug: threads, copies", "extra debug"],
    },
    Variable {
        name: "ROCBLAS_LAYER",
        default: "1",
        bits: &[(1, "trace"), (2, "bench"), (4, "profile"), (8, "internal")],
        levels: &[],
    },
    Variable {
        name: "TENSILE_DB",
        default: "0x8000",
        bits: &[
            (0x2, "property evaluation"),
            (0x4, "selected kernel"),
            (0x8, "device selection"),
            (0x10, "predicate evaluation"),
            (0x20, "code objects"),
            (0x40, "kernel arguments"),
            (0x80, "tensors"),
            (0x2000, "library version"),
            (0x4000, "lookup efficiency"),
            (0x8000, "name of the kernel that won"),
        ],
        levels: &[],
    },
    Variable {
        name: "HIPBLASLT_LOG_MASK",
        default: "32",
        bits: &[(1, "error"), (2, "trace"), (4, "hints"), (8, "info"), (16, "API trace"), (32, "bench")],
        levels: &[],
    },
    // Where both are set the level counts, and there are no bench lines (hipBLASLt 1.1 of Debian).
    Variable {
        name: "HIPBLASLT_LOG_LEVEL",
        default: "2",
        bits: &[],
        levels: &[
            "nothing",
            "errors",
            "trace: calls with their extents",
            "hints",
            "info",
            "API calls with their handles",
        ],
    },
    Variable { name: "OLLAMA_DEBUG", default: "1", bits: &[], levels: &["off", "debug", "trace"] },
];

/// `NAME` or `NAME=VALUE`, as a person asks for it.
pub fn wanted(text: &str) -> Option<(Variable, String)> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let variable = VARIABLES.into_iter().find(|variable| variable.name == name.trim())?;
    Some((variable, value.unwrap_or(variable.default).trim().to_owned()))
}

/// `ROCBLAS_LAYER=9 is 1 trace + 8 internal`; None where the value is no number.
pub fn explain(variable: &Variable, value: &str) -> Option<String> {
    let number = match value.trim().strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => value.trim().parse().ok()?,
    };
    if !variable.levels.is_empty() {
        let most = variable.levels.len().saturating_sub(1);
        let level = usize::try_from(number).unwrap_or(most).min(most);
        return Some(format!("{}={value} is {}", variable.name, variable.levels.get(level)?));
    }
    let mut rest = number;
    let mut parts = Vec::new();
    for (bit, name) in variable.bits {
        if number & bit != 0 {
            rest &= !bit;
            let shown = if *bit >= 0x100 { format!("{bit:#x}") } else { bit.to_string() };
            parts.push(format!("{shown} {name}"));
        }
    }
    if rest != 0 {
        parts.push(format!("{rest:#x} (unknown here)"));
    }
    let parts = if parts.is_empty() { "nothing".to_owned() } else { parts.join(" + ") };
    Some(format!("{}={value} is {parts}", variable.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_is_trace_and_internal() {
        let say = |text: &str| wanted(text).and_then(|(variable, value)| explain(&variable, &value));
        assert_eq!(say("ROCBLAS_LAYER=9").as_deref(), Some("ROCBLAS_LAYER=9 is 1 trace + 8 internal"));
        assert_eq!(say("TENSILE_DB").as_deref(), Some("TENSILE_DB=0x8000 is 0x8000 name of the kernel that won"));
        assert_eq!(say("AMD_LOG_LEVEL=3").as_deref(), Some("AMD_LOG_LEVEL=3 is info: calls and kernels"));
        assert_eq!(say("ROCBLAS_LAYER=0").as_deref(), Some("ROCBLAS_LAYER=0 is nothing"));
        assert_eq!(say("ROCBLAS_LAYER=much"), None);
        assert_eq!(say("PATH=1"), None);
    }
}
