//! Lanes: the same ladder under different settings of one server, interleaved, with a test whether a difference is more
//! than chance.

mod compared;
mod difference;
mod lane;
mod serving;

pub use compared::{Compared, PathPair, Verdict, What};
pub use difference::{Difference, difference};
pub use lane::{Lane, LaneError};
pub use serving::Serving;

use crate::answer::Answer;
use crate::launches::Onlooker;
use crate::live::{Ended, Live, Plan, Run, Session};
use evidence::Conclusion;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The same questions to one server under several settings: both times of each length, whether they differ by more than
/// chance, and the paths and kernels that differ.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Lanes {
    pub lanes: Vec<Ran>,
    /// Every length in each other lane, compared with the first.
    pub lengths: Vec<Compared>,
    /// Whether the paths of the lanes are the same, as far as they are known, on the best rung that both have.
    pub paths: Conclusion,
    /// Why the run ended before its last question.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Message>,
}

impl answer::Answer for Lanes {
    const SCHEMA: &'static str = "whichkernel.probe-lanes/1";
}

/// A lane, and all answers of its server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ran {
    pub name: String,
    /// `NAME=VALUE`, as given.
    pub variables: Vec<String>,
    /// The command that was started.
    pub command: Vec<String>,
    /// Null if its server did not answer.
    pub answer: Option<Answer>,
}

/// Starts observing a server by its process; the error says why that is not possible.
pub type Eyes<'a> = dyn FnMut(u32) -> Result<Onlooker, Message> + 'a;

/// Starts a server for every lane, each at its own address, and asks all of them the same questions in turn.
pub fn compare(
    lanes: &[Lane],
    command: &[String],
    live: &Live,
    plan: &Plan,
    home: &Path,
    mut eyes: Option<&mut Eyes<'_>>,
    progress: &mut dyn FnMut(&Message),
) -> (Lanes, Vec<Run>) {
    let mut ran: Vec<Ran> = lanes
        .iter()
        .map(|lane| Ran { name: lane.name.clone(), variables: lane.words(), command: Vec::new(), answer: None })
        .collect();
    let (mut sessions, mut servers): (Vec<Session>, Vec<Serving>) = Default::default();
    let mut ended = None;
    for (lane, into) in lanes.iter().zip(&mut ran) {
        progress(&say!("probe-progress-start", name = lane.name));
        let opened = Serving::start(lane, command, live.at.key.clone(), home).and_then(|server| {
            into.command = server.command.clone();
            let mut live = live.clone();
            live.at = server.at.clone();
            live.logs.push(server.log.clone());
            live.pids = vec![server.pid()];
            live.command = server.command.clone();
            let mut missing = None;
            let onlooker = eyes.as_mut().and_then(|eyes| match eyes(server.pid()) {
                Ok(onlooker) => Some(onlooker),
                Err(why) => {
                    missing = Some(why);
                    None
                }
            });
            servers.push(server);
            let mut session = Session::open(live, onlooker)?;
            if let Some(why) = missing {
                session.leave_out("--watch", why);
            }
            Ok(session)
        });
        match opened {
            Ok(session) => sessions.push(session),
            Err(error) => {
                ended = Some(say!("about-why", what = lane.name, why = error));
                break;
            }
        }
    }
    if ended.is_none() {
        ended = asked(&mut sessions, lanes, plan, progress).err().map(|(what, why)| say!("about-why", what, why));
    }
    let finished = sessions.into_iter().map(|session| session.finish(ended.clone().map(Ended::Server)));
    let runs: Vec<Run> = finished.collect();
    drop(servers);
    for (into, run) in ran.iter_mut().zip(&runs) {
        into.answer = Some(run.answer.clone());
    }
    let probes: Vec<(&str, &[crate::answer::Probe])> =
        lanes.iter().zip(&runs).map(|(lane, run)| (lane.name.as_str(), run.every.as_slice())).collect();
    let lengths = compared::lengths(&probes);
    let paths = compared::paths_agree(&lengths, &probes, plan);
    (Lanes { lanes: ran, lengths, paths, ended }, runs)
}

/// Asks everything in turn: a round covers every length, and each length is sent to every lane before the next length.
/// Every other turn is reversed, so that drift and cache effects affect all lanes equally.
fn asked(
    sessions: &mut [Session],
    lanes: &[Lane],
    plan: &Plan,
    progress: &mut dyn FnMut(&Message),
) -> Result<(), (String, Ended)> {
    let name = |i: usize| lanes.get(i).map(|lane| lane.name.clone()).unwrap_or_default();
    for (i, session) in sessions.iter_mut().enumerate() {
        session.planned = plan.questions();
        session.prepare().map_err(|error| (name(i), error))?;
    }
    let (mut swap, mut order_of) = (false, plan.order());
    for round in 0..plan.rounds {
        let mut questions: Vec<(u64, u64)> =
            order_of.round().into_iter().map(|tokens| (tokens, plan.predict)).collect();
        if plan.decode {
            questions.push((3, 16));
        }
        for (tokens, predict) in questions {
            progress(&say!("probe-progress-round", tokens, round = round + 1, rounds = plan.rounds));
            let mut order: Vec<usize> = (0..sessions.len()).collect();
            if swap {
                order.reverse();
            }
            swap = !swap;
            for i in order {
                let Some(session) = sessions.get_mut(i) else { continue };
                session.client.may().map_err(|error| (name(i), error))?;
                session.exact(tokens, predict, round).map_err(|error| (name(i), error))?;
            }
        }
    }
    Ok(())
}
