//! Examines a server: its identity, its statements, its process and machine, and its speed.

use super::args::Args;
use crate::asked::why::find::{Chosen, Wanted, choose};
use crate::asked::why::kernel_census;
use crate::asked::why::server_facts::{counters, facts, who};
use crate::context::Context;
use doctor::Host;
use probe::live::{Live, Session};
use say::{Message, Say as _, say};
use server::{Counters, Identity};
use std::time::Duration;
use why::{ANSWER, Answer, Asked, Facts, Now, PROMPT, RUNS};

/// The length of an answer that no server cuts off.
const SHORT: u64 = 16;

/// A server, all facts about it, and the answer.
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
        Looked::of(args, &host, &found, chosen, context)
    }

    /// A server that was chosen already.
    pub fn of(
        args: &Args,
        host: &Host,
        found: &doctor::Facts,
        chosen: Chosen,
        context: &Context,
    ) -> say::Result<Looked> {
        let identity = who(&chosen)?;
        // Read before our own requests, so that waiting requests are those of other clients.
        let counters = counters(&chosen);
        let measured = match args.passive || args.fix.is_some() || args.undo.is_some() {
            true => Err(say!("why-unmeasured-passive")),
            false => measure(&chosen, &identity, args, context),
        };
        // The first request loads a model: its runner, its log and its libraries are there only now.
        let found = if measured.is_ok() { &doctor::Facts::read(host) } else { found };
        let mut facts = facts(host, found, &chosen, &args.log, identity, counters.clone(), args.gpu.as_deref())?;
        kernel_census::count(&mut facts, context);
        let (now, asked, unmeasured) = match measured {
            Ok((now, asked)) => (now, Some(asked), None),
            Err(why) => ([None, None], None, Some(why)),
        };
        let answer = Answer { asked, ..Answer::of(&facts, now, unmeasured) };
        Ok(Looked { chosen, facts, answer, counters })
    }
}

/// Decode and prefill in tokens per second, or an error with the reason.
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
    // A short context has no space for the usual prompt.
    let room = identity.context.map_or(PROMPT, |tokens| tokens.saturating_sub(ANSWER + 16).max(1));
    let prompt = PROMPT.min(room);
    let mut session = Session::open(live, None).map_err(|error| error.message())?;
    session.planned = RUNS;
    // Ollama aborts if a model repeats itself too often (llm/server.go); then a shorter answer is requested.
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
    let now = [Now::of(&decode), Now::of(&prefill)];
    let reason = run.ended.map(|ended| ended.message());
    let reason = reason.or_else(|| run.answer.failed.first().map(|failure| failure.why.clone()));
    // If the phases have different numbers, the smaller one counts.
    let Some(answered) = now.iter().flatten().map(|now| now.runs).min() else {
        return Err(reason.unwrap_or_else(|| say!("why-run-none")));
    };
    let failed = reason.filter(|_| answered < RUNS);
    Ok((now, Asked { prompt, answer, requests: RUNS, answered, failed }))
}
