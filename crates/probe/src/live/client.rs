//! Sends requests to a server. Every request is limited in time and size, every response is stored unchanged, and
//! Ctrl-C is handled in between.

use crate::exchange::Exchange;
use crate::launches::Onlooker;
use say::{Message, Say, say};
use server::{Ask, Call, Endpoint, NoModel, Request, counts};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use sys::http::{self, HttpError};

/// The maximum number of requests in a run.
const MOST_REQUESTS: usize = 20_000;
/// A request that needs no model.
const SOON: Duration = Duration::from_secs(10);
/// How often a request to a busy server is repeated, and the pause in between.
const AGAIN: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum time of one poll of the observer.
const LOOK: Duration = Duration::from_millis(20);

/// Why a run ended before its last request.
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
    /// The timeout of a request that evaluates tokens: the model may have to be loaded first.
    patience: Duration,
    /// All requests and responses, in order.
    pub exchanges: Vec<Exchange>,
    /// The observer of the server's launches.
    pub onlooker: Option<Onlooker>,
    /// Why the observer stopped before the end.
    pub blinded: Option<Message>,
}

/// A request to send.
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

    /// A request that evaluates a prompt. A request to a busy server is repeated a few times.
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

    /// Sends several questions at the same time, so that they are answered together.
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
            // A request without a response affects only its own row.
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
        // The requests were evaluated together, so the launches belong to all of them and are reported once.
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

    /// Waits for the answer, or ends after Ctrl-C; the request is left to its timeout.
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

    /// Polls the observer. After a failure it is not polled again; its earlier results are kept.
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

    /// Whether another request may be sent.
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

/// Stores every exchange.
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
