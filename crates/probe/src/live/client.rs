//! Asking a server: every question bounded in time and size, every answer kept as it came, and Ctrl-C heard in between.

use crate::exchange::{Exchange, Request};
use serde_json::Value;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use sys::http::{self, Address, HttpError};

/// No run asks more often than this.
const MOST_REQUESTS: usize = 20_000;
/// A question that needs no model.
const SOON: Duration = Duration::from_secs(10);
/// How often a busy server is asked again, and how long in between.
const AGAIN: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// Why a run ended before its last question.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    #[error("{0}")]
    Http(#[from] HttpError),
    #[error("stopped by a signal")]
    Interrupted,
    #[error("the server is busy: it answered {status} {times} times in a row ({said})")]
    Busy { status: u16, times: u32, said: String },
    #[error("{0}")]
    Server(String),
    #[error("more than {MOST_REQUESTS} requests")]
    TooMany,
}

#[derive(Debug)]
pub struct Client {
    to: Address,
    /// For a question that evaluates something: the model may have to be loaded for it.
    patience: Duration,
    /// Everything that was asked and answered, in order.
    pub exchanges: Vec<Exchange>,
}

/// One question to send.
#[derive(Debug, Clone)]
pub struct Question {
    pub name: String,
    pub path: &'static str,
    pub body: Value,
    pub asked: Option<u64>,
}

impl Client {
    pub fn new(to: Address, patience: Duration) -> Client {
        Client { to, patience, exchanges: Vec::new() }
    }

    pub fn address(&self) -> &Address {
        &self.to
    }

    /// A fact that the server tells anybody. What it says is kept, whatever the status.
    pub fn get(&mut self, path: &'static str) -> Result<Exchange, Ended> {
        let (to, started) = (self.to.clone(), Instant::now());
        let answer = waited(move || http::get(&to, path, SOON))?;
        let name = path.trim_start_matches('/').replace('/', "_");
        Ok(self.kept(name, "GET", path, Request::None, answer, None, started, 0))
    }

    /// A question that needs no evaluation.
    pub fn tell(&mut self, name: &str, path: &'static str, body: &Value) -> Result<Exchange, Ended> {
        let (to, text, started) = (self.to.clone(), body.to_string(), Instant::now());
        let answer = waited(move || http::post(&to, path, &text, SOON))?;
        Ok(self.kept(name.to_owned(), "POST", path, Request::Json(body.clone()), answer, None, started, 0))
    }

    /// A question that evaluates a prompt. A busy server is asked again, a few times.
    pub fn ask(&mut self, question: &Question) -> Result<Exchange, Ended> {
        for times in 1.. {
            let (to, text, patience, path) = (self.to.clone(), question.body.to_string(), self.patience, question.path);
            let started = Instant::now();
            let answer = waited(move || http::post(&to, path, &text, patience))?;
            let busy = matches!(answer.status, 429 | 503);
            let status = answer.status;
            let body = Request::Json(question.body.clone());
            let kept = self.kept(question.name.clone(), "POST", path, body, answer, question.asked, started, 0);
            if !busy {
                return Ok(kept);
            }
            if times >= AGAIN {
                return Err(Ended::Busy { status, times, said: crate::counts::said(&kept.answer) });
            }
            pause()?;
        }
        Err(Ended::TooMany)
    }

    /// Several at the same time, answered together.
    pub fn ask_together(&mut self, questions: &[Question]) -> Result<(), Ended> {
        let started = Instant::now();
        let workers: Vec<_> = questions
            .iter()
            .map(|question| {
                let (to, text, patience, path) =
                    (self.to.clone(), question.body.to_string(), self.patience, question.path);
                std::thread::spawn(move || http::post(&to, path, &text, patience))
            })
            .collect();
        let beside = questions.len().saturating_sub(1) as u64;
        for (question, worker) in questions.iter().zip(workers) {
            let answer = worker.join().map_err(|_| Ended::Server("a request of ours was lost".into()))??;
            let body = Request::Json(question.body.clone());
            self.kept(question.name.clone(), "POST", question.path, body, answer, question.asked, started, beside);
        }
        if sys::interrupt::asked() { Err(Ended::Interrupted) } else { Ok(()) }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of an exchange, named by their types")]
    fn kept(
        &mut self,
        name: String,
        method: &str,
        path: &str,
        request: Request,
        answer: http::Answer,
        asked: Option<u64>,
        started: Instant,
        beside: u64,
    ) -> Exchange {
        let exchange = Exchange {
            name,
            method: method.to_owned(),
            path: path.to_owned(),
            request,
            status: answer.status,
            answer: answer.body,
            log: String::new(),
            asked,
            wall_ms: Some(started.elapsed().as_secs_f64() * 1e3),
            beside,
        };
        self.exchanges.push(exchange.clone());
        exchange
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

/// The answer, or the end where somebody pressed Ctrl-C meanwhile: the request is left to its own deadline.
fn waited(ask: impl FnOnce() -> Result<http::Answer, HttpError> + Send + 'static) -> Result<http::Answer, Ended> {
    let (send, answer) = channel();
    std::thread::spawn(move || send.send(ask()));
    loop {
        match answer.recv_timeout(Duration::from_millis(50)) {
            Ok(answer) => return Ok(answer?),
            Err(RecvTimeoutError::Timeout) if sys::interrupt::asked() => return Err(Ended::Interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Ended::Server("a request of ours was lost".into())),
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
