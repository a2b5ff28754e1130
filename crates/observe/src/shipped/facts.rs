//! Turns a report into observations. One writer per file keeps subject, coverage and time the same in all.

use crate::shipped::{ShippedError, bundles, nvidia, spirv, symbols};
use crate::{Content, Raw, Sighting};
use codeobject::TargetId;
use evidence::{
    About, Canary, Coverage, Fact, FieldOfView, Finding, Observation, ObserverId, Shipped, Subject, Value, View,
    Witness,
};
use findings::shipped::KernelFact;
use inventory::{FileReport, Form};
use launch::kernel_list::{self, Listed};
use say::{Kept, Say as _, key, say};
use std::collections::BTreeSet;
use std::path::Path;

/// The maximum length of a list (about 5 MB); the list says how many more there are. Debian's libggml-hip.so has
/// 71,840.
const MOST_LISTED: usize = 200_000;

type Result<T> = std::result::Result<T, ShippedError>;

pub struct Writer<'a> {
    id: ObserverId,
    subject: Subject,
    report: &'a FileReport,
    coverage: Coverage,
    time: &'a str,
    /// The requested facts about kernels; the sweep's view is narrowed accordingly.
    kernels: Vec<View>,
    /// The requested facts about bundle roles.
    bundles: Vec<View>,
    /// The requested host symbols, by name.
    symbols: Vec<View>,
}

