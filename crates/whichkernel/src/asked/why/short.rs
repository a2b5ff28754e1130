//! The verdict in a line or two, without a request: for the command without arguments and the first lines of
//! `investigate`.

use super::find::Chosen;
use super::server_facts::passive;
use super::text::{phase, rate};
use crate::context::Context;
use doctor::{Facts, Host};
use say::say;
use why::{Answer, Phase, gather};

/// Makes no request, so running servers are not disturbed.
pub fn verdict(host: &Host, found: &Facts, chosen: Option<&Chosen>) -> Answer {
    let facts = chosen.and_then(|chosen| passive(host, found, chosen).ok());
    let idle = facts.is_none();
    let facts = facts.unwrap_or_else(|| gather::machine(host, found));
    let mut answer = Answer::of(&facts, [None, None], Some(say!("why-unmeasured-passive")));
    if idle {
        answer.verdict.text = say!("why-first-idle");
        answer.next = Some("whichkernel why --model FILE".to_owned());
    } else {
        answer.next = Some("whichkernel why".to_owned());
    }
    answer
}

/// One line: the measured speed, or the bound, or that both are unknown.
pub fn speed(answer: &Answer, context: &Context) -> String {
    let lang = &context.lang;
    let Some(decode) = answer.phase(Phase::Decode) else { return lang.text("why-first-speed-none") };
    let name = phase(lang, Phase::Decode);
    lang.say(&match (decode.now, &decode.limit) {
        (Some(now), Some(limit)) => {
            let share = format!("{:.0}", decode.share.unwrap_or(0.0) * 100.0);
            say!("why-first-speed-one", phase = name, now = rate(now.median), limit = rate(limit.value), share)
        }
        (Some(now), None) => say!("why-first-speed-only", phase = name, now = rate(now.median)),
        (None, Some(limit)) => say!("why-first-speed-limit", phase = name, limit = rate(limit.value)),
        (None, None) => say!("why-first-speed-none"),
    })
}
