//! The subject of an observation, and the subjects that a claim is about.
//!
//! An observation names its subject in full. A claim's [`Scope`] names the parts that matter to it. If the claim names
//! a part and the observation does not give it, the two differ: a missing value is not agreement.

use crate::fact::glob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Artifact {
    File {
        sha256: String,
        /// The file's own name, without directories.
        name: String,
    },
    Source {
        /// `llama.cpp`, `ollama`, `rocBLAS`, ...
        name: String,
        /// The full commit ID, or the version of a release without a repository.
        commit: String,
        /// The defines that were assumed for the build: `GGML_HIP_NO_MMQ_MFMA`, `NAME=VALUE`.
        #[serde(default)]
        defines: BTreeSet<String>,
    },
    /// A machine: its settings, devices and running processes. The name only distinguishes the hosts of two ledgers.
    Host { name: String },
    /// Something that has no fingerprint (a request to a server, a log of unknown origin).
    None,
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum DeviceKind: name {
        Real = "real",
        /// A stand-in: a library that reports a GPU and executes nothing.
        StandIn = "stand-in",
        /// The device of the launches is unknown.
        Unknown = "unknown",
        None = "none",
    }
}

/// The examined part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// Everything: every byte of the file, the process from start to end.
    Whole,
    /// A named part: `decode`, `prompt of 11 tokens`, `10 s from 12:00:03`.
    Named(String),
}

/// The name for the observer's machine, if its real name is not needed.
pub const THIS_HOST: &str = "this host";

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The installation: `ollama-rocm-60303`, `debian-sid`. Null if it belongs to none.
    #[serde(default)]
    pub runtime: Option<String>,
    pub artifact: Artifact,
    /// `gfx1201`, `gfx90a:xnack-`, `sm_90`.
    #[serde(default)]
    pub target: Option<String>,
    /// The card, by its profile's name: `rx-9070-xt`.
    #[serde(default)]
    pub gpu: Option<String>,
    pub device: DeviceKind,
    #[serde(default)]
    pub model: Option<String>,
    pub window: Window,
    /// The machine, if it is or may be another than the ledger's own. A foreign recording describes its own machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Subject {
    /// A file on disk: no device, whole file.
    pub fn file(name: impl Into<String>, sha256: impl Into<String>) -> Self {
        Subject::of(Artifact::File { sha256: sha256.into(), name: name.into() })
    }

    pub fn source(name: impl Into<String>, commit: impl Into<String>, defines: BTreeSet<String>) -> Self {
        Subject::of(Artifact::Source { name: name.into(), commit: commit.into(), defines })
    }

    pub fn host(name: impl Into<String>) -> Self {
        Subject::of(Artifact::Host { name: name.into() })
    }

    /// The subject named [`THIS_HOST`].
    pub fn this_host() -> Self {
        Subject::host(THIS_HOST)
    }

    /// Whether a subject's name is that of [`Subject::this_host`]; older ledgers use `this`.
    pub fn names_this_host(name: &str) -> bool {
        name == THIS_HOST || name == "this"
    }

    pub fn of(artifact: Artifact) -> Self {
        Subject {
            runtime: None,
            artifact,
            target: None,
            gpu: None,
            device: DeviceKind::None,
            model: None,
            window: Window::Whole,
            host: None,
        }
    }

    /// A short name: the installation, else the source and its commit, else the file or the machine.
    pub fn short(&self) -> String {
        let is_hash = |commit: &str| commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
        match (&self.runtime, &self.artifact) {
            (Some(runtime), _) => runtime.clone(),
            (None, Artifact::Source { name, commit, .. }) => {
                let commit = if is_hash(commit) { commit.get(..8).unwrap_or(commit) } else { commit };
                format!("{name} {commit}")
            }
            (None, Artifact::File { name, .. } | Artifact::Host { name }) => name.clone(),
            (None, Artifact::None) => self.host.clone().unwrap_or_else(|| "-".to_owned()),
        }
    }

    /// Whether both are the same subject, in overlapping windows.
    pub fn overlaps(&self, other: &Subject) -> bool {
        let windows = self.window == other.window || self.window == Window::Whole || other.window == Window::Whole;
        let Subject { runtime, artifact, target, gpu, device, model, window: _, host } = self;
        let same = (runtime, artifact, target, gpu) == (&other.runtime, &other.artifact, &other.target, &other.gpu);
        windows && same && (device, model, host) == (&other.device, &other.model, &other.host)
    }

    pub fn target(self, target: impl Into<String>) -> Self {
        Subject { target: Some(target.into()), ..self }
    }

    pub fn gpu(self, gpu: impl Into<String>) -> Self {
        Subject { gpu: Some(gpu.into()), ..self }
    }

    pub fn runtime(self, runtime: impl Into<String>) -> Self {
        Subject { runtime: Some(runtime.into()), ..self }
    }

    pub fn device(self, device: DeviceKind) -> Self {
        Subject { device, ..self }
    }

    pub fn model(self, model: impl Into<String>) -> Self {
        Subject { model: Some(model.into()), ..self }
    }

    /// The same subject on another machine.
    pub fn elsewhere(self, host: impl Into<String>) -> Self {
        Subject { host: Some(host.into()), ..self }
    }

    pub fn window(self, name: impl Into<String>) -> Self {
        Subject { window: Window::Named(name.into()), ..self }
    }
}

