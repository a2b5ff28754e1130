//! From a recording, or from exchanges that just happened, to the answer.

use crate::answer::{Answer, Fact, Failure, Probe, SCHEMA, Server};
use crate::model::Mix;
use crate::read::Reader;
use crate::release;
use crate::replay::Recording;
use crate::server::{Identity, Kind};
use crate::stage::Stage;
use crate::zone::Rules;
use evidence::{Basis, Conclusion, LeftOutWhy, Rung, Unit};
use source::Device;
use watch::claims::{Claims, Meaning, of_log};

/// What the user decided.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A GPU whose rules are asked, whatever the server says.
    pub device: Option<Device>,
    /// A model file that was named, or found where the server says it is.
    pub model: Option<Mix>,
    pub url: Option<String>,
}

/// Everything, computed anew from what was asked and answered.
pub fn answer(recording: &Recording, wanted: &Wanted, more: Claims) -> Answer {
    let mut identity = Identity::default();
    recording.exchanges.iter().for_each(|exchange| identity.hear(exchange));
    let (mut stage, mut claims) = (Stage::default(), more);
    for (name, text) in &recording.logs {
        text.lines().for_each(|line| stage.line(line));
        of_log(name, text, &mut claims);
    }
    // A first look at what the requests' own lines say of the load.
    let mut whole = stage.clone();
    for exchange in recording.exchanges.iter().filter(|exchange| !exchange.log.is_empty()) {
        exchange.log.lines().for_each(|line| whole.line(line));
        if claims.list.is_empty() {
            of_log(&exchange.name, &exchange.log, &mut claims);
        }
    }
    let backend = backend(&claims, &whole);
    let mix = mix(recording, wanted, &whole);
    let device = wanted.device.clone().or_else(|| device(&claims, &whole));
    let build = release::build(&identity, whole.build);
    let tables = build.as_ref().map(|build| release::tables(&identity, build));
    let why = match (&device, &build, backend.as_deref()) {
        (None, _, Some("cpu")) => "cpu",
        (None, ..) => "no-gpu",
        (_, None, _) => "no-version",
        _ => "no-table",
    };
    let names =
        tables.iter().flat_map(|tables| &tables.list).map(|table| format!("{} {}", table.source, table.version));
    let rules_asked: Vec<String> = names.collect();
    let (exact, older) = tables.as_ref().map_or((false, false), |tables| (tables.exact, tables.beyond));
    let rules = Rules::new(device.as_ref().map(|device| device.target.clone()), tables, why);
    let mut reader = Reader::new(identity, mix, rules);
    recording.logs.iter().for_each(|(_, text)| reader.log(text));
    let (mut probes, mut failed) = (Vec::new(), Vec::new());
    for exchange in &recording.exchanges {
        match reader.take(exchange) {
            Some(Ok(probe)) => probes.push(probe),
            Some(Err(failure)) => failed.push(failure),
            None => {}
        }
    }
    let identity = reader.identity;
    let mut types = std::collections::BTreeMap::new();
    for ((kind, _), count) in &reader.mix.counts {
        *types.entry(kind.clone()).or_insert(0) += count;
    }
    let facts = claims.list.iter().map(|claim| Fact {
        field: claim.meaning.key(),
        said: claim.said.clone(),
        place: claim.origin.to_string(),
    });
    let server = Server {
        kind: identity.kind.name(),
        version: identity.version,
        model: identity.model,
        url: wanted.url.clone(),
        build: build.as_ref().map(|build| build.number),
        build_from: build.map(|build| build.from),
        rules: rules_asked,
        rules_exact: exact,
        rules_older: older,
        target: device.as_ref().map(|device| device.target.clone()),
        card: device.and_then(|device| device.card),
        backend,
        context: identity.context.or(whole.context),
        slots: identity.slots.or(whole.slots),
        facts: facts.collect(),
        types_from: (!types.is_empty()).then_some(reader.mix.from),
        types: types.into_iter().collect(),
    };
    let counted = counted(&probes, &failed);
    Answer { schema: SCHEMA, server, probes, counted, failed }
}

/// Whether what is listed is all that was asked, with its true count.
fn counted(probes: &[Probe], failed: &[Failure]) -> Conclusion {
    let known = probes.iter().filter(|probe| probe.evaluated.is_some()).count() as u64;
    let mut basis = Basis::new(Rung::Loaded, Unit::Probes, known, known).by("probe");
    for failure in failed {
        basis = basis.without(&failure.name, Some(1), LeftOutWhy::Failed);
    }
    for probe in probes.iter().filter(|probe| probe.evaluated.is_none()) {
        basis = basis.without(&probe.name, Some(1), LeftOutWhy::Undetermined);
    }
    basis.completeness()
}

/// What computes, as the server says. Silence is not the CPU.
fn backend(claims: &Claims, stage: &Stage) -> Option<String> {
    let mut said = None;
    for claim in &claims.list {
        match &claim.meaning {
            Meaning::Backend { library, .. } => said = Some(library.to_ascii_lowercase()),
            Meaning::Layers { gpu: 0, .. } | Meaning::Share { vram: 0, .. } => said = said.or(Some("cpu".to_owned())),
            _ => {}
        }
    }
    said.or_else(|| stage.no_gpu.then(|| "cpu".to_owned()))
}

/// A GPU that the server names: by target, or by the title that its driver gives it.
fn device(claims: &Claims, stage: &Stage) -> Option<Device> {
    let named = claims.list.iter().filter_map(|claim| match &claim.meaning {
        Meaning::Backend { device, library } if !library.eq_ignore_ascii_case("cpu") && !device.is_empty() => {
            Some(device.as_str())
        }
        _ => None,
    });
    let mut names = stage.device.as_deref().into_iter().chain(named);
    names.find_map(|name| {
        let card = gpu::all().iter().find(|card| card.title.eq_ignore_ascii_case(name));
        let capability = name.split_once('.').map(|(major, minor)| format!("sm_{major}{minor}"));
        Device::find(name).ok().or_else(|| Device::find(&card?.name).ok()).or_else(|| Device::find(&capability?).ok())
    })
}

fn mix(recording: &Recording, wanted: &Wanted, stage: &Stage) -> Mix {
    let shown = || {
        let shows =
            recording.exchanges.iter().filter(|exchange| exchange.route() == "/api/show" && exchange.status == 200);
        shows.filter_map(|exchange| Mix::from_show(&exchange.json()?)).next()
    };
    wanted.model.clone().or_else(shown).or_else(|| Mix::from_log(&stage.types)).unwrap_or_default()
}

/// Whether the server is one whose counts are understood.
pub fn understood(kind: &str) -> bool {
    kind != Kind::Unknown.name()
}
