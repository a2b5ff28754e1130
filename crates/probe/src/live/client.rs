//! Asking a server: every question bounded in time and size, every answer kept as it came, and Ctrl-C heard in between.

use crate::exchange::Exchange;
use crate::launches::Onlooker;
use say::{Message, Say, say};
use server::{Ask, Call, Endpoint, NoModel, Request, counts};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use sys::http::{self, HttpError};

/// No run asks more often than this.
const MOST_REQUESTS: usize = 20_000;
/// A question that needs no model.
const SOON: Duration = Duration::from_secs(10);
/// How often a busy server is asked again, and how long in between.
const AGAIN: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// How long the observer may look at a time.
const LOOK: Duration = Duration::from_millis(20);

/// Why a run ended before its last question.
#[derive(Debug)]
pub enum Ended {
    Http(HttpError),
    Interrupted,
    Busy { status: u16, times: u32, said: String },
    NoModel(NoModel),
    Server(Message),
    TooMany,
}

say::worded! { Ended {
    Http(error) => error,
    Interrupted => "probe-interrupted",
    Busy { status, times, said } => "probe-busy",
    NoModel(error) => error,
    Server(why) => why,
    TooMany => "probe-too-many" (most = MOST_REQUESTS),
}}

say::wraps! { Ended { Http(HttpError), NoModel(NoModel) }}

#[derive(Debug)]
pub struct Client {
    at: Endpoint,
    /// For a question that evaluates something: the model may have to be loaded for it.
    patience: Duration,
    /// Everything that was asked and answered, in order.
    pub exchanges: Vec<Exchange>,
    /// Who looks on at what the server launches.
    pub onlooker: Option<Onlooker>,
    /// Why it stopped looking before the end.
    pub blinded: Option<Message>,
}

/// One question to send.
#[derive(Debug, Clone)]
pub struct Question {
    pub name: String,
    pub call: Call,
    pub asked: Option<u64>,
}

impl Client {
    pub fn new(mut at: Endpoint, patience: Duration) -> Client {
        at.soon = SOON;
        Client { at, patience, exchanges: Vec::new(), onlooker: None, blinded: None }
    }

    /// A question that evaluates a prompt. A busy server is asked again, a few times.
    pub fn ask(&mut self, question: &Question) -> Result<Exchange, Ended> {
        for times in 1.. {
            let (at, call, patience) = (self.at.clone(), question.call.clone(), self.patience);
            self.looking(|onlooker| onlooker.begin());
            let started = Instant::now();
            let answer = self.waited(move || at.post(call.path, &call.body, patience))?;
            let busy = matches!(answer.status, 429 | 503);
            let status = answer.status;
            let mut kept = self.kept(question, answer, started, 0);
            kept.launches = self.looking(|onlooker| onlooker.since());
            if let Some(last) = self.exchanges.last_mut() {
                last.launches = kept.launches.clone();
            }
            if !busy {
                return Ok(kept);
            }
            if times >= AGAIN {
                return Err(Ended::Busy { status, times, said: counts::said(&kept.answer) });
            }
            pause()?;
        }
        Err(Ended::TooMany)
    }

    /// Several at the same time, answered together.
    pub fn ask_together(&mut self, questions: &[Question]) -> Result<(), Ended> {
        self.looking(|onlooker| onlooker.begin());
        let started = Instant::now();
        let workers: Vec<_> = questions
            .iter()
            .map(|question| {
                let (at, call, patience) = (self.at.clone(), question.call.clone(), self.patience);
                std::thread::spawn(move || at.post(call.path, &call.body, patience))
            })
            .collect();
        let beside = questions.len().saturating_sub(1) as u64;
        let mut ended = None;
        for (question, worker) in questions.iter().zip(workers) {
            while self.onlooker.is_some() && !worker.is_finished() {
                self.looking(|onlooker| onlooker.look(LOOK));
            }
            // One that got no answer costs its own row, not those of the others.
            let answer = match worker.join() {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => {
                    ended = ended.or(Some(Ended::Http(error)));
                    continue;
                }
                Err(_) => return Err(Ended::Server(say!("probe-request-lost"))),
            };
            self.kept(question, answer, started, beside);
        }
        // They were evaluated together: what was launched belongs to all of them, and is told once.
        let launches = self.looking(|onlooker| onlooker.since());
        if let Some(last) = self.exchanges.last_mut() {
            last.launches = launches;
        }
        if let Some(ended) = ended {
            return Err(ended);
        }
        if sys::interrupt::asked() { Err(Ended::Interrupted) } else { Ok(()) }
    }

