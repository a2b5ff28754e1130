//! The host as an observer: doctor's facts and trials as observations.
//!
//! All of them are on the rung Loaded: they describe the setup of a machine, not what was dispatched. GPUs, ROCm
//! releases and Ollama's runtimes are listed completely, so that absence can be concluded.

use crate::facts::{Facts, OBSERVER};
use crate::{Gpu, Host, Report, Status, Verdict};
use evidence::{
    About, Canary, Coverage, DeviceKind, Fact, FieldOfView, Finding, Loaded, Observation, Rung, Subject, Value, View,
};
use observe::{Blocked, ObserveContext, Observer, Raw, Sighting};
use say::{Message, key, say};
use server::discovery_log::Discovery;

#[derive(Debug, Clone)]
pub struct HostObserver {
    host: Host,
}

impl HostObserver {
    /// The observer's name in its observations. Use it to check whether the host was examined.
    pub const NAME: &str = OBSERVER;

    pub fn new(host: Host) -> HostObserver {
        HostObserver { host }
    }

    /// The observations of a finished examination.
    pub fn sightings(&self, report: &Report, time: &str) -> Vec<Sighting> {
        let facts = &report.facts;
        let name = self.host.line("/proc/sys/kernel/hostname").found().cloned().unwrap_or_else(|| "host".to_owned());
        let raw = serde_json::json!({ "host": facts, "trials": report.trials }).to_string();
        // If there is only one card, all observations are about the machine with that card.
        let host = match facts.only_gpu() {
            Some(gpu) => on_gpu(Subject::host(name), gpu),
            None => Subject::host(name),
        };
        let book = Book { observer: self, host, time, raw, out: Vec::new() };
        book.settings(facts).gpus(facts).releases(facts).runtimes(facts).observers(report).servers(report).out
    }
}

impl Observer for HostObserver {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let topics = ["host.*", "gpu.*", "observer.result", "server.running", "server.port", "server.log"];
        let mut views: Vec<View> = topics.map(View::new).to_vec();
        views.push(ollama_runtimes());
        let reach = say!("view-doctor");
        vec![(Rung::Loaded, FieldOfView::new(views).reach(reach).blind(key!("view-doctor-blind")))]
    }

    fn observe(&self, around: &ObserveContext, _progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let report = Report::examine(&self.host, &[]);
        Ok(self.sightings(&report, &around.time))
    }
}

fn ollama_runtimes() -> View {
    View::new("runtime.installed").only([("name", "ollama-*")])
}

/// Collects observations.
struct Book<'a> {
    observer: &'a HostObserver,
    host: Subject,
    time: &'a str,
    raw: String,
    out: Vec<Sighting>,
}

