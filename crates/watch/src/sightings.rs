//! The observations from a watched window. The device determines the rung; gaps are part of the result.

use crate::observer_kind::REFUSED;
use crate::{Gap, Name, ObserverKind, Row, Tally, Unseen};
use evidence::{
    About, Account, Artifact, Basis, BlindSpot, Canary, Completed, Conclusion, Contamination, Coverage, DeviceKind,
    Fact, Finding, Launched, LeftOutWhy, Observation, ObserverId, Refused, Rung, Selected, Subject, Unit, Witness,
};
use observe::{Raw, Sighting};
use say::{Key, Message, say};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// The source of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// An observation made by this program on this host.
    Ours,
    /// A file, which describes the host that wrote it.
    File {
        name: String,
        sha256: String,
        /// The program that wrote the file, recognised by its format; `unknown` if any program may have.
        maker: &'static str,
        /// The host's name as stated in the file.
        host: Option<String>,
    },
}

impl Word {
    /// The other host, in words; None for this host.
    pub fn host(&self) -> Option<String> {
        match self {
            Word::Ours => None,
            Word::File { host: Some(host), .. } => Some(host.clone()),
            Word::File { name, sha256, .. } => {
                Some(format!("an unknown host ({name} {})", sha256.get(..12).unwrap_or(sha256)))
            }
        }
    }
}

/// Other witnesses that confirm the count, and the observer's blind spots in this target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecondAccount {
    pub witness: Option<Witness>,
    pub cannot_see: Vec<BlindSpot>,
}

/// How completely an observer saw; each source fills it in when it ends.
#[derive(Debug, Clone)]
pub struct ObserverReport {
    pub observer: ObserverKind,
    /// The weakest device of all launches; each row has its own.
    pub device: DeviceKind,
    pub word: Word,
    /// The library whose kernels were launched: file name and SHA-256.
    pub library: Option<(String, String)>,
    /// The library's path as this process sees it; None if it may be another file.
    pub library_path: Option<PathBuf>,
    pub canary: Canary,
    pub contamination: Contamination,
    /// Which calls of which processes, in words.
    pub reach: Message,
    pub blind: &'static [Key],
    /// The gaps.
    pub gaps: Vec<Unseen>,
    pub second: SecondAccount,
    /// Seconds between the first and the last observed time.
    pub seconds: f64,
    /// The measured overhead per launch, in nanoseconds.
    pub cost_ns: Option<f64>,
    /// Whether every launch was seen to end: a fence after it signalled, or its queue was idle.
    pub ended: bool,
}

impl ObserverReport {
    /// A report while the observation goes on.
    pub fn so_far(observer: ObserverKind, device: DeviceKind, canary: Canary, gaps: Vec<Unseen>) -> ObserverReport {
        ObserverReport {
            observer,
            device,
            word: Word::Ours,
            library: None,
            library_path: None,
            canary,
            contamination: Contamination::Unchecked,
            reach: Message::verbatim(""),
            blind: &[],
            gaps,
            second: SecondAccount::default(),
            seconds: 0.0,
            cost_ns: None,
            ended: false,
        }
    }

    /// The rung of launches on a device of this kind.
    pub fn rung(&self, device: DeviceKind) -> Rung {
        match self.observer.rung(device) {
            Rung::Launched if self.ended => Rung::Completed,
            rung => rung,
        }
    }

    /// Whether every launch was seen or is in the count of lost ones, according to the gaps. Only for our own
    /// observations: only the writer of a file can know whether it is complete.
    pub fn whole(&self) -> bool {
        self.word == Word::Ours && !self.gaps.iter().any(|unseen| unseen.gap.open().is_of_launches())
    }