/// The part of a subject in which an observation and a claim differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Runtime,
    File,
    Source,
    Defines,
    Target,
    Gpu,
    Device,
    Model,
    Window,
    Host,
}

/// The subjects of a claim; parts that are not given match anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The name of the installation; `*` matches any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// A file name; `*` matches any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The source tree's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// A commit ID (at least seven digits) or a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Exactly these defines must have been assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defines: Option<BTreeSet<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The name of another machine; `*` matches any machine. Without a name, it is this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl Scope {
    /// A scope that matches this subject only.
    pub fn exactly(subject: &Subject) -> Scope {
        let mut scope = Scope {
            runtime: subject.runtime.clone(),
            target: subject.target.clone(),
            gpu: subject.gpu.clone(),
            device: Some(subject.device),
            model: subject.model.clone(),
            host: subject.host.clone(),
            ..Scope::default()
        };
        match &subject.artifact {
            Artifact::File { sha256, name } => {
                (scope.file, scope.sha256) = (Some(name.clone()), Some(sha256.clone()));
            }
            Artifact::Source { name, commit, defines } => {
                (scope.source, scope.commit) = (Some(name.clone()), Some(commit.clone()));
                scope.defines = Some(defines.clone());
            }
            Artifact::Host { .. } | Artifact::None => {}
        }
        if let Window::Named(name) = &subject.window {
            scope.window = Some(name.clone());
        }
        scope
    }

    /// The parts in which the subject differs from the claim's. Empty if it is the claim's own subject.
    pub fn differences(&self, subject: &Subject) -> BTreeSet<Part> {
        let mut parts = BTreeSet::new();
        let mut check = |part: Part, same: bool| {
            if !same {
                parts.insert(part);
            }
        };
        let named = |wanted: &Option<String>, given: &Option<String>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| wanted == "*" || given.as_deref().is_some_and(|given| glob(given, wanted)))
        };
        check(Part::Runtime, named(&self.runtime, &subject.runtime));
        check(Part::Target, same_target(self.target.as_deref(), subject.target.as_deref()));
        check(Part::Gpu, named(&self.gpu, &subject.gpu));
        check(Part::Device, self.device.is_none_or(|device| device == subject.device));
        check(Part::Model, named(&self.model, &subject.model));
        check(Part::Window, self.covers_window(&subject.window));
        check(Part::Host, if self.host.is_none() { subject.host.is_none() } else { named(&self.host, &subject.host) });
        let (file, sha256) = match &subject.artifact {
            Artifact::File { sha256, name } => (Some(name.as_str()), Some(sha256.as_str())),
            _ => (None, None),
        };
        let fits = |wanted: &str, given: Option<&str>| given.is_some_and(|given| glob(given, wanted));
        check(Part::File, self.file.as_deref().is_none_or(|wanted| fits(wanted, file)));
        check(Part::File, self.sha256.as_deref().is_none_or(|wanted| sha256 == Some(wanted)));
        let (source, commit, defines) = match &subject.artifact {
            Artifact::Source { name, commit, defines } => (Some(name.as_str()), Some(commit.as_str()), Some(defines)),
            _ => (None, None, None),
        };
        check(Part::Source, self.source.as_deref().is_none_or(|wanted| fits(wanted, source)));
        check(Part::Source, self.commit.as_deref().is_none_or(|wanted| same_commit(wanted, commit)));
        check(Part::Defines, self.defines.as_ref().is_none_or(|wanted| defines == Some(wanted)));
        parts
    }

    fn covers_window(&self, window: &Window) -> bool {
        match (&self.window, window) {
            (None, _) | (Some(_), Window::Whole) => true,
            (Some(wanted), Window::Named(given)) => glob(given, wanted),
        }
    }

    /// The claim's scope, completed from the investigation's scope.
    pub fn over(&self, whole: &Scope) -> Scope {
        let pick = |mine: &Option<String>, theirs: &Option<String>| mine.clone().or_else(|| theirs.clone());
        Scope {
            runtime: pick(&self.runtime, &whole.runtime),
            file: pick(&self.file, &whole.file),
            sha256: pick(&self.sha256, &whole.sha256),
            source: pick(&self.source, &whole.source),
            commit: pick(&self.commit, &whole.commit),
            defines: self.defines.clone().or_else(|| whole.defines.clone()),
            target: pick(&self.target, &whole.target),
            gpu: pick(&self.gpu, &whole.gpu),
            device: self.device.or(whole.device),
            model: pick(&self.model, &whole.model),
            window: pick(&self.window, &whole.window),
            host: pick(&self.host, &whole.host),
        }
    }
}

