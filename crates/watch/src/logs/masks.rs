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
    // If both are set, the level counts, and there are no bench lines (hipBLASLt 1.1 of Debian).
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

/// What a value switches on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Switched {
    /// The bit in the usual notation, and its meaning; for a level only the meaning. None if the meaning is unknown here.
    parts: Vec<(Option<String>, Option<&'static str>)>,
}

impl Variable {
    /// Everything that a value of it can mean, in English.
    pub fn meanings(&self) -> impl Iterator<Item = &'static str> {
        self.bits.iter().map(|(_, name)| *name).chain(self.levels.iter().copied()).chain([NOTHING, UNKNOWN])
    }
}

/// A value without bits, and an unknown bit.
const NOTHING: &str = "nothing";
const UNKNOWN: &str = "(unknown here)";

/// A meaning's place in the message files, behind `watch-log-`.
pub fn meaning_key(meaning: &str) -> String {
    let words = meaning.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

/// `ROCBLAS_LAYER=9 is 1 trace + 8 internal`, as the ledger keeps it.
pub fn explain(variable: &Variable, value: &str) -> String {
    match parts(variable, value, str::to_owned) {
        Some(parts) => format!("{}={value} is {parts}", variable.name),
        None => format!("{}={value}", variable.name),
    }
}

/// `1 trace + 8 internal`; None if the value is not a number. `say`: a meaning in the reader's language.
pub fn parts(variable: &Variable, value: &str, say: impl Fn(&str) -> String) -> Option<String> {
    let switched = switched(variable, value)?;
    let part = |(bit, meaning): &(Option<String>, Option<&'static str>)| {
        let meaning = say(meaning.unwrap_or(UNKNOWN));
        bit.as_ref().map_or_else(|| meaning.clone(), |bit| format!("{bit} {meaning}"))
    };
    let parts: Vec<String> = switched.parts.iter().map(part).collect();
    Some(if parts.is_empty() { say(NOTHING) } else { parts.join(" + ") })
}

/// None if the value is not a number.
fn switched(variable: &Variable, value: &str) -> Option<Switched> {
    let number = match value.trim().strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => value.trim().parse().ok()?,
    };
    if !variable.levels.is_empty() {
        let most = variable.levels.len().saturating_sub(1);
        let level = usize::try_from(number).unwrap_or(most).min(most);
        return Some(Switched { parts: vec![(None, Some(variable.levels.get(level)?))] });
    }
    let mut rest = number;
    let mut parts = Vec::new();
    for (bit, name) in variable.bits {
        if number & bit != 0 {
            rest &= !bit;
            let shown = if *bit >= 0x100 { format!("{bit:#x}") } else { bit.to_string() };
            parts.push((Some(shown), Some(*name)));
        }
    }
    if rest != 0 {
        parts.push((Some(format!("{rest:#x}")), None));
    }
    Some(Switched { parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_is_trace_and_internal() {
        let say = |text: &str| wanted(text).map(|(variable, value)| explain(&variable, &value));
        assert_eq!(say("ROCBLAS_LAYER=9").as_deref(), Some("ROCBLAS_LAYER=9 is 1 trace + 8 internal"));
        assert_eq!(say("TENSILE_DB").as_deref(), Some("TENSILE_DB=0x8000 is 0x8000 name of the kernel that won"));
        assert_eq!(say("AMD_LOG_LEVEL=3").as_deref(), Some("AMD_LOG_LEVEL=3 is info: calls and kernels"));
        assert_eq!(say("ROCBLAS_LAYER=0").as_deref(), Some("ROCBLAS_LAYER=0 is nothing"));
        assert_eq!(say("ROCBLAS_LAYER=0x11").as_deref(), Some("ROCBLAS_LAYER=0x11 is 1 trace + 0x10 (unknown here)"));
        assert_eq!(say("ROCBLAS_LAYER=much").as_deref(), Some("ROCBLAS_LAYER=much"));
        assert_eq!(say("PATH=1"), None);
    }
}