impl Book<'_> {
    fn write(
        &mut self,
        subject: Subject,
        finding: Finding,
        coverage: Coverage,
        view: Option<FieldOfView>,
        canary: Canary,
    ) {
        let made = Observation::on::<Loaded>(self.observer.id(), subject, finding, coverage, self.time);
        // An observation is refused if it claims a launch or has no topic; neither occurs here.
        if let Ok(observation) = made {
            let observation = observation.view(view.unwrap_or_default()).canary(canary);
            let raw = Raw { kind: "application/json".to_owned(), ..Raw::text(self.raw.clone()) };
            self.out.push(Sighting::from(observation).with(raw));
        }
    }

    fn saw(&mut self, subject: &Subject, topic: &str, about: &[(&str, &str)], value: impl Into<Value>) {
        let fact = Fact::new(topic, About::new(about.iter().copied()), value);
        self.write(subject.clone(), Finding::Saw(fact), Coverage::listed("facts", 1), None, Canary::None);
    }

    fn swept(&mut self, view: View, looked_at: &str, seen: usize, canary: Option<Message>) {
        let canary = canary.map_or(Canary::None, Canary::in_target);
        let coverage = Coverage::complete(looked_at, seen as u64);
        self.write(self.host.clone(), Finding::Swept, coverage, Some(FieldOfView::new(vec![view])), canary);
    }

    fn settings(mut self, facts: &Facts) -> Self {
        let host = self.host.clone();
        let permissions = &facts.permissions;
        for (name, setting) in [
            ("kernel.yama.ptrace_scope", &permissions.ptrace_scope),
            ("kernel.perf_event_paranoid", &permissions.perf_event_paranoid),
            ("kernel.unprivileged_bpf_disabled", &permissions.unprivileged_bpf_disabled),
        ] {
            // A setting that is absent is an answer (there is no Yama). A refused read is not.
            match setting {
                crate::Look::Found(value) => self.saw(&host, "host.setting", &[("name", name)], *value),
                crate::Look::Absent => self.saw(&host, "host.setting", &[("name", name)], Value::Nothing),
                _ => {}
            }
        }
        let kind = facts.container.kind.clone().map_or(Value::Nothing, Value::from);
        self.saw(&host, "host.setting", &[("name", "container")], kind);
        let lockdown = permissions.locked_down().map_or(Value::Nothing, Value::from);
        self.saw(&host, "host.setting", &[("name", "lockdown")], lockdown);
        for variable in &facts.environment {
            let about = [("name", variable.name.as_str()), ("place", "shell")];
            self.saw(&host, "host.variable", &about, variable.value.as_str());
        }
        self
    }

    fn gpus(mut self, facts: &Facts) -> Self {
        for gpu in &facts.gpus {
            let Some(target) = gpu.target.as_deref() else { continue };
            let subject = on_gpu(self.host.clone(), gpu);
            let about = [("target", target)];
            let name = gpu.card.clone().or(gpu.name.clone()).unwrap_or_else(|| target.to_owned());
            self.saw(&subject, "gpu.present", &about, name);
            for (topic, value) in [
                ("gpu.device-id", gpu.device_id),
                ("gpu.vram", gpu.vram_bytes),
                ("gpu.wavefront", gpu.wavefront),
                ("gpu.compute-units", gpu.compute_units),
            ] {
                if let Some(value) = value {
                    self.saw(&subject, topic, &about, value);
                }
            }
        }
        // The CPU's own node serves as a canary: the driver lists it together with the GPUs.
        let nodes = self.observer.host.entries("/sys/class/kfd/kfd/topology/nodes").len();
        let canary = (nodes > facts.gpus.len()).then(|| say!("canary-cpu-node"));
        self.swept(View::new("gpu.present"), "topology nodes", nodes, canary);
        self
    }

    fn releases(mut self, facts: &Facts) -> Self {
        let host = self.host.clone();
        for release in &facts.rocm {
            if let Some(version) = &release.version {
                self.saw(&host, "host.rocm", &[("version", version)], release.directory.as_str());
            }
        }
        let directories = crate::rocm::library_directories(&self.observer.host);
        let libc = |dir: &String| self.observer.host.exists(format!("{dir}/libc.so.6"));
        let canary = directories.iter().any(libc).then(|| say!("canary-libc"));
        self.swept(View::new("host.rocm"), "library directories", directories.len(), canary);
        self
    }

    /// Ollama's ROCm directories, named by the release of their libraries.
    fn runtimes(mut self, facts: &Facts) -> Self {
        let host = self.host.clone();
        for (name, directory) in ollama(facts) {
            self.saw(&host, "runtime.installed", &[("name", &name)], directory);
        }
        self.swept(ollama_runtimes(), "directories", facts.servers.ollama_libraries.len(), None);
        self
    }

    fn observers(mut self, report: &Report) -> Self {
        let subject = self.host.clone();
        for verdict in &report.observers {
            self.saw(&subject, "observer.result", &[("observer", verdict.name)], verdict.status.name());
        }
        self.saw(&subject, "observer.result", &[("observer", "rocprofv3-attach")], attach(report).name());
        self
    }

    fn servers(mut self, report: &Report) -> Self {
        let runtimes = ollama(&report.facts);
        // A log or process can be attributed to a runtime only if there is a single one.
        let subject = match runtimes.as_slice() {
            [(name, _)] => self.host.clone().runtime(name.clone()),
            _ => self.host.clone(),
        };
        for process in &report.facts.servers.running {
            self.saw(&subject, "server.running", &[("name", process.role.name())], process.pid);
            for port in process.ports.iter().filter(|_| process.role == server::Role::OllamaServer) {
                self.saw(&subject, "server.port", &[], u32::from(*port));
            }
        }
        for discovery in &report.facts.discovery {
            self.log(&subject, discovery);
        }
        self
    }

    fn log(&mut self, subject: &Subject, discovery: &Discovery) {
        for device in &discovery.devices {
            let (library, compute) = device.split_once(' ').unwrap_or((device, ""));
            self.saw(subject, "server.log", &[("field", "inference compute library")], library);
            if !compute.is_empty() {
                self.saw(subject, "server.log", &[("field", "inference compute compute")], compute);
            }
        }
        if let Some(share) = discovery.offloaded.as_deref().and_then(|text| text.split(' ').nth(1)) {
            self.saw(subject, "server.log", &[("field", "offloaded")], share);
        }
    }
}

fn on_gpu(host: Subject, gpu: &Gpu) -> Subject {
    let mut subject = host.device(DeviceKind::Real);
    subject.target = gpu.target.clone();
    subject.gpu = gpu.card.clone();
    subject
}

/// Names each of Ollama's ROCm directories by release: `ollama-rocm-60303` for libraries of 6.3.3.
fn ollama(facts: &Facts) -> Vec<(String, String)> {
    let number = |version: &str| {
        let parts: Vec<u32> = version.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let [major, minor, patch] = parts.as_slice() else { return None };
        Some(format!("{}", major * 10000 + minor * 100 + patch))
    };
    let ours = facts.rocm.iter().filter(|release| release.directory.contains("/ollama/"));
    ours.filter_map(|release| {
        let suffix = number(release.version.as_deref()?)?;
        Some((format!("ollama-rocm-{suffix}"), release.directory.clone()))
    })
    .collect()
}

/// Whether `rocprofv3 --attach` works. It needs the tool, ptrace, and a target that was started for it.
fn attach(report: &Report) -> Status {
    let status = |name: &str| report.observers.iter().find(|verdict: &&Verdict| verdict.name == name).map(|v| v.status);
    match (status("rocprofv3"), status("ptrace")) {
        (Some(Status::Absent), _) => Status::Absent,
        (Some(Status::Blocked), _) | (_, Some(Status::Blocked)) => Status::Blocked,
        _ => Status::Untested,
    }
}