/// Whether a target matches. `gfx90a` matches any `gfx90a:...`. A target with features requires those features. `*`
/// matches every subject, even without a target, for example a section of a file or a chain in a source tree.
fn same_target(wanted: Option<&str>, given: Option<&str>) -> bool {
    let Some(wanted) = wanted.filter(|wanted| *wanted != "*") else { return true };
    let Some(given) = given else { return false };
    let bare = given.split(':').next().unwrap_or(given);
    glob(given, wanted) || (!wanted.contains(':') && glob(bare, wanted))
}

fn same_commit(wanted: &str, given: Option<&str>) -> bool {
    let Some(given) = given else { return false };
    let hex = wanted.len() >= 7 && wanted.bytes().all(|b| b.is_ascii_hexdigit());
    given == wanted || (hex && given.starts_with(wanted))
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        match &self.artifact {
            Artifact::File { sha256, name } => write!(f, "{name} ({})", short(sha256))?,
            Artifact::Source { name, commit, .. } => write!(f, "{name}@{}", short(commit))?,
            Artifact::Host { name } => write!(f, "host {name}")?,
            Artifact::None => f.write_str("-")?,
        }
        for part in [&self.runtime, &self.target, &self.gpu, &self.model].into_iter().flatten() {
            write!(f, " {part}")?;
        }
        if matches!(self.device, DeviceKind::StandIn | DeviceKind::Unknown) {
            let kind = if self.device == DeviceKind::StandIn { "stand-in" } else { "unknown device" };
            write!(f, " {kind}")?;
        }
        if let Window::Named(name) = &self.window {
            write!(f, " [{name}]")?;
        }
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source.as_ref().map(|source| match &self.commit {
            Some(commit) => format!("{source}@{commit}"),
            None => source.clone(),
        });
        let window = self.window.as_ref().map(|window| format!("[{window}]"));
        let parts = [&self.runtime, &self.file, &source, &self.target, &self.gpu, &self.model, &window];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).filter(|part| *part != "*").collect();
        f.write_str(&parts.join(" "))
    }
}