impl<'a> Writer<'a> {
    /// None for a report without a hash, because an observation must name its file.
    pub fn new(
        id: ObserverId,
        path: &Path,
        runtime: Option<&str>,
        report: &'a FileReport,
        time: &'a str,
    ) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let mut subject = Subject::file(name, report.sha256?.to_string());
        if let Some(runtime) = runtime {
            subject = subject.runtime(runtime);
        }
        let kernels = ["kernel", "kernel.*"].map(View::new).to_vec();
        let bundles = vec![View::new("bundle.*")];
        Some(Writer { id, subject, coverage: coverage(report), report, time, kernels, bundles, symbols: Vec::new() })
    }

    /// Restricts the facts on kernels, bundles and symbols to these views: a library has thousands, and an
    /// investigation asks for a few.
    pub fn only(self, asked: &[View]) -> Self {
        let of = |what: &str| -> Vec<View> {
            let inside = |view: &&View| view.topic == what || view.topic.starts_with(&format!("{what}."));
            asked.iter().filter(inside).cloned().collect()
        };
        Writer { kernels: of("kernel"), bundles: of("bundle"), symbols: of("file.symbol"), ..self }
    }

    /// The kind of the file, how much device code it has, and its targets.
    pub fn file(&self) -> Result<Vec<Sighting>> {
        let mut all = vec![self.saw(&self.subject, Fact::new("file.kind", About::default(), self.report.kind))?];
        if self.report.form == Form::Host && self.report.coverage.total() > 0 {
            let about = About::new([("name", ".hip_fatbin")]);
            all.push(self.saw(&self.subject, Fact::new("file.section", about, self.report.coverage.total()))?);
        }
        let images = self.report.nvidia.iter().filter(|_| self.report.form == Form::Host);
        for walked in images.flat_map(|found| &found.sections) {
            let about = About::new([("name", walked.section.region.section())]);
            all.push(self.saw(&self.subject, Fact::new("file.section", about, walked.section.size))?);
        }
        let exact = self.report.is_complete() && self.report.contradicted().next().is_none();
        let counted = if self.report.is_complete() { Fact::new } else { Fact::at_least };
        for (about, modules) in spirv::counts(self.report) {
            all.push(self.saw(&self.subject, counted("file.modules".to_owned(), about, Value::from(modules)))?);
        }
        for (target, summary) in self.report.sure_targets() {
            let about = About::new([("name", target.as_str())]);
            let fact = if exact { Fact::new } else { Fact::at_least };
            all.push(self.saw(&self.subject, fact("file.target".to_owned(), about, Value::from(summary.kernels)))?);
            let subject = self.subject.clone().target(target);
            all.push(
                self.saw(&subject, fact("file.bundles".to_owned(), About::default(), Value::from(summary.objects)))?,
            );
        }
        Ok(all)
    }

    /// The size of each bundle's code object for one target.
    pub fn bundles(&self, wanted: &TargetId) -> Result<Vec<Sighting>> {
        let mut all = Vec::new();
        for summary in &self.report.bundles {
            for entry in summary.entries.iter().filter(|entry| entry.contradicted().is_none()) {
                let Some(target) = entry.target.as_ref().filter(|target| target.answers(wanted)) else { continue };
                let subject = self.subject.clone().target(target.to_string());
                let about = About::new([("bundle", summary.bundle.index.to_string())]);
                all.push(self.saw(&subject, Fact::new("bundle.size", about, entry.size))?);
            }
        }
        Ok(all)
    }

    pub fn kernels(&self, target: &TargetId, kernels: &[KernelFact]) -> Result<Vec<Sighting>> {
        let subject = self.subject.clone().target(target.to_string());
        let mut all = Vec::new();
        for kernel in kernels {
            let mut about = About::new([("name", kernel.name.as_str())]);
            if let Some(bundle) = kernel.bundle {
                about.insert("bundle", bundle.to_string());
            }
            let numbers = [
                ("kernel.sgpr", kernel.sgpr),
                ("kernel.vgpr", kernel.vgpr),
                ("kernel.lds", kernel.lds),
                ("kernel.scratch", kernel.scratch),
                ("kernel.wavefront", kernel.wavefront),
            ];
            let plain = [
                Some(Fact::new("kernel", about.clone(), true)),
                kernel.stub.map(|stub| Fact::new("kernel.stub", about.clone(), stub)),
            ];
            let counted = numbers.map(|(topic, value)| value.map(|value| Fact::new(topic, about.clone(), value)));
            for fact in plain.into_iter().chain(counted).flatten() {
                if self.kernels.iter().any(|view| view.shows(&fact)) {
                    all.push(self.saw(&subject, fact)?);
                }
            }
        }
        let waves: BTreeSet<u32> = kernels.iter().filter_map(|kernel| kernel.wavefront).collect();
        let waves: Vec<Value> = waves.into_iter().map(Value::from).collect();
        let value = match waves.as_slice() {
            [] => return Ok(all),
            [one] => one.clone(),
            _ => Value::List(waves),
        };
        all.push(self.saw(&subject, Fact::new("file.wavefront", About::default(), value))?);
        Ok(all)
    }

    /// The roles of the bundles, and the source facts that the kernels show.
    pub fn roles(&self, target: &TargetId, kernels: &[KernelFact]) -> Result<Vec<Sighting>> {
        let subject = self.subject.clone().target(target.to_string());
        let mut all = Vec::new();
        for fact in bundles::facts(kernels) {
            if self.bundles.iter().any(|view| view.shows(&fact)) {
                all.push(self.saw(&subject, fact)?);
            }
        }
        if let Some(fact) = symbols::built_from(kernels) {
            all.push(self.saw(&self.subject, fact)?);
        }
        Ok(all)
    }

    /// The requested host symbols that exist, and a sweep from which the absence of the others follows.
    pub fn symbols(&self, path: &Path) -> Result<Vec<Sighting>> {
        let found = if self.symbols.is_empty() { None } else { symbols::symbols(path, &self.symbols) };
        let Some(found) = found else { return Ok(Vec::new()) };
        let mut all = found.into_iter().map(|fact| self.saw(&self.subject, fact)).collect::<Result<Vec<_>>>()?;
        let view = FieldOfView::new(self.symbols.clone()).reach(say!("view-symbols"));
        let view = view.blind(key!("view-symbols-blind"));
        all.push(self.sweep(self.subject.clone(), view)?);
        Ok(all)
    }

    /// A sweep: anything not seen is absent. Written only if every byte was accounted for. The list of all kernels is
    /// attached.
    pub fn swept(&self, target: Option<&TargetId>, list: &[Listed]) -> Result<Vec<Sighting>> {
        let reach = say!("view-bytes");
        let mut views = vec![View::new("file.target")];
        views.extend(self.report.searched_spirv.then(|| View::new("file.modules")));
        let targets = FieldOfView::new(views).reach(reach.clone());
        let mut whole = self.sweep(self.subject.clone(), targets)?;
        if !list.is_empty() {
            let text = kernel_list::write(list, MOST_LISTED);
            let content = Content::Bytes(text.into_bytes());
            whole = whole.with(Raw { kind: kernel_list::KIND.to_owned(), content });
        }
        let mut all = vec![whole];
        if let Some(target) = target {
            let views = ["bundle.size", "file.bundles"].map(View::new).into_iter();
            let views = views.chain(self.kernels.clone()).chain(self.bundles.clone()).collect();
            all.push(
                self.sweep(self.subject.clone().target(target.to_string()), FieldOfView::new(views).reach(reach))?,
            );
        }
        Ok(all)
    }

    fn sweep(&self, subject: Subject, view: FieldOfView) -> Result<Sighting> {
        let swept =
            Observation::on::<Shipped>(self.id.clone(), subject, Finding::Swept, self.coverage.clone(), self.time)?;
        Ok(Sighting::from(swept.view(view).canary(self.canary())).with(Raw::text(self.listing())))
    }

    fn saw(&self, subject: &Subject, fact: Fact) -> Result<Sighting> {
        let finding = Finding::Saw(fact);
        let seen =
            Observation::on::<Shipped>(self.id.clone(), subject.clone(), finding, self.coverage.clone(), self.time)?;
        Ok(seen.into())
    }

    /// A correct walk through bundles must find the host entry that every compiler writes first; through archives, it
    /// must find code for each wrapper.
    fn canary(&self) -> Canary {
        let bundles = &self.report.bundles;
        let packed = |summary: &inventory::BundleSummary| summary.entries.iter().any(|entry| entry.archive.is_some());
        let has_host = |summary: &inventory::BundleSummary| summary.entries.iter().any(|entry| !entry.is_device());
        match self.report.form {
            Form::CodeObject if self.report.object.as_ref().is_some_and(|object| object.kernels > 0) => {
                Canary::in_target(say!("canary-object-kernels"))
            }
            _ if !bundles.is_empty() && bundles.iter().all(has_host) => {
                Canary::in_target(say!("canary-host-entries", count = bundles.len()))
            }
            _ if self.report.kpack.is_some() && !bundles.is_empty() && bundles.iter().all(packed) => {
                Canary::in_target(say!("canary-archives", count = bundles.len()))
            }
            _ if self.report.nvidia.is_none() && bundles.is_empty() => spirv::canary(self.report),
            _ => self.report.nvidia.as_ref().filter(|_| bundles.is_empty()).map_or(Canary::None, nvidia::canary),
        }
    }

    /// The raw evidence: every bundle as it was read.
    fn listing(&self) -> String {
        let mut text = format!("{} bytes, {:?}\n", self.report.size, self.report.form);
        for summary in &self.report.bundles {
            let b = &summary.bundle;
            text += &format!("bundle {} at {} size {} {}\n", b.index, b.offset, b.size, b.compression());
            for entry in &summary.entries {
                text +=
                    &format!("  {} size {} kernels {} stubs {}\n", entry.id, entry.size, entry.kernels, entry.stubs);
            }
        }
        text + &spirv::listing(self.report)
    }
}

