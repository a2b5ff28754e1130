//! All facts about a chosen server that need no request for tokens.

use super::find::Chosen;
use doctor::Host;
use say::{bail, say};
use server::claims::{Gatherer, of_log, tree};
use server::log_facts::Stage;
use server::{Counters, Identity, Kind, identify, llama_build};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use why::Facts;
use why::gather::{self, Told};

/// The maximum number of bytes read of a log: its beginning contains the load.
const MOST_LOG: u64 = 64 << 20;

/// Makes no request: for the command without arguments and the first lines of `investigate`.
pub fn passive(host: &Host, found: &doctor::Facts, chosen: &Chosen) -> say::Result<Facts> {
    facts(host, found, chosen, &[], who(chosen)?, counters(chosen), None)
}

pub fn who(chosen: &Chosen) -> say::Result<Identity> {
    let who = match identify(&mut &chosen.at) {
        Ok(who) => who,
        Err(why) => bail!("why-no-answer", url = chosen.at.to.url(), why),
    };
    if who.wants_key() {
        return Err(who.locked(&chosen.at).into());
    }
    if who.identity.kind == Kind::Unknown {
        return Err(who.stranger(&chosen.at).into());
    }
    Ok(who.identity)
}

pub fn counters(chosen: &Chosen) -> Option<Counters> {
    let answer = chosen.at.get("/metrics").ok().filter(|answer| answer.status == 200)?;
    Some(Counters::read(&answer.body)).filter(|counters| counters.kind.is_some())
}

pub fn facts(
    host: &Host,
    found: &doctor::Facts,
    chosen: &Chosen,
    logs: &[PathBuf],
    identity: Identity,
    counters: Option<Counters>,
    gpu: Option<&str>,
) -> say::Result<Facts> {
    let family = chosen.pid.map(|pid| tree(vec![pid])).unwrap_or_default();
    let told = told(host, chosen, logs, &family, identity, counters)?;
    let facts = gather::with_server(host, found, &family, &told);
    Ok(match gpu {
        Some(gpu) => gather::on_card(facts, named(gpu)?, Some(&told)),
        None => facts,
    })
}

fn told(
    host: &Host,
    chosen: &Chosen,
    logs: &[PathBuf],
    family: &BTreeSet<u32>,
    identity: Identity,
    counters: Option<Counters>,
) -> say::Result<Told> {
    let roots: Vec<u32> = chosen.pid.into_iter().collect();
    // Without a process on this machine there is no command line to read. An empty list would mean our own children.
    let roots = if roots.is_empty() { vec![0] } else { roots };
    let gatherer = match Gatherer::new(roots, Some(chosen.at.clone()), logs) {
        Ok(gatherer) => gatherer,
        Err((what, why)) => bail!("about-why", what, why),
    };
    let mut claims = gatherer.finish();
    let mut texts: Vec<String> = logs.iter().filter_map(|path| text(path)).collect();
    texts.extend(written(family));
    let unit = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    if family.iter().any(|pid| unit(pid).contains("/ollama.service"))
        && let Some(journal) = doctor::ollama_journal(host)
    {
        of_log("journalctl -u ollama", &journal, &mut claims);
        texts.push(journal);
    }
    let mut log = Stage::default();
    texts.iter().flat_map(|text| text.lines()).for_each(|line| log.line(line));
    let build = llama_build::build(&identity, log.build);
    let (log, url) = ((!texts.is_empty()).then_some(log), Some(chosen.at.to.url()));
    Ok(Told { identity, claims, log, counters, build, url })
}

/// The logs that these processes write to files.
pub fn written(family: &BTreeSet<u32>) -> Vec<String> {
    let files = family.iter().flat_map(|pid| [1, 2].map(|fd| format!("/proc/{pid}/fd/{fd}")));
    files.filter_map(|file| text(Path::new(&file))).collect()
}

fn text(path: &Path) -> Option<String> {
    let bytes = sys::regular_file::start(path, MOST_LOG).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A card from its profile; the error for an unknown name suggests the nearest.
pub fn named(gpu: &str) -> say::Result<why::Card> {
    // A card's name without its series: `4090`.
    let number = gpu.bytes().all(|byte| byte.is_ascii_digit()) && gpu.len() > 3;
    let series = ["rtx-", "gtx-"].iter().filter(|_| number).find_map(|series| gpu::limits(&format!("{series}{gpu}")));
    match gpu::limits(gpu).or(series) {
        Some(limits) => Ok(gather::named(limits)),
        None => Err(gpu::find(gpu).err().map_or_else(|| say!("why-missing-card").into(), say::Error::from)),
    }
}
