//! The ladder: the prompt lengths to send, their order, and the number of repetitions.

use super::client::Ended;
use super::client::Question;
use super::session::Session;
use crate::change::changes;
use crate::gather::SWEEP;
use say::{Message, say};
use sys::random::Seeded;

/// Both sides of every limit that some release has, and the lengths of the RX 9070 XT field notes.
pub const LADDER: &[u64] =
    &[1, 3, 7, 8, 9, 11, 12, 16, 17, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 290, 511, 512, 513, 600];

/// The values of `prompt_eval_count` in the RX 9070 XT field notes.
pub const NOTES: &[u64] = &[3, 11, 290];

/// The notes' decode-heavy case: a short prompt with many generated tokens.
const DECODE: (u64, u64) = (3, 16);

/// The requests to send.
#[derive(Debug, Clone)]
pub struct Plan {
    pub tokens: Vec<u64>,
    pub rounds: u64,
    /// The number of tokens to generate for each prompt.
    pub predict: u64,
    /// Also send the short prompt of the field notes with many generated tokens.
    pub decode: bool,
    /// The number of simultaneous requests.
    pub parallel: u64,
    /// Unload the model, load it with a prompt, and send it again, to measure a cold start. Ollama only.
    pub cold: bool,
    /// A sweep repeats until it can detect a step of 10 %, given the noise of its first round; at least `rounds` times.
    pub until_seen: bool,
}

/// The maximum number of rounds that a sweep chooses by itself.
const MOST_ROUNDS: u64 = 12;

impl Plan {
    /// The number of requests in the plan.
    pub fn questions(&self) -> u64 {
        let each = self.tokens.len() as u64 + u64::from(self.decode) + 2 * u64::from(self.cold);
        each * self.rounds + if self.parallel > 1 { self.parallel } else { 0 }
    }

    pub fn order(&self) -> Order {
        let seed = sys::random::secret().map_or(self.questions(), u64::from_ne_bytes);
        Order { tokens: self.tokens.clone(), random: Seeded::new(seed) }
    }
}

/// Each round has every length once, in a new order. Drift of the machine then affects all lengths equally, not only
/// neighbouring ones.
#[derive(Debug)]
pub struct Order {
    tokens: Vec<u64>,
    random: Seeded,
}

impl Order {
    pub fn round(&mut self) -> Vec<u64> {
        self.random.shuffle(&mut self.tokens);
        self.tokens.clone()
    }
}

/// Executes the plan. The session contains all requests up to an early end.
pub fn climb(session: &mut Session, plan: &mut Plan, progress: &mut dyn FnMut(&Message)) -> Result<(), Ended> {
    let no_cold = plan.cold && session.identity.kind.unload("").is_none();
    session.planned = plan.questions() - if no_cold { 2 * plan.rounds } else { 0 };
    if plan.cold {
        cold(session, plan, progress)?;
    }
    let mut order = plan.order();
    let mut round = 0;
    while round < plan.rounds {
        for tokens in order.round() {
            session.client.may()?;
            progress(&say!("probe-progress-round", tokens, round = round + 1, rounds = plan.rounds));
            session.exact(tokens, plan.predict, round)?;
        }
        if plan.decode {
            session.client.may()?;
            let (tokens, predict) = DECODE;
            let counted = tokens.saturating_sub(session.uncounted()).max(1);
            session.exact(counted, predict, round)?;
        }
        round += 1;
        if round == 1 && plan.tokens.len() >= SWEEP {
            foresee(session, plan, progress);
        }
    }
    if plan.parallel > 1 {
        session.client.may()?;
        progress(&say!("probe-progress-parallel", count = plan.parallel));
        together(session, plan.parallel)?;
    }
    Ok(())
}

/// Estimates from the noise of a sweep's first round how small a step the planned rounds can detect, and how many
/// rounds a step of 10 % needs.
fn foresee(session: &mut Session, plan: &mut Plan, progress: &mut dyn FnMut(&Message)) {
    let Some(power) = changes(&session.points()).1 else { return };
    let before = plan.rounds;
    if plan.until_seen {
        plan.rounds = power.runs_for_tenth.clamp(plan.rounds, MOST_ROUNDS);
        session.planned += (plan.rounds - before) * plan.tokens.len() as u64;
    }
    let smallest = power.smallest / (plan.rounds as f64).sqrt() * 100.0;
    let (rounds, needed) = (plan.rounds, power.runs_for_tenth);
    let smallest = format!("{smallest:.0}");
    progress(&say!("probe-progress-power", rounds, smallest, needed));
}

/// The notes' baseline: the model is unloaded, loaded by a prompt, and used again.
fn cold(session: &mut Session, plan: &Plan, progress: &mut dyn FnMut(&Message)) -> Result<(), Ended> {
    let Some(unload) = session.identity.kind.unload(session.identity.model.as_deref().unwrap_or_default()) else {
        session.leave_out("--cold", say!("probe-cold-only-ollama"));
        return Ok(());
    };
    for round in 0..plan.rounds {
        session.client.may()?;
        progress(&say!("probe-progress-cold", round = round + 1, rounds = plan.rounds));
        session.client.ask(&Question { name: "unload".into(), call: unload.clone(), asked: None })?;
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
        session.leave_out(&format!("--parallel {count}"), say!("probe-few-slots", slots));
    }
    session.client.ask_together(&questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_an_order_of_its_own_and_leaves_nothing_out() {
        let tokens: Vec<u64> = (1..=40).collect();
        let plan = Plan {
            tokens: tokens.clone(),
            rounds: 3,
            predict: 1,
            decode: true,
            parallel: 4,
            cold: true,
            until_seen: false,
        };
        assert_eq!(plan.questions(), 3 * 43 + 4);
        let mut order = plan.order();
        let rounds: Vec<Vec<u64>> = (0..3).map(|_| order.round()).collect();
        assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2]);
        for mut round in rounds {
            round.sort_unstable();
            assert_eq!(round, tokens);
        }
    }
}
