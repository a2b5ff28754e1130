//! The variables that enable a library's log, and the meaning of their bits.

use say::{Key, Message, Say as _, key, say};

/// A log variable that this observer supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    /// The value that is set by default.
    pub default: &'static str,
    bits: &'static [(u64, Key)],
    /// Used for a level instead of a mask: everything up to it is enabled.
    levels: &'static [Key],
}

/// rocBLAS: rocblas_layer_mode (rocblas-types.h). hipBLASLt: rocblaslt_layer_mode (rocblaslt-types.h). Tensile: Debug.cpp.
/// HIP: LogLevel (rocclr/utils/debug.hpp). Ollama: envconfig/config.go.
pub const VARIABLES: [Variable; 6] = [
    Variable {
        name: "AMD_LOG_LEVEL",
        default: "4",
        bits: &[],
        levels: &[
            key!("watch-log-nothing"),
            key!("watch-log-errors"),
            key!("watch-log-warnings"),
            key!("watch-log-info-calls-and-kernels"),
            key!("watch-log-debug-threads-copies"),
            key!("watch-log-extra-debug"),
        ],
    },
    Variable {
        name: "ROCBLAS_LAYER",
        default: "1",
        bits: &[
            (1, key!("watch-log-trace")),
            (2, key!("watch-log-bench")),
            (4, key!("watch-log-profile")),
            (8, key!("watch-log-internal")),
        ],
        levels: &[],
    },
    Variable {
        name: "TENSILE_DB",
        default: "0x8000",
        bits: &[
            (0x2, key!("watch-log-property-evaluation")),
            (0x4, key!("watch-log-selected-kernel")),
            (0x8, key!("watch-log-device-selection")),
            (0x10, key!("watch-log-predicate-evaluation")),
            (0x20, key!("watch-log-code-objects")),
            (0x40, key!("watch-log-kernel-arguments")),
            (0x80, key!("watch-log-tensors")),
            (0x2000, key!("watch-log-library-version")),
            (0x4000, key!("watch-log-lookup-efficiency")),
            (0x8000, key!("watch-log-name-of-the-kernel-that-won")),
        ],
        levels: &[],
    },
    Variable {
        name: "HIPBLASLT_LOG_MASK",
        default: "32",
        bits: &[
            (1, key!("watch-log-error")),
            (2, key!("watch-log-trace")),
            (4, key!("watch-log-hints")),
            (8, key!("watch-log-info")),
            (16, key!("watch-log-api-trace")),
            (32, key!("watch-log-bench")),
        ],
        levels: &[],
    },
    // If both are set, the level takes precedence, and there are no bench lines (hipBLASLt 1.1 of Debian).
    Variable {
        name: "HIPBLASLT_LOG_LEVEL",
        default: "2",
        bits: &[],
        levels: &[
            key!("watch-log-nothing"),
            key!("watch-log-errors"),
            key!("watch-log-trace-calls-with-their-extents"),
            key!("watch-log-hints"),
            key!("watch-log-info"),
            key!("watch-log-api-calls-with-their-handles"),
        ],
    },
    Variable {
        name: "OLLAMA_DEBUG",
        default: "1",
        bits: &[],
        levels: &[key!("watch-log-off"), key!("watch-log-debug"), key!("watch-log-trace")],
    },
];

/// `NAME` or `NAME=VALUE`, as the user writes it.
pub fn wanted(text: &str) -> Option<(Variable, String)> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let variable = VARIABLES.into_iter().find(|variable| variable.name == name.trim())?;
    Some((variable, value.unwrap_or(variable.default).trim().to_owned()))
}

/// The parts that a value enables.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Switched {
    /// The bit in the usual notation, and its meaning; for a level only the meaning. None if the meaning is unknown here.
    parts: Vec<(Option<String>, Option<Key>)>,
}

/// Explains the bits of a value: `ROCBLAS_LAYER=9 is 1 trace + 8 internal`.
pub fn explain(variable: &Variable, value: &str) -> Message {
    let Some(switched) = switched(variable, value) else {
        return Message::verbatim(format!("{}={value}", variable.name));
    };
    let part = |(bit, meaning): (Option<String>, Option<Key>)| {
        let meaning = meaning.unwrap_or(key!("watch-log-unknown-here")).message();
        match bit {
            Some(bit) => say!("watch-log-bit", bit, meaning),
            None => meaning,
        }
    };
    let all = switched.parts.into_iter().map(part).reduce(|one, other| say!("watch-log-bits", one, other));
    let parts = all.unwrap_or_else(|| say!("watch-log-nothing"));
    say!("watch-log", name = variable.name, value, parts)
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
        return Some(Switched { parts: vec![(None, Some(*variable.levels.get(level)?))] });
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
        let say = |text: &str| wanted(text).map(|(variable, value)| explain(&variable, &value).to_string());
        assert_eq!(say("ROCBLAS_LAYER=9").as_deref(), Some("ROCBLAS_LAYER=9 means: 1 trace + 8 internal"));
        assert_eq!(say("TENSILE_DB").as_deref(), Some("TENSILE_DB=0x8000 means: 0x8000 name of the selected kernel"));
        assert_eq!(say("AMD_LOG_LEVEL=3").as_deref(), Some("AMD_LOG_LEVEL=3 means: info: calls and kernels"));
        assert_eq!(say("ROCBLAS_LAYER=0").as_deref(), Some("ROCBLAS_LAYER=0 means: nothing"));
        assert_eq!(
            say("ROCBLAS_LAYER=0x11").as_deref(),
            Some("ROCBLAS_LAYER=0x11 means: 1 trace + 0x10 (unknown here)")
        );
        assert_eq!(say("ROCBLAS_LAYER=much").as_deref(), Some("ROCBLAS_LAYER=much"));
        assert_eq!(say("PATH=1"), None);
    }
}
