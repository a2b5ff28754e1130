//! The ladder: which lengths are asked, in which order, and how often.

use super::client::{Client, Ended};
use super::prompts::Prompts;
use crate::counts;
use crate::exchange::Exchange;
use crate::server::{Identity, Kind};

/// Both sides of every limit that some release has, and the lengths of the RX 9070 XT field notes.
pub const LADDER: &[u64] =
    &[1, 3, 7, 8, 9, 11, 12, 16, 17, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 290, 511, 512, 513, 600];

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

/// Goes through the plan. What was asked until the end is in the client.
pub fn climb(
    client: &mut Client,
    identity: &Identity,
    begins: Option<bool>,
    prompts: &mut Prompts,
    plan: &Plan,
    progress: &mut dyn FnMut(&str),
) -> Result<(), Ended> {
    if plan.cold && identity.kind == Kind::Ollama {
        for round in 0..plan.rounds {
            client.may()?;
            progress("cold start");
            let model = identity.model.clone().unwrap_or_default();
            client.ask(&super::unload(&model))?;
            let mut question = prompts.question(identity, &format!("cold#{round}"), 11, 16);
            question.asked = None;
            client.ask(&question)?;
            let mut question = prompts.question(identity, &format!("hot#{round}"), 11, 16);
            question.asked = None;
            client.ask(&question)?;
        }
    }
    for round in 0..plan.rounds {
        // Interleaved: a drift of the machine meets every length alike. Each round begins elsewhere.
        let count = plan.tokens.len().max(1);
        for i in 0..plan.tokens.len() {
            client.may()?;
            let place = (i + usize::try_from(round).unwrap_or(0)) % count;
            let Some(&tokens) = plan.tokens.get(if round == 0 { i } else { place }) else { continue };
            progress(&format!("{tokens} tokens, round {} of {}", round + 1, plan.rounds));
            exact(client, identity, begins, prompts, tokens, plan.predict, round)?;
        }
    }
    if plan.decode {
        client.may()?;
        exact(client, identity, begins, prompts, 3, 16, 0)?;
    }
    if plan.parallel > 1 {
        client.may()?;
        let questions: Vec<_> = (0..plan.parallel)
            .map(|i| {
                let mut question = prompts.question(identity, &format!("parallel{}#{i}", plan.parallel), 4, 16);
                question.asked = None;
                question
            })
            .collect();
        client.ask_together(&questions)?;
    }
    Ok(())
}

/// So many attempts to hit a length; what was counted corrects the next.
const ATTEMPTS: u32 = 3;

/// One prompt of which exactly `tokens` are evaluated.
fn exact(
    client: &mut Client,
    identity: &Identity,
    begins: Option<bool>,
    prompts: &mut Prompts,
    tokens: u64,
    predict: u64,
    round: u64,
) -> Result<Exchange, Ended> {
    // A begin-of-text token is in the cache after the first request: it is counted and not evaluated.
    let begins = begins.unwrap_or(prompts.extra() == 1);
    let reused = u64::from(identity.kind == Kind::Ollama && begins);
    let wanted = tokens + reused;
    let name = if predict > 1 { format!("{tokens}+{predict}#{round}") } else { format!("{tokens}#{round}") };
    for attempt in 1.. {
        let mut question = prompts.question(identity, &name, wanted, predict);
        question.asked = Some(tokens);
        let exchange = client.ask(&question)?;
        let reported = counts::read(&exchange).ok().and_then(|counts| counts.reported);
        match reported {
            Some(reported) if reported != wanted && attempt < ATTEMPTS && reported > 1 => {
                prompts.correct(wanted, reported);
                // It was a step to the right length, no probe of one.
                if let Some(last) = client.exchanges.last_mut() {
                    last.name = format!("calibrate-{}", last.name);
                    last.asked = None;
                }
            }
            _ => return Ok(exchange),
        }
    }
    Err(Ended::TooMany)
}
