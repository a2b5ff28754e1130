//! The ladder: which lengths are asked, in which order, and how often.

use super::client::Ended;
use super::session::{Session, unload};
use crate::server::Kind;

/// Both sides of every limit that some release has, and the lengths of the RX 9070 XT field notes.
pub const LADDER: &[u64] =
    &[1, 3, 7, 8, 9, 11, 12, 16, 17, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 290, 511, 512, 513, 600];

/// What `prompt_eval_count` was in the RX 9070 XT field notes.
pub const NOTES: &[u64] = &[3, 11, 290];

/// The notes' decode-heavy case: a short prompt and so many tokens back.
const DECODE: (u64, u64) = (3, 16);

/// What to ask.
#[derive(Debug, Clone)]
pub struct Plan {
    pub tokens: Vec<u64>,
    pub rounds: u64,
    /// Tokens wanted back from each.
    pub predict: u64,
    /// A short prompt with many tokens back, as the field notes had it.
    pub decode: bool,
    /// So many requests at the same time.
    pub parallel: u64,
    /// Unload the model, load it with a prompt, and ask again: how long a cold start takes. Ollama only.
    pub cold: bool,
}

/// Goes through the plan. What was asked until the end is in the session.
pub fn climb(session: &mut Session, plan: &Plan, progress: &mut dyn FnMut(&str)) -> Result<(), Ended> {
    if plan.cold {
        cold(session, plan, progress)?;
    }
    for round in 0..plan.rounds {
        for tokens in turn(&plan.tokens, round) {
            session.client.may()?;
            progress(&format!("{tokens} tokens, round {} of {}", round + 1, plan.rounds));
            session.exact(tokens, plan.predict, round)?;
        }
        if plan.decode {
            session.client.may()?;
            let (tokens, predict) = DECODE;
            let counted = tokens.saturating_sub(session.uncounted()).max(1);
            session.exact(counted, predict, round)?;
        }
    }
    if plan.parallel > 1 {
        session.client.may()?;
        progress(&format!("{} at the same time", plan.parallel));
        together(session, plan.parallel)?;
    }
    Ok(())
}

/// Interleaved: a drift of the machine meets every length alike. Each round begins elsewhere.
pub fn turn(tokens: &[u64], round: u64) -> Vec<u64> {
    let start = usize::try_from(round).unwrap_or(0).checked_rem(tokens.len()).unwrap_or(0);
    tokens.iter().cycle().skip(start).take(tokens.len()).copied().collect()
}

/// The notes' baseline: the model is given up, loaded by a prompt, and asked again.
fn cold(session: &mut Session, plan: &Plan, progress: &mut dyn FnMut(&str)) -> Result<(), Ended> {
    if session.identity.kind != Kind::Ollama {
        session.leave_out("--cold", "only Ollama gives a model up on request; this server keeps its own until it ends");
        return Ok(());
    }
    let model = session.identity.model.clone().unwrap_or_default();
    for round in 0..plan.rounds {
        session.client.may()?;
        progress(&format!("cold start, round {} of {}", round + 1, plan.rounds));
        session.client.ask(&unload(&model))?;
        for run in ["cold", "hot"] {
            let question = session.question(&format!("{run}#{round}"), 11, 16)?;
            session.client.ask(&question)?;
        }
    }
    Ok(())
}

fn together(session: &mut Session, count: u64) -> Result<(), Ended> {
    let names = (0..count).map(|i| format!("parallel{count}#{i}"));
    let questions = names.map(|name| session.question(&name, 4, 16)).collect::<Result<Vec<_>, _>>()?;
    if let Some(slots) = session.identity.slots.filter(|slots| *slots < count) {
        let why = format!("the server evaluates {slots} requests side by side; the others waited for a slot");
        session.leave_out(&format!("--parallel {count}"), why);
    }
    session.client.ask_together(&questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_begins_elsewhere_and_leaves_nothing_out() {
        assert_eq!(turn(&[1, 8, 9], 0), [1, 8, 9]);
        assert_eq!(turn(&[1, 8, 9], 4), [8, 9, 1]);
        assert_eq!(turn(&[], 4), [] as [u64; 0]);
    }
}
