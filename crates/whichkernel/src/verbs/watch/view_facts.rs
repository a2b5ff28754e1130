//! Facts for the live view that take time to read: servers, models, limits, the code of a kernel. Read by threads, so
//! that the view never waits.

use crate::asked::why::server_facts::written;
use crate::asked::why::text::Screen;
use doctor::Host;
use findings::count::{census, parse_target};
use inventory::File;
use launch::NameFilter;
use live::Detail;
use observe::census::{By, Question, Select};
use report::Lang;
use say::{Message, Say as _, say};
use server::claims::{Claims, tree};
use server::log_facts::Stage;
use server::{Identity, Kind, Role, llama_build};
use std::collections::BTreeMap;
use std::path::PathBuf;
use watch::{Name, Row};
use why::gather::{self, Told};
use why::{Facts, Speed};

/// The width for which a limit lists its inputs.
const WIDE: usize = 120;

/// The known facts about one process.
#[derive(Debug, Clone, Default)]
pub struct About {
    pub name: String,
    pub model: Option<String>,
    pub limit: Option<f64>,
    pub inputs: String,
    pub context: Option<u64>,
    pub card: Option<String>,
    pub vram: Option<(u64, u64)>,
    /// `gfx1100`, from the card or from the process's log.
    target: Option<String>,
    /// Used to look up the rules for a type other than the model's.
    facts: Facts,
    build: Option<llama_build::Build>,
}

/// Reads the machine once, and each process.
pub fn read(pids: &[u32], claims: &Claims, lang: &Lang) -> BTreeMap<u32, About> {
    let host = Host::this();
    let found = doctor::Facts::read(&host);
    pids.iter().map(|pid| (*pid, about(*pid, &host, &found, claims, lang))).collect()
}

fn about(pid: u32, host: &Host, found: &doctor::Facts, claims: &Claims, lang: &Lang) -> About {
    let family = tree(vec![pid]);
    let mut log = Stage::default();
    written(&family).iter().flat_map(|text| text.lines()).for_each(|line| log.line(line));
    let role = found.servers.running.iter().find(|process| family.contains(&process.pid)).map(|process| process.role);
    // Without a request, Ollama's version is unknown, but the log names the build of its runner.
    let kind = match role {
        Some(Role::LlamaServer | Role::OllamaServer | Role::OllamaRunner) => Kind::LlamaServer,
        Some(Role::VllmServer | Role::VllmEngine) => Kind::Vllm,
        None => Kind::Unknown,
    };
    let identity = Identity { kind, ..Identity::default() };
    let build = llama_build::build(&identity, log.build);
    let device = log.device.clone();
    let told = Told { identity, claims: claims.clone(), log: Some(log), build: build.clone(), ..Told::default() };
    let facts = gather::with_server(host, found, &family, &told);
    let (limit, inputs) = limit(&facts, lang);
    let model = facts.model.as_ref().map(|model| match &model.file_type {
        Some(kind) if !model.name.contains(kind.as_str()) => format!("{} {kind}", model.name),
        _ => model.name.clone(),
    });
    let card = facts.used.and_then(|used| facts.cards.get(used));
    let named = device.as_deref().and_then(|name| gpu::limits(name).map(|limits| limits.target));
    About {
        name: role.map_or_else(|| comm(pid), |role| role.name().to_owned()),
        model,
        limit,
        inputs,
        context: facts.server.as_ref().and_then(|server| Some(server.context.as_ref()?.value)),
        card: card.map(|card| card.title.clone()),
        vram: card.and_then(|card| card.state.vram),
        target: card.and_then(|card| card.target.clone()).or(named).or(device.filter(|name| name.starts_with("gfx"))),
        facts,
        build,
    }
}

/// The decode limit and its inputs, or why there is none.
fn limit(facts: &Facts, lang: &Lang) -> (Option<f64>, String) {
    // If the server uses no card, the CPU's limit would be shown next to launches on a GPU.
    let no_card = || say!("why-missing-card");
    let speed: Option<Speed> =
        why::speed::speeds(facts, [None, None]).into_iter().next().filter(|_| facts.used.is_some());
    match speed {
        Some(speed) if speed.limit.is_some() => {
            let value = speed.limit.as_ref().map(|limit| limit.value);
            let by = Screen { lang, width: WIDE }.limit(&speed);
            let text = lang.say(&say!("live-inputs", limit = format!("{:.0}", value.unwrap_or(0.0)), by));
            (value, text)
        }
        other => {
            let why = other.and_then(|speed| speed.limit_missing).unwrap_or_else(no_card);
            (None, lang.say(&say!("live-no-limit", why)))
        }
    }
}

