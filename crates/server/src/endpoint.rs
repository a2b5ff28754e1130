//! The address of a server, with its API key.

use crate::dialect::Call;
use crate::exchange::{Exchange, Request};
use crate::identify::Ask;
use crate::key::Key;
use serde_json::Value;
use std::io;
use std::time::Duration;
use sys::http::{self, Address, Answer, HttpError, Question};

#[derive(Debug, Clone)]
pub struct Endpoint {
    pub to: Address,
    /// The key, which is sent only to this address: redirects are not followed.
    pub key: Option<Key>,
    /// The timeout for a request that needs no model.
    pub soon: Duration,
}

impl Endpoint {
    /// Creates an endpoint without a key.
    pub fn new(to: Address) -> Endpoint {
        Endpoint { to, key: None, soon: Duration::from_secs(5) }
    }

    /// `http://HOST:PORT` or `unix:/PATH` as the user typed it, with the key for it.
    pub fn parse(url: &str, key: Option<Key>) -> Result<Endpoint, HttpError> {
        Ok(Endpoint { key, ..Endpoint::new(Address::parse(url, None)?) })
    }

    pub fn get(&self, path: &str) -> Result<Answer, HttpError> {
        self.send("GET", path, "", self.soon)
    }

    pub fn post(&self, path: &str, body: &Value, most: Duration) -> Result<Answer, HttpError> {
        self.send("POST", path, &body.to_string(), most)
    }

    fn send(&self, method: &'static str, path: &str, body: &str, most: Duration) -> Result<Answer, HttpError> {
        let Some(key) = &self.key else {
            return http::send(&self.to, Question { method, path, body, bearer: None }, most);
        };
        // The answer is shown, kept and recorded, so the key is removed from it.
        match http::send(&self.to, Question { method, path, body, bearer: Some(key.text()) }, most) {
            Ok(answer) => Ok(Answer { body: key.hide(answer.body), ..answer }),
            Err(HttpError::NoHttp { to, start }) => Err(HttpError::NoHttp { to, start: key.hide(start) }),
            Err(HttpError::Elsewhere { to, status, location }) => {
                Err(HttpError::Elsewhere { to, status, location: key.hide(location) })
            }
            Err(error) => Err(error),
        }
    }
}

impl Ask for &Endpoint {
    type Error = io::Error;

    fn get(&mut self, path: &'static str) -> io::Result<Exchange> {
        Ok(Exchange::of("GET", path, Request::None, Endpoint::get(self, path)?))
    }

    fn tell(&mut self, _name: &str, call: &Call) -> io::Result<Exchange> {
        let answer = self.post(call.path, &call.body, self.soon)?;
        Ok(Exchange::of("POST", call.path, Request::Json(call.body.clone()), answer))
    }
}
