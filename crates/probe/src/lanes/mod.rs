//! Lanes: the same ladder under different settings of one server, interleaved, and whether the difference is more than chance.
//!
//! Every process has its own speed, which depends on where its memory is, which cores it runs on, and what the machine
//! did when it started. Requests to one process are therefore not independent, so a lane is a list of starts, and every
//! start counts once.

mod compared;
mod difference;
mod lane;
mod serving;
mod starts;

pub use compared::{Compared, PathPair, Verdict, What, verdicts};
pub use difference::{Difference, Noise, STRIKING, compared as processes, difference};
pub use lane::{Lane, LaneError};
pub use serving::{Children, Served, Starter, free_port};
pub use starts::{Start, Starts, Times};

use crate::answer::{Answer, Probe};
use crate::launches::Onlooker;
use crate::live::{Ended, Live, Plan, Run, Session};
use evidence::Conclusion;
use say::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;

/// The results of the same requests to one server under several settings: the times for each length, whether they
/// differ by more than chance, and the paths and kernels that differ.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Lanes {
    pub lanes: Vec<Ran>,
    /// Every length in each other lane, compared with the first.
    pub lengths: Vec<Compared>,
    /// How often each lane's server was started: each start is one measurement.
    pub starts: u64,
    /// How many starts a difference of 10 % needs, by the noise of the first ones; null if it was not estimated.
    pub starts_for_tenth: Option<u64>,
    /// Whether the paths of the lanes are the same, as far as they are known, on the best rung that both have.
    pub paths: Conclusion,
    /// Why the run ended before its last request.
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
    /// The answer of the lane's first start, with the failed requests of all starts. Null if its server did not answer.
    pub answer: Option<Answer>,
    /// Every start in order, with every time.
    pub starts: Vec<Start>,
}

/// Starts observing a server by its process; the error gives the reason.
pub type Eyes<'a> = dyn FnMut(u32) -> Result<Onlooker, Message> + 'a;

/// Reports of a comparison while it runs.
#[derive(Debug)]
pub enum Told {
    /// The current step, which the next one replaces.
    Progress(Message),
    /// A message that stays on the screen.
    Note(Message),
}

/// A comparison to run.
#[derive(Debug)]
pub struct Trial<'a> {
    pub lanes: &'a [Lane],
    pub starter: &'a dyn Starter,
    pub live: &'a Live,
    /// The plan of one start, including its rounds.
    pub plan: &'a Plan,
    pub starts: Starts,
}

impl Trial<'_> {
    /// Starts one server at a time, each at its own address: every lane once in a round, in reversed order every other round, so that drift
    /// of the machine affects all lanes equally. The runs are those of each lane.
    pub fn run(&self, mut eyes: Option<&mut Eyes<'_>>, tell: &mut dyn FnMut(Told)) -> (Lanes, Vec<Vec<Run>>) {
        let mut ran: Vec<Ran> = self.lanes.iter().map(Ran::of).collect();
        let mut runs: Vec<Vec<Run>> = self.lanes.iter().map(|_| Vec::new()).collect();
        let (mut round, mut planned, mut needed, mut ended) = (0, self.starts.least, None, None);
        'rounds: while round < planned {
            let mut order: Vec<usize> = (0..self.lanes.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let (Some(lane), Some(into), Some(list)) = (self.lanes.get(at), ran.get_mut(at), runs.get_mut(at))
                else {
                    continue;
                };
                let (name, round) = (&lane.name, round + 1);
                tell(Told::Progress(say!("probe-lane-start", name, round, rounds = planned)));
                let early = match self.start(lane, into, &mut eyes) {
                    Ok(run) => {
                        let early = run.ended.as_ref().map(say::Say::message);
                        into.add(&run, round);
                        list.push(run);
                        early
                    }
                    Err(error) => Some(say::Say::message(&error)),
                };
                if let Some(why) = early {
                    ended = Some(say!("about-why", what = name, why));
                    break 'rounds;
                }
            }
            round += 1;
            if round == self.starts.least {
                (needed, planned) = self.starts.planned(self.lengths(&runs).iter().map(|one| &one.noise));
                if let Some(needed) = needed.filter(|needed| *needed > self.starts.least) {
                    tell(Told::Note(say!("probe-lanes-needed", done = round, needed, planned)));
                }
            }
        }
        let lengths = self.lengths(&runs);
        let probes = by_start(&runs);
        let named: Vec<(&str, &[Vec<&Probe>])> = self.named(&probes);
        let paths = compared::paths_agree(&lengths, &named, self.plan);
        let answer = Lanes { lanes: ran, lengths, starts: round, starts_for_tenth: needed, paths, ended };
        (answer, runs)
    }

    fn lengths(&self, runs: &[Vec<Run>]) -> Vec<Compared> {
        compared::lengths(&self.named(&by_start(runs)))
    }

    fn named<'p>(&self, probes: &'p [Vec<Vec<&'p Probe>>]) -> Vec<(&str, &'p [Vec<&'p Probe>])> {
        self.lanes.iter().zip(probes).map(|(lane, starts)| (lane.name.as_str(), starts.as_slice())).collect()
    }

    /// Runs one server from its start to its end. Fails if no request could be sent.
    fn start(&self, lane: &Lane, into: &mut Ran, eyes: &mut Option<&mut Eyes<'_>>) -> Result<Run, Ended> {
        let server = self.starter.start(lane)?;
        into.command = server.command().to_vec();
        let mut live = self.live.clone();
        live.at = server.at().clone();
        live.logs.extend(server.log().map(std::path::Path::to_path_buf));
        live.pids = vec![server.pid()];
        live.command.clone_from(&into.command);
        let (onlooker, blind) = match eyes.as_mut().map(|eyes| eyes(server.pid())) {
            Some(Ok(onlooker)) => (Some(onlooker), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let mut session = Session::open(live, onlooker)?;
        if let Some(why) = blind {
            session.leave_out("--watch", why);
        }
        let ended = asked(&mut session, self.plan).err();
        Ok(session.finish(ended))
    }
}

/// Sends requests of every length in a new order, as often as the plan states.
fn asked(session: &mut Session, plan: &Plan) -> Result<(), Ended> {
    session.planned = plan.questions();
    session.prepare()?;
    let mut order = plan.order();
    for round in 0..plan.rounds {
        let mut questions: Vec<(u64, u64)> = order.round().into_iter().map(|tokens| (tokens, plan.predict)).collect();
        if plan.decode {
            questions.push((3, 16));
        }
        for (tokens, predict) in questions {
            session.client.may()?;
            session.exact(tokens, predict, round)?;
        }
    }
    Ok(())
}

fn by_start(runs: &[Vec<Run>]) -> Vec<Vec<Vec<&Probe>>> {
    runs.iter().map(|lane| lane.iter().map(|run| run.every.iter().collect()).collect()).collect()
}

impl Ran {
    fn of(lane: &Lane) -> Ran {
        let (name, variables) = (lane.name.clone(), lane.words());
        Ran { name, variables, command: Vec::new(), answer: None, starts: Vec::new() }
    }

    fn add(&mut self, run: &Run, round: u64) {
        match &mut self.answer {
            Some(answer) => answer.failed.extend(run.answer.failed.iter().cloned()),
            None => self.answer = Some(run.answer.clone()),
        }
        self.starts.push(Start { round, times: compared::times_of(&run.every) });
    }
}