pub fn comm(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// Registers, matrix instructions and the rule of a kernel.
pub fn detail(row: &Row, pid: u32, about: Option<&About>, lang: &Lang) -> Detail {
    let label = |key: &str| lang.text(&format!("live-label-{key}"));
    let mut lines = Vec::new();
    match code(row, pid, about.and_then(|about| about.target.as_deref()), lang) {
        Ok((registers, matrix)) => {
            lines.push((label("registers"), lang.say(&registers)));
            lines.push((label("matrix"), lang.say(&matrix)));
        }
        Err(why) => lines.push((label("registers"), lang.say(&why))),
    }
    if row.path.is_some() {
        let rule = about.and_then(|about| rule(row, about)).unwrap_or_else(|| say!("live-rule-none"));
        lines.push((label("rule"), lang.say(&rule)));
    }
    Detail { lines }
}

fn code(row: &Row, pid: u32, target: Option<&str>, lang: &Lang) -> Result<(Message, Message), Message> {
    let Name::Kernel(mangled) = &row.name else { return Err(say!("live-code-no-file")) };
    if row.file.is_empty() {
        return Err(say!("live-code-no-file"));
    }
    let Some(target) = target else { return Err(say!("live-code-no-target")) };
    let unread = |why: Message| say!("live-code-unread", why);
    // The path is valid inside the process, which may have another root and other mounts.
    let reached = uprobe::mapped(pid, &row.file);
    let path = reached.as_ref().map_or_else(|| PathBuf::from(&row.file), uprobe::Reached::path);
    let file = File::open(&path).map_err(|why| unread(why.message()))?;
    let kernel = NameFilter::new(&format!("^{mangled}$")).map_err(|why| unread(why.message()))?;
    let spoken = |why: say::Error| unread(Message::verbatim(why.in_words(lang)));
    let wanted = parse_target(target).map_err(spoken)?;
    let select = Select { target: Some(wanted), kernel: Some(kernel) };
    let counted = census(&file, select, By::Kernel, (false, false), |_| Ok(()));
    let (groups, _) = counted.map_err(spoken)?;
    let of_bundle = |bundle: Option<usize>| row.bundle.is_none() || bundle == row.bundle.map(|bundle| bundle as usize);
    let found = groups.groups.iter().find(|(key, _)| key.kernel.as_deref() == Some(mangled) && of_bundle(key.bundle));
    let Some((key, group)) = found else { return Err(say!("live-code-absent", target)) };
    let number = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let facts = group.facts.clone().ok_or_else(|| say!("live-code-absent", target))?;
    let registers = say!(
        "live-registers",
        vgpr = number(facts.vgpr),
        sgpr = number(facts.sgpr),
        scratch = number(facts.scratch),
        lds = number(facts.lds),
    );
    let tally = group.sum.tally();
    let count = |question: &Question| tally.count(|mnemonic| question.matches(mnemonic));
    let (matrix, dot) = (count(&Question::Matrix), count(&Question::Family(isa::Family::Dot)));
    let (all, target) = (tally.instructions, key.target.clone());
    let matrix = match (group.stub, matrix) {
        (Some(stub), _) if stub.is_stub() => say!("live-matrix-stub", target),
        (_, 0) => say!("live-matrix-none", dot, all, target),
        (_, count) => say!("live-matrix", count, all, target),
    };
    Ok((registers, matrix))
}

/// The rule of the server's own release for the kernel's type and width.
fn rule(row: &Row, about: &About) -> Option<Message> {
    let (kind, columns, path) = (row.weights.clone()?, row.ne11?, row.path?);
    let server = about.facts.server.clone().filter(|server| server.kind == Kind::LlamaServer)?;
    let mut facts = about.facts.clone();
    facts.model.as_mut()?.main_type = Some(kind.clone());
    if facts.card().is_none() {
        facts.cards = vec![gather::named(gpu::limits(about.target.as_deref()?)?)];
        facts.used = Some(0);
    }
    let rules = gather::rules(&facts, &server, about.build.as_ref())?;
    let (from, to, expected) = rules.stretches.iter().find(|(from, to, _)| (*from..=*to).contains(&columns))?;
    let agrees = if *expected == path.to_string() { "yes" } else { "no" };
    let version = rules.version.clone();
    Some(say!("live-rule", from, to, kind, target = rules.target, path = expected, version, agrees))
}