    /// The conclusion about the launches: whether those that were observed are all, or, without any, whether there was none. It
    /// is made from observations, losses, and gaps; without a canary it is unknown whether a launch would have been observed.
    pub fn conclusion(&self, tally: &Tally) -> Conclusion {
        let seen = tally.launches() + tally.rejections();
        let of = match &self.word {
            Word::File { name, .. } => name.clone(),
            Word::Ours => self.reach.to_string(),
        };
        let mut basis = Basis::live(self.observer.name(), [of], self.rung(self.device), Unit::Launches, seen);
        basis = basis.lost(tally.lost);
        if let Some(witness) = self.second.witness {
            basis = basis.account(Account::searched(witness));
        }
        basis = self.second.cannot_see.iter().cloned().fold(basis, Basis::cannot_see);
        if tally.unknown_replays > 0 {
            basis = basis.without(say!("watch-replays"), Some(tally.unknown_replays), LeftOutWhy::OutOfView);
        }
        let no_canary = Unseen::from(Gap::NoCanary);
        let blind = (seen == 0 && self.canary == Canary::None).then_some(&no_canary);
        for unseen in self.gaps.iter().filter(|unseen| unseen.gap.open().is_of_launches()).chain(blind) {
            basis = basis.without(unseen.what(), None, LeftOutWhy::OutOfView);
        }
        // Only the writer of a file can know whether it is complete.
        if let Word::File { name, .. } = &self.word {
            basis = basis.without(name.clone(), None, LeftOutWhy::OnlyTold);
        }
        if seen == 0 { basis.presence(0) } else { basis.completeness() }
    }
}

/// The parts that all recorded observations of one watch share.
#[derive(Debug)]
pub struct RecordContext<'a> {
    pub account: &'a ObserverReport,
    /// The command or process, as the window's name.
    pub window: &'a str,
    pub model: Option<&'a str>,
    pub place: LaunchSite,
    pub time: &'a str,
}

/// The installation that launched, and the card of this host: a claim names both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchSite {
    /// The installation, such as `ollama-rocm-60303`.
    pub runtime: Option<String>,
    /// The target, such as `gfx1201`; only if no other target is possible.
    pub target: Option<String>,
    /// The card, such as `rx-9070-xt`.
    pub card: Option<String>,
}

impl RecordContext<'_> {
    pub fn subject(&self) -> Subject {
        self.subject_on(self.account.device)
    }

    fn subject_on(&self, device: DeviceKind) -> Subject {
        let account = self.account;
        let subject = match (account.word.host(), &account.library) {
            (Some(host), _) => Subject::of(Artifact::None).elsewhere(host),
            (None, Some((name, hash))) => Subject::file(name.clone(), hash.clone()),
            (None, None) => Subject::this_host(),
        };
        let mut subject = subject.device(device).window(self.window);
        // A file describes another host, and the stand-in describes none.
        if account.word == Word::Ours {
            let card = Some(&self.place).filter(|_| device == DeviceKind::Real);
            (subject.runtime, subject.target, subject.gpu) = (
                self.place.runtime.clone(),
                card.and_then(|place| place.target.clone()),
                card.and_then(|place| place.card.clone()),
            );
        }
        match self.model {
            Some(model) => subject.model(model),
            None => subject,
        }
    }

    fn coverage(&self, tally: &Tally) -> Coverage {
        let mut coverage = Coverage::partial("launches", tally.launches(), None, Vec::new()).lost(tally.lost);
        if tally.unnamed() > 0 {
            coverage = coverage.missing(say!("missed-names"), say!("missed-names-why", count = tally.unnamed()));
        }
        if tally.unknown_replays > 0 {
            let why = say!("missed-replays-why", count = tally.unknown_replays);
            coverage = coverage.missing(say!("missed-replays"), why);
        }
        if let Some(witness) = self.account.second.witness {
            coverage = coverage.account(witness);
        }
        for unseen in &self.account.gaps {
            coverage = coverage.missing(unseen.what(), unseen.why());
        }
        coverage
    }

    /// One observation per fact, and the sweep from which absence can be judged.
    pub fn sightings(&self, tally: &Tally) -> Result<Vec<Sighting>, Refused> {
        let rows = tally.rows();
        let raw = raw(&rows, tally);
        let on = |row: &Row| row.device.unwrap_or(self.account.device);
        let mut list = Vec::new();
        for row in &rows {
            for rung in self.rungs(on(row)) {
                for fact in facts(row) {
                    list.push(self.one_on(on(row), rung, Finding::Saw(fact), tally)?.with(Raw::text(raw.clone())));
                }
            }
        }
        for (name, count) in refused(tally) {
            let fact = Fact::new(REFUSED, About::new([("name", name)]), i64::try_from(count).unwrap_or(i64::MAX));
            let seen = self.one_on(self.account.device, Rung::Selected, Finding::Saw(fact), tally)?;
            list.push(seen.with(Raw::text(raw.clone())));
        }
        // Each kind of device has its own sweep: launches on one show nothing about another.
        let mut devices: BTreeMap<&str, DeviceKind> = rows.iter().map(|row| (on(row).name(), on(row))).collect();
        if devices.is_empty() {
            devices.insert(self.account.device.name(), self.account.device);
        }
        for device in devices.into_values() {
            for rung in self.rungs(device) {
                let swept = self.one_on(device, rung, Finding::Swept, tally)?;
                list.push(swept.with(Raw::text(raw.clone())));
            }
        }
        Ok(list)
    }

    /// The rungs of one observation: an observer that saw a launch accepted and then completed gives both rungs,
    /// because a claim asks for one of them. An imported file's rung is the one that the file states.
    fn rungs(&self, device: DeviceKind) -> Vec<Rung> {
        match self.account.rung(device) {
            Rung::Completed if self.account.word == Word::Ours => vec![Rung::Launched, Rung::Completed],
            rung => vec![rung],
        }
    }

    pub fn one(&self, finding: Finding, tally: &Tally) -> Result<Sighting, Refused> {
        self.one_on(self.account.device, self.account.rung(self.account.device), finding, tally)
    }

    fn one_on(&self, device: DeviceKind, rung: Rung, finding: Finding, tally: &Tally) -> Result<Sighting, Refused> {
        let account = self.account;
        let id = ObserverId::new(account.observer.name(), env!("CARGO_PKG_VERSION"));
        let (subject, mut coverage) = (self.subject_on(device), self.coverage(tally));
        if device == DeviceKind::Real {
            for (pid, _, unseen) in tally.devices.iter().filter(|(.., device)| device.kind() == DeviceKind::Unknown) {
                coverage = coverage.missing(say!("missed-device", pid), unseen.detail());
            }
        }
        let seen = match rung {
            Rung::Completed => Observation::on::<Completed>(id, subject, finding, coverage, self.time)?,
            Rung::Launched => Observation::on::<Launched>(id, subject, finding, coverage, self.time)?,
            _ => Observation::on::<Selected>(id, subject, finding, coverage, self.time)?,
        };
        let mut view = crate::launches_in_view(account.observer).reach(account.reach.clone());
        for spot in account.blind {
            view = view.blind(*spot);
        }
        Ok(seen.view(view).canary(account.canary.clone()).contamination(account.contamination.clone()).into())
    }
}

