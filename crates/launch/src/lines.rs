//! The lines that `--trace FILE` writes, one JSON object a launch: one definition for whoever writes them and whoever reads them.

use serde::{Deserialize, Serialize};

/// A launch, a call into a BLAS library (`m`, `n`, `k`), or the replay of a graph (`exec`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub seq: u64,
    /// Who wrote it, where it matters: [`STAND_IN`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default)]
    pub pid: u32,
    #[serde(default)]
    pub thread: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    #[serde(default)]
    pub stream: u64,
    #[serde(default)]
    pub time_ns: u64,
    #[serde(default)]
    pub api: String,
    /// The kernel's mangled name, or a Vulkan pipeline's; None for a call, a replay, and where nobody could name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// What the launch passed, where nobody could name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Of a Vulkan pipeline: module, constants and subgroup size, which tell those of one name apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Of a Vulkan pipeline whose name hides the type of its weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    #[serde(default)]
    pub grid: [u32; 3],
    #[serde(default)]
    pub block: [u32; 3],
    #[serde(default)]
    pub shmem: u32,
    /// What the call returned: anything but 0 is a launch that was refused.
    #[serde(default)]
    pub status: u32,
    /// The capture that it went into; 0: launched at once.
    #[serde(default)]
    pub graph: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<i64>,
    #[serde(default)]
    pub ne11: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<u32>,
    /// The bytes of the arguments, as digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
    /// How long the device worked on it, by its own clock, where that was asked for and told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// The call as a line of rocblas-bench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bench: Option<String>,
}

/// The dry run: nothing was executed, and a graph's launches stand where it was replayed.
pub const STAND_IN: &str = "dryrun";

impl Line {
    pub fn is_call(&self) -> bool {
        self.m.is_some()
    }

    pub fn is_replay(&self) -> bool {
        self.exec.is_some()
    }

    /// Into a graph: it was not launched at this moment.
    pub fn is_captured(&self) -> bool {
        self.graph != 0 && self.by.as_deref() != Some(STAND_IN)
    }
}

/// What such a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// Lines that could not be read, the last one apart.
    pub damaged: u64,
    /// The last line is half a line: whoever wrote it was stopped.
    pub cut_off: bool,
}

/// None where the file does not begin with such a line: it is another kind of file.
pub fn read(bytes: &[u8]) -> Option<Lines> {
    let mut found = Lines::default();
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
    while let Some(line) = lines.next() {
        match serde_json::from_slice(line) {
            Ok(line) => found.lines.push(line),
            Err(_) if found.lines.is_empty() => return None,
            Err(_) if lines.peek().is_none() => found.cut_off = true,
            Err(_) => found.damaged += 1,
        }
    }
    (!found.lines.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"seq":1,"kernel":"mul_mat_q","grid":[1,2,3],"block":[32,8,1],"graph":0}"#;

    #[test]
    fn half_a_line_is_counted_wherever_it_stands() {
        let half = &LINE[..20];
        let shape = |text: String| read(text.as_bytes()).map(|found| (found.lines.len(), found.damaged, found.cut_off));
        assert_eq!(shape(format!("{LINE}\n\n{LINE}\n")), Some((2, 0, false)));
        assert_eq!(shape(format!("{LINE}\n{half}\n{LINE}\n")), Some((2, 1, false)));
        assert_eq!(shape(format!("{LINE}\n{LINE}\n{half}")), Some((2, 0, true)));
        assert_eq!(shape(format!("{half}\n{LINE}\n")), None);
        assert_eq!(shape(String::new()), None);
        assert_eq!(shape("{}\n".to_owned()), None);
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let line = Line { seq: 3, address: Some(7), m: Some(-1), ..Line::default() };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(read(text.as_bytes()).unwrap().lines, [line]);
    }
}
