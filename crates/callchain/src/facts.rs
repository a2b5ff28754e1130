//! Facts that a chain depends on: which process is started with which library path, how GPUs are discovered and for how
//! long, which engine serves a model, how layers are split.
//!
//! Each fact is a line of the tree and the question that it answers. Subjects without a line are reported as not found.

use super::File;
use super::trace::CodeLocation;
use regex::Regex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A child process is started.
    Process,
    /// The version of the started program, if the tree pins one.
    Pinned,
    /// The directories in which the child process searches for libraries.
    LibraryPath,
    /// GPU discovery and its time limits.
    Discovery,
    /// Which engine serves a model.
    Engine,
    /// The default way to split a model over GPUs.
    SplitDefault,
    /// Code that requests another split.
    SplitRequest,
    /// A split buffer is created, which happens only in row mode.
    SplitBuffer,
    /// The log line `graph splits`: parts of the graph per backend, no split buffer.
    GraphSplits,
}

impl Subject {
    pub const ALL: [Subject; 9] = [
        Subject::Process,
        Subject::Pinned,
        Subject::LibraryPath,
        Subject::Discovery,
        Subject::Engine,
        Subject::SplitDefault,
        Subject::SplitRequest,
        Subject::SplitBuffer,
        Subject::GraphSplits,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Subject::Process => "process",
            Subject::Pinned => "pinned",
            Subject::LibraryPath => "library-path",
            Subject::Discovery => "discovery",
            Subject::Engine => "engine",
            Subject::SplitDefault => "split-default",
            Subject::SplitRequest => "split-request",
            Subject::SplitBuffer => "split-buffer",
            Subject::GraphSplits => "graph-splits",
        }
    }

    /// Patterns for the files and lines about the subject. Comments never match.
    fn pattern(self) -> (&'static str, &'static str) {
        match self {
            Subject::Process => (r"(^|/)(llm|discover)/[^/]*\.go$", r"exec\.Command(Context)?\("),
            Subject::Pinned => (r"(^|/)LLAMA_CPP_VERSION$", r"\S"),
            Subject::LibraryPath => (
                r"(^|/)(llm|ml|discover)/[^/]*\.go$",
                r#""(LD_LIBRARY_PATH|OLLAMA_LIBRARY_PATH=?|GGML_BACKEND_PATH)"|var LibOllamaPath"#,
            ),
            Subject::Discovery => (r"(^|/)discover/[^/]*\.go$", r"context\.WithTimeout\(|:?= \d+ \* time\.Second"),
            Subject::Engine => (r"(^|/)llm/[^/]*\.go$", r"if .*EngineRequired\("),
            Subject::SplitDefault => (r"llama-model\.cpp$|llama\.cpp$", r"\.split_mode\s*=\*/\s*LLAMA_SPLIT_MODE_"),
            Subject::SplitRequest => {
                (r"\.go$|(^|/)common/[^/]*\.cpp$", r"split_mode\s*=[^=]|SplitMode\s*[:=]|LLAMA_SPLIT_MODE_ROW")
            }
            Subject::SplitBuffer => (
                r"(^|/)(src|llama)[^/]*/?.*llama-model\.cpp$|llama\.cpp$",
                r"LLAMA_SPLIT_MODE_ROW\)|split_buffer_type_fn\)",
            ),
            Subject::GraphSplits => {
                (r"llama-context\.cpp$|llama\.cpp$|ggml-backend\.cpp$", r#"graph splits|get_n_splits\("#)
            }
        }
    }
}

#[derive(Debug, Clone)]
pub struct Fact {
    pub subject: Subject,
    pub at: CodeLocation,
    /// The line itself, white space trimmed.
    pub text: String,
}

/// Every line about a subject, in the order of subjects, files and lines.
pub fn facts(files: &[File]) -> Vec<Fact> {
    let mut out = Vec::new();
    for subject in Subject::ALL {
        let (files_of, lines_of) = subject.pattern();
        let (Ok(path), Ok(line)) = (Regex::new(files_of), Regex::new(lines_of)) else { continue };
        for file in files.iter().filter(|file| path.is_match(&file.path)) {
            for (number, text) in file.text.lines().enumerate() {
                let text = text.trim();
                if text.starts_with("//") || text.starts_with('*') || logs(text) || !line.is_match(text) {
                    continue;
                }
                let line = u32::try_from(number + 1).unwrap_or(u32::MAX);
                out.push(Fact { subject, at: CodeLocation { file: file.path.clone(), line }, text: text.to_owned() });
            }
        }
    }
    out
}

/// Whether a line only writes to the log and therefore decides nothing.
fn logs(text: &str) -> bool {
    ["slog.", "logutil.", "log."].iter().any(|logger| text.starts_with(logger))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_a_regex() {
        for subject in Subject::ALL {
            let (files, lines) = subject.pattern();
            assert!(Regex::new(files).is_ok() && Regex::new(lines).is_ok(), "{}", subject.word());
        }
    }

    #[test]
    fn a_comment_is_no_fact() {
        let text = "// exec.Command(\"x\")\ncmd := exec.Command(exe)\n".to_owned();
        let found = facts(&[File { path: "llm/server.go".into(), text }]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].subject, found[0].at.line), (Subject::Process, 2));
    }
}
