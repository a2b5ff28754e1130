//! Which build a file comes from, and whether a source tree can have produced it.

use super::shown;
use answer::Answer;
use runtime::fingerprint::{Against, FingerprintTable, Tools, Window};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The build that a file comes from: ROCm release, compilers, and the range of llama.cpp builds that declare its
/// kernels.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fingerprinted {
    file: String,
    fingerprint: Fingerprint,
}

impl Answer for Fingerprinted {
    const SCHEMA: &'static str = "whichkernel.inspect-fingerprint/1";
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Fingerprint {
    rocm: Vec<Release>,
    host_tools: BTreeSet<String>,
    device_tools: BTreeSet<String>,
    /// The newest required symbol version of each GPU library.
    required: Vec<String>,
    /// null if the file contains no ggml kernel.
    ggml: Option<Builds>,
    table: Known,
    /// The comparison with a source; null if no source was named.
    against: Option<Compared>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Release {
    release: String,
    /// The evidence for this compiler or release.
    says: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Builds {
    builds: Vec<Span>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    known_shapes: usize,
    unknown_shapes: Vec<String>,
    newer_or_patched: bool,
    conflict: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Span {
    from: u32,
    /// The last build; null if the table ends before it.
    to: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Bound {
    build: u32,
    kernel: String,
}

/// The range of the table of builds.
#[derive(Debug, Serialize, JsonSchema)]
struct Known {
    start: u32,
    sampled_from: u32,
    end: u32,
    date: String,
    commit: String,
}

/// Whether the file can have been built from that source.
#[derive(Debug, Serialize, JsonSchema)]
struct Compared {
    /// Whether it is possible; null if unknown.
    possible: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Fingerprinted {
    pub fn new(
        path: &Path,
        tools: &Tools,
        window: Option<&Window>,
        table: &FingerprintTable,
        against: Option<&Against>,
    ) -> Self {
        let release = |(release, says): &(String, String)| Release { release: release.clone(), says: says.clone() };
        let known = Known {
            start: table.start,
            sampled_from: table.sampled_from,
            end: table.end,
            date: table.end_date.clone(),
            commit: table.end_commit.clone(),
        };
        let fingerprint = Fingerprint {
            rocm: tools.releases.iter().map(release).collect(),
            host_tools: tools.host.clone(),
            device_tools: tools.device.clone(),
            required: tools.required.clone(),
            ggml: window.map(builds),
            table: known,
            against: against.map(compared),
        };
        Fingerprinted { file: shown(path), fingerprint }
    }
}

fn builds(window: &Window) -> Builds {
    let bound = |bound: &Option<(u32, String)>| {
        bound.as_ref().map(|(build, kernel)| Bound { build: *build, kernel: kernel.clone() })
    };
    Builds {
        builds: window.spans.iter().map(|span| Span { from: span.from, to: span.to }).collect(),
        lower: bound(&window.lower),
        upper: bound(&window.upper),
        known_shapes: window.known,
        unknown_shapes: window.unknown.clone(),
        newer_or_patched: window.newer,
        conflict: window.conflict,
    }
}

fn compared(against: &Against) -> Compared {
    let none = Compared { possible: None, judged: None, missing: None, why: None };
    match against {
        Against::Possible { judged } => Compared { possible: Some(true), judged: Some(*judged), ..none },
        Against::Impossible { missing } => Compared { possible: Some(false), missing: Some(missing.clone()), ..none },
        Against::Unknown { why } => Compared { why: Some(why.to_string()), ..none },
    }
}