/// Refused launches by kernel. The address of an unnamed kernel is meaningless elsewhere.
fn refused(tally: &Tally) -> BTreeMap<String, u64> {
    let mut out: BTreeMap<String, u64> = BTreeMap::new();
    for (known, count) in tally.rejected_kinds() {
        let name = match known.kind.name {
            Name::Unnamed(_) => "unnamed".to_owned(),
            _ => known.readable(),
        };
        *out.entry(name).or_default() += count;
    }
    out
}

fn facts(row: &Row) -> Vec<Fact> {
    let count = i64::try_from(row.launches).unwrap_or(i64::MAX);
    let phase = row.phase.key();
    match &row.name {
        Name::Call(_) => return vec![Fact::new("blas.call", About::new([("phase", phase)]), count)],
        Name::Unnamed(_) => return Vec::new(),
        Name::Kernel(_) | Name::Pipeline(_) => {}
    }
    // Tensile's names are used unchanged; the readable form would hide that it is a `Cijk_*`.
    let name = match &row.name {
        Name::Kernel(name) if name.starts_with("Cijk_") => name.clone(),
        _ => row.kernel.clone(),
    };
    let mut out = vec![Fact::new("kernel", About::new([("name", name.clone()), ("phase", phase.to_owned())]), count)];
    if let (Some(weights), Some(path), Some(ne11)) = (&row.weights, row.path, row.ne11) {
        let about = [("type", weights.clone()), ("columns", ne11.to_string()), ("phase", phase.to_owned())];
        // Vulkan is another backend with its own paths, so it never answers a claim about HIP's paths.
        let (way, which) = match &row.name {
            Name::Pipeline(_) => ("vulkan.path", "vulkan.pipeline"),
            _ => ("matmul.path", "matmul.kernel"),
        };
        let name = match &row.name {
            Name::Pipeline(of) => of.name.clone(),
            _ => name,
        };
        out.push(Fact::new(way, About::new(about.clone()), path.to_string()));
        out.push(Fact::new(which, About::new(about), name));
    }
    out
}