    fn kept(&mut self, question: &Question, answer: http::Answer, started: Instant, beside: u64) -> Exchange {
        let Question { name, call, asked } = question.clone();
        let said = server::Exchange::of("POST", call.path, Request::Json(call.body), answer);
        let said = server::Exchange { name, asked, beside, ..said };
        self.keep(said, started)
    }

    fn keep(&mut self, mut said: server::Exchange, started: Instant) -> Exchange {
        said.wall_ms = Some(started.elapsed().as_secs_f64() * 1e3);
        self.exchanges.push(said.clone().into());
        said.into()
    }

    /// The answer, or the end after Ctrl-C: the request is left to its own deadline.
    fn waited(
        &mut self,
        ask: impl FnOnce() -> Result<http::Answer, HttpError> + Send + 'static,
    ) -> Result<http::Answer, Ended> {
        let (send, answer) = channel();
        std::thread::spawn(move || send.send(ask()));
        loop {
            let patience = if self.onlooker.is_some() { Duration::ZERO } else { Duration::from_millis(50) };
            match answer.recv_timeout(patience) {
                Ok(answer) => return Ok(answer?),
                Err(RecvTimeoutError::Timeout) if sys::interrupt::asked() => return Err(Ended::Interrupted),
                Err(RecvTimeoutError::Timeout) => drop(self.looking(|onlooker| onlooker.look(LOOK))),
                Err(RecvTimeoutError::Disconnected) => return Err(Ended::Server(say!("probe-request-lost"))),
            }
        }
    }

    /// The observer gets a turn. After a failure it is not called again; its earlier results stay.
    fn looking<T>(&mut self, mut act: impl FnMut(&mut Onlooker) -> Result<T, watch::WatchError>) -> Option<T> {
        match act(self.onlooker.as_mut()?) {
            Ok(done) => Some(done),
            Err(error) => {
                self.blinded = Some(error.message());
                self.onlooker = None;
                None
            }
        }
    }

    /// Whether another question may be asked.
    pub fn may(&self) -> Result<(), Ended> {
        match () {
            () if sys::interrupt::asked() => Err(Ended::Interrupted),
            () if self.exchanges.len() >= MOST_REQUESTS => Err(Ended::TooMany),
            () => Ok(()),
        }
    }
}

fn pause() -> Result<(), Ended> {
    let until = Instant::now() + PAUSE;
    while Instant::now() < until {
        if sys::interrupt::asked() {
            return Err(Ended::Interrupted);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Whatever is said is kept.
impl Ask for Client {
    type Error = Ended;

    fn get(&mut self, path: &'static str) -> Result<server::Exchange, Ended> {
        let (at, started) = (self.at.clone(), Instant::now());
        let answer = self.waited(move || at.get(path))?;
        let name = path.trim_start_matches('/').replace('/', "_");
        let said = server::Exchange { name, ..server::Exchange::of("GET", path, Request::None, answer) };
        Ok(self.keep(said, started).said)
    }

    fn tell(&mut self, name: &str, call: &Call) -> Result<server::Exchange, Ended> {
        let (at, asked, started) = (self.at.clone(), call.clone(), Instant::now());
        let answer = self.waited(move || at.post(asked.path, &asked.body, at.soon))?;
        let question = Question { name: name.to_owned(), call: call.clone(), asked: None };
        Ok(self.kept(&question, answer, started, 0).said)
    }
}