fn coverage(report: &FileReport) -> Coverage {
    let c = &report.coverage;
    let (total, lost) = report.nvidia.as_ref().map_or((0, 0), nvidia::bytes);
    let modules: u64 = report.modules.iter().map(|module| module.size).sum();
    let seen = c.scanned.saturating_add(c.padding).saturating_add(total - lost).saturating_add(modules);
    let total = c.total().saturating_add(total).saturating_add(modules);
    let mut coverage = Coverage::partial("bytes of device code", seen, Some(total), Vec::new());
    if let Some(found) = &report.nvidia {
        coverage = nvidia::missing(found, coverage);
    }
    for gap in &c.not_understood {
        coverage = coverage.missing(format!("{:#x}..{:#x}", gap.range.start, gap.range.end), gap.why.message());
    }
    for problem in &report.problems {
        coverage = coverage.missing(say!("missed-file"), problem.message());
    }
    for object in report.contradicted() {
        let Some(found) = object.contradicted() else { continue };
        let why = say!(
            "missed-contradicted",
            place = found.place.to_string(),
            says = found.says.to_string(),
            flags = found.flags.to_string()
        );
        let what = match object.id.as_str() {
            "" => say!("missed-code-object").into(),
            id => Kept::from(id),
        };
        coverage = coverage.missing(what, why);
    }
    for opaque in &report.opaque {
        let place = format!("{:#x}..{:#x}", opaque.range.start, opaque.range.end);
        coverage = coverage.missing(place, say!("missed-opaque", what = opaque.what));
    }
    match report.searched {
        true => coverage.account(Witness::ByteMap),
        false => coverage.missing(say!("missed-rest-of-file"), say!("missed-not-searched")),
    }
}