fn raw(rows: &[Row], tally: &Tally) -> String {
    let mut out = String::from("phase\tkernel\tname\tcolumns\tgrids\tlaunches\n");
    for row in rows {
        let columns = row.ne11.map(|n| n.to_string()).unwrap_or_default();
        let grids: Vec<String> = row.grids.iter().map(|[x, y, z]| format!("{x}x{y}x{z}")).collect();
        let (phase, kernel, name) = (row.phase.key(), &row.kernel, row.name.text());
        let _ = writeln!(out, "{phase}\t{kernel}\t{name}\t{columns}\t{}\t{}", grids.join(" "), row.launches);
    }
    let _ = writeln!(out, "lost\t{}\nunnamed\t{}\nrejected\t{}", tally.lost, tally.unnamed(), tally.rejections());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flow, Kind};

    const TIME: &str = "2026-01-01T00:00:00Z";

    fn account(device: DeviceKind) -> ObserverReport {
        ObserverReport {
            observer: ObserverKind::Uprobe,
            device,
            word: Word::Ours,
            library: Some(("libggml-hip.so".into(), "ab".into())),
            library_path: None,
            canary: Canary::None,
            contamination: Contamination::Unchecked,
            reach: Message::verbatim(""),
            blind: &[],
            gaps: Vec::new(),
            second: SecondAccount::default(),
            seconds: 1.0,
            cost_ns: None,
            ended: false,
        }
    }

    /// A launch that was seen to end also answers claims about launches.
    #[test]
    fn what_was_seen_to_end_was_seen_to_be_launched() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Kernel("_Z1kv".into()), "vkCmdDispatch"));
        let mut flow = Flow::default();
        flow.launch(&mut tally, kind, 0, 0);
        flow.finish(&mut tally);
        let rungs = |account: &ObserverReport| -> Vec<Rung> {
            let scene = RecordContext { account, window: "w", model: None, place: LaunchSite::default(), time: TIME };
            scene.sightings(&tally).expect("sightings").iter().map(|seen| seen.observation.rung()).collect()
        };
        let ended = ObserverReport { ended: true, ..account(DeviceKind::Real) };
        let both = [Rung::Launched, Rung::Completed, Rung::Launched, Rung::Completed];
        assert_eq!(rungs(&ended), both, "the kernel and the sweep");
        assert_eq!(rungs(&account(DeviceKind::Real)), [Rung::Launched; 2]);
        assert_eq!(rungs(&ObserverReport { ended: true, ..account(DeviceKind::StandIn) }), [Rung::Selected; 2]);
        let word = Word::File { name: "p".into(), sha256: "ab".into(), maker: "rocprofv3", host: None };
        let told = rungs(&ObserverReport { word, ..ended });
        assert!(!told.contains(&Rung::Launched), "a file stands where it says: {told:?}");
    }

    /// A claim about HIP's paths is never answered by a dispatch through Vulkan, nor the other way round.
    #[test]
    fn dispatches_through_vulkan_have_topics_of_their_own() {
        let mut tally = Tally::default();
        let pipeline = crate::Pipeline {
            name: "mul_mat_vec_q4_k_q8_1_f32".into(),
            weights: Some("Q4_K".into()),
            identity: "ab/2=1/64".into(),
        };
        let kind = Kind { ne11: Some(1), ..Kind::kernel(Name::Pipeline(pipeline), "vkCmdDispatch") };
        let kind = tally.kind(&kind);
        let mut flow = Flow::default();
        flow.launch(&mut tally, kind, 0, 0);
        flow.finish(&mut tally);
        let rows = tally.rows();
        let facts: Vec<String> = rows.iter().flat_map(facts).map(|fact| fact.topic.to_string()).collect();
        assert_eq!(facts, ["kernel", "vulkan.path", "vulkan.pipeline"]);
        let sees = |kind, topic: &str| crate::launches_in_view(kind).views.iter().any(|view| view.topic == topic);
        assert!(sees(ObserverKind::Layer, "vulkan.*") && !sees(ObserverKind::Layer, "matmul.*"));
        assert!(sees(ObserverKind::Uprobe, "vulkan.*") && sees(ObserverKind::Uprobe, "matmul.*"));
        assert!(!sees(ObserverKind::Perf, "vulkan.*"), "what its calls say lies behind pointers");
    }

    #[test]
    fn the_device_decides_the_rung() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Kernel("k".into()), "hipLaunchKernel"));
        let mut flow = Flow::default();
        flow.launch(&mut tally, kind, 0, 0);
        flow.launch(&mut tally, kind, 0, 100);
        flow.finish(&mut tally);
        for (device, rung) in [
            (DeviceKind::StandIn, Rung::Selected),
            (DeviceKind::Unknown, Rung::Selected),
            (DeviceKind::Real, Rung::Launched),
        ] {
            let account = account(device);
            let scene = RecordContext {
                account: &account,
                window: "test",
                model: None,
                place: LaunchSite::default(),
                time: TIME,
            };
            let list = scene.sightings(&tally).expect("observations");
            assert_eq!(list.len(), 3, "one kernel, the sweep, and what was refused");
            let topic = |seen: &Sighting| match seen.observation.finding() {
                Finding::Saw(fact) => Some((fact.topic.clone(), fact.value.to_string())),
                _ => None,
            };
            let on = |rung| list.iter().filter(move |seen| seen.observation.rung() == rung).filter_map(topic);
            let said = |topic: &str, value: &str| (topic.to_owned(), value.to_owned());
            assert!(on(rung).any(|fact| fact == said("kernel", "1")), "{list:?}");
            assert!(
                on(Rung::Selected).any(|fact| fact == said("kernel.refused", "1")),
                "it was chosen, and is no launch"
            );
        }
    }

    #[test]
    fn a_process_on_the_stand_in_beside_one_on_a_gpu_is_graded_by_itself() {
        let (mut tally, mut flow) = (Tally::default(), Flow::default());
        // No process has the last of these ids.
        for process in [1, 2, 1 << 23] {
            let kernel = Kind::kernel(Name::Kernel("k".into()), "hipLaunchKernel");
            let kind = tally.kind(&Kind { process, ..kernel });
            flow.launch(&mut tally, kind, 0, 0);
        }
        flow.finish(&mut tally);
        assert_eq!(tally.rows().len(), 1, "the same kernel, as long as nothing tells them apart");
        tally.devices.seen(1, ["/dev/kfd"]);
        tally.devices.launched(2, crate::Maker::Amd, true);
        tally.devices.launched(1 << 23, crate::Maker::Amd, false);
        let account = account(tally.devices.kind());
        let scene =
            RecordContext { account: &account, window: "test", model: None, place: LaunchSite::default(), time: TIME };
        let list = scene.sightings(&tally).expect("observations");
        let kinds: Vec<_> =
            list.iter().map(|seen| (seen.observation.rung(), seen.observation.subject().device)).collect();
        for device in [DeviceKind::Real, DeviceKind::StandIn, DeviceKind::Unknown] {
            let rung = if device == DeviceKind::Real { Rung::Launched } else { Rung::Selected };
            assert_eq!(kinds.iter().filter(|kind| **kind == (rung, device)).count(), 2, "{kinds:?}");
        }
    }

    #[test]
    fn what_was_launched_here_names_its_installation_and_on_a_real_device_the_card() {
        let text = |word: &str| Some(word.to_owned());
        let place =
            LaunchSite { runtime: text("ollama-rocm-60303"), target: text("gfx1201"), card: text("rx-9070-xt") };
        let mut account = account(DeviceKind::Real);
        let subject = |account: &ObserverReport, device: DeviceKind| {
            let scene = RecordContext { account, window: "test", model: None, place: place.clone(), time: TIME };
            let subject = scene.subject_on(device);
            (subject.runtime, subject.target, subject.gpu)
        };
        let all = (place.runtime.clone(), place.target.clone(), place.card.clone());
        assert_eq!(subject(&account, DeviceKind::Real), all);
        assert_eq!(subject(&account, DeviceKind::StandIn), (place.runtime.clone(), None, None));
        let (name, sha256) = ("run.csv".to_owned(), "ab".repeat(32));
        account.word = Word::File { name, sha256, maker: "rocprofv3", host: None };
        assert_eq!(subject(&account, DeviceKind::Real), (None, None, None), "another host's");
    }

    #[test]
    fn a_file_speaks_for_its_own_host() {
        let mut account = account(DeviceKind::Real);
        let (name, sha256) = ("run.csv".to_owned(), "ab".repeat(32));
        account.word = Word::File { name, sha256, maker: "rocprofv3", host: None };
        let scene =
            RecordContext { account: &account, window: "test", model: None, place: LaunchSite::default(), time: TIME };
        let subject = scene.subject();
        assert_eq!(subject.host.as_deref(), Some("an unknown host (run.csv abababababab)"));
        let scope = evidence::Scope::default();
        assert!(
            scope.differences(&subject).contains(&evidence::Part::Host),
            "a claim without a host is about this one"
        );
    }
}
