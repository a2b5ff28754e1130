//! Looking at a server: who it is, what it says, what its process and machine show, and how fast it answers.

use super::Args;
use super::find::{Chosen, Wanted, choose};
use crate::context::Context;
use doctor::Host;
use probe::live::{Live, Session};
use say::{Message, Say as _, bail, say};
use server::claims::{Gatherer, of_log, tree};
use server::log_facts::Stage;
use server::{Counters, Identity, Kind, identify, llama_build};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use why::gather::{self, Told};
use why::{ANSWER, Answer, Asked, Facts, Now, PROMPT};

/// Requests that are sent.
const RUNS: u64 = 3;
/// An answer that no server cuts off.
const SHORT: u64 = 16;
/// Of a longer log only its beginning, where the load is.
const MOST_LOG: u64 = 64 << 20;

/// A server, everything that is known of it, and the answer.
pub struct Looked {
    pub chosen: Chosen,
    pub facts: Facts,
    pub answer: Answer,
    pub counters: Option<Counters>,
}

impl Looked {
    pub fn at(args: &Args, context: &Context) -> say::Result<Looked> {
        let host = Host::this();
        context.progress(&context.lang.text("summary-looking"));
        let found = doctor::Facts::read(&host);
        let named = args.url.is_some() || args.pid.is_some() || args.name.is_some();
        let wanted = Wanted { url: args.url.as_deref(), pid: args.pid, name: args.name.as_deref() };
        let chosen = choose(&found, &wanted, args.key.read(named)?)?;
        let identity = who(&chosen)?;
        // Read before anything of ours is evaluated: what waits is others' work.
        let counters = counters(&chosen);
        let measured = match args.passive || args.fix.is_some() {
            true => Err(say!("why-unmeasured-passive")),
            false => measure(&chosen, &identity, args, context),
        };
        // The first request loads a model: its runner, its log and its libraries are there only now.
        let found = doctor::Facts::read(&host);
        let facts = facts(&host, &found, &chosen, &args.log, identity, counters.clone(), args.gpu.as_deref())?;
        let (now, asked, unmeasured) = match measured {
            Ok((now, asked)) => (now, Some(asked), None),
            Err(why) => ([None, None], None, Some(why)),
        };
        let answer = Answer { asked, ..Answer::of(&facts, now, unmeasured) };
        Ok(Looked { chosen, facts, answer, counters })
    }
}

/// Without a request: for the command alone and the first lines of `investigate`.
pub fn passive(host: &Host, found: &doctor::Facts, chosen: &Chosen) -> say::Result<Facts> {
    facts(host, found, chosen, &[], who(chosen)?, counters(chosen), None)
}

fn who(chosen: &Chosen) -> say::Result<Identity> {
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

fn counters(chosen: &Chosen) -> Option<Counters> {
    let answer = chosen.at.get("/metrics").ok().filter(|answer| answer.status == 200)?;
    Some(Counters::read(&answer.body)).filter(|counters| counters.kind.is_some())
}

fn facts(
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
        Some(gpu) => gather::on_card(facts, super::named(gpu)?, Some(&told)),
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
    // Without a process of ours there is nobody whose command line could be read: no roots would mean our own children.
    let roots = if roots.is_empty() { vec![0] } else { roots };
    let gatherer = match Gatherer::new(roots, Some(chosen.at.clone()), logs) {
        Ok(gatherer) => gatherer,
        Err((what, why)) => bail!("about-why", what, why),
    };
    let mut claims = gatherer.finish();
    let mut texts: Vec<String> = logs.iter().filter_map(|path| text(path)).collect();
    for pid in family {
        texts.extend([1, 2].iter().filter_map(|fd| text(Path::new(&format!("/proc/{pid}/fd/{fd}")))));
    }
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

fn text(path: &Path) -> Option<String> {
    let bytes = sys::regular_file::start(path, MOST_LOG).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Decode and prefill in tokens per second; an error says why there is none.
fn measure(
    chosen: &Chosen,
    identity: &Identity,
    args: &Args,
    context: &Context,
) -> Result<([Option<Now>; 2], Asked), Message> {
    let url = chosen.at.to.url();
    let asking = say!("why-asking", url, runs = RUNS, prompt = PROMPT, answer = ANSWER);
    context.note(&context.lang.say(&asking));
    let live = Live {
        at: chosen.at.clone(),
        model: None,
        patience: Duration::from_secs(args.timeout),
        logs: Vec::new(),
        journal: None,
        pids: chosen.pid.into_iter().collect(),
        command: Vec::new(),
        wanted: probe::Wanted::default(),
    };
    // A short context has no room for the usual prompt.
    let room = identity.context.map_or(PROMPT, |tokens| tokens.saturating_sub(ANSWER + 16).max(1));
    let prompt = PROMPT.min(room);
    let mut session = Session::open(live, None).map_err(|error| error.message())?;
    session.planned = RUNS;
    // Ollama gives up where a model repeats itself too often (llm/server.go): then a shorter answer is asked for.
    let mut answer = ANSWER;
    let asked = session.prepare().and_then(|()| {
        let mut round = 0;
        while round < RUNS {
            context.progress(&format!("{} / {RUNS}", round + 1));
            let exchange = session.exact(prompt, answer, round)?;
            match server::counts::read(&exchange) {
                Err(_) if answer == ANSWER => answer = SHORT,
                _ => round += 1,
            }
        }
        Ok(())
    });
    let run = session.finish(asked.err());
    let asked = || run.every.iter().filter(|probe| probe.asked == Some(prompt));
    let decode: Vec<f64> = asked().filter_map(probe::Probe::decode_per_second).collect();
    let prefill: Vec<f64> = asked().filter_map(probe::Probe::prompt_per_second).collect();
    match ([Now::of(&decode), Now::of(&prefill)], run.ended, run.answer.failed.first()) {
        ([None, None], Some(ended), _) => Err(ended.message()),
        ([None, None], None, Some(failure)) => Err(failure.why.clone()),
        ([None, None], None, None) => Err(say!("why-run-none")),
        (now, ..) => Ok((now, Asked { prompt, answer })),
    }
}
