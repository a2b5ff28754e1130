//! The one HTTP client: a small question over plain HTTP, bounded as a whole in time and in size.
//!
//! Whoever listens may be hostile: one deadline holds for everything from the name's resolution to the last byte, however
//! the server divides it; headers and body have limits of their own; nothing is followed elsewhere.

mod address;
mod answer;

pub use crate::http::address::Address;

use crate::http::answer::Reader;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The most that headers may take together.
pub const MOST_HEAD: usize = 64 << 10;
/// The most that an answer may hold: the text of a few thousand tokens is far below.
pub const MOST_BODY: usize = 8 << 20;

/// Why there is no answer.
#[derive(Debug)]
pub enum HttpError {
    NoAddress { url: String },
    Scheme { url: String },
    Resolve { host: String, source: io::Error },
    Connect { to: Address, source: io::Error },
    Broken { to: Address, source: io::Error },
    Slow { to: Address, seconds: Duration, got: usize },
    Cut { to: Address, got: usize },
    NoHttp { to: Address, start: String },
    LongHead { to: Address },
    LongBody { to: Address },
    Elsewhere { to: Address, status: u16, location: String },
}

say::worded! { HttpError {
    NoAddress { url } => "sys-http-no-address",
    Scheme { url } => "sys-http-scheme",
    Resolve { host, source } => "sys-http-resolve",
    Connect { to, source } => "about-why" (what = to, why = source),
    Broken { to, source } => "about-why" (what = to, why = source),
    Slow { to, seconds, got } => "sys-http-slow" (to, seconds = seconds.as_secs_f64(), got),
    Cut { to, got } => "sys-http-cut",
    NoHttp { to, start } => "sys-http-no-http",
    LongHead { to } => "sys-http-long-head" (to, most = MOST_HEAD),
    LongBody { to } => "sys-http-long-body" (to, most = MOST_BODY),
    Elsewhere { to, status, location } => "sys-http-elsewhere",
}}

impl From<HttpError> for io::Error {
    fn from(error: HttpError) -> io::Error {
        io::Error::other(say::Say::message(&error))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

/// A question without a body; the whole of it takes no longer than `most`.
pub fn get(to: &Address, path: &str, most: Duration) -> Result<Answer, HttpError> {
    send(to, "GET", path, "", most)
}

/// A question with a body of JSON.
pub fn post(to: &Address, path: &str, body: &str, most: Duration) -> Result<Answer, HttpError> {
    send(to, "POST", path, body, most)
}

fn send(to: &Address, method: &str, path: &str, body: &str, most: Duration) -> Result<Answer, HttpError> {
    let deadline = Instant::now() + most;
    let mut stream = connect(to, deadline)?;
    // HTTP/1.0: a server that keeps to it ends the body with the connection or a length, and sends no chunks.
    let head = format!("{method} {path} HTTP/1.0\r\nHost: {to}\r\nAccept: application/json\r\n");
    let length = body.len();
    let whole = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
    let broken = |source| HttpError::Broken { to: to.clone(), source };
    stream.set_write_timeout(Some(left(deadline))).map_err(broken)?;
    match stream.write_all(whole.as_bytes()) {
        Err(error) if late(&error) => return Err(HttpError::Slow { to: to.clone(), seconds: most, got: 0 }),
        // It may have answered, and gone, without hearing us out.
        Err(_) | Ok(()) => {}
    }
    Reader::new(stream, to, deadline, most).answer()
}

/// To the first of its addresses that accepts.
fn connect(to: &Address, deadline: Instant) -> Result<TcpStream, HttpError> {
    let failed = |source| HttpError::Connect { to: to.clone(), source };
    let mut last = io::Error::other(say::say!("sys-http-no-host"));
    for address in resolve(to, deadline)? {
        match TcpStream::connect_timeout(&address, left(deadline)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// The resolver has patience of its own, longer than ours may be.
fn resolve(to: &Address, deadline: Instant) -> Result<Vec<SocketAddr>, HttpError> {
    let failed = |source| HttpError::Resolve { host: to.host.clone(), source };
    if let Ok(ip) = to.host.parse() {
        return Ok(vec![SocketAddr::new(ip, to.port)]);
    }
    let (send, found) = channel();
    let name = (to.host.clone(), to.port);
    std::thread::spawn(move || send.send(name.to_socket_addrs().map(Iterator::collect::<Vec<_>>)));
    match found.recv_timeout(left(deadline)) {
        Ok(found) => found.map_err(failed),
        Err(_) => Err(failed(io::ErrorKind::TimedOut.into())),
    }
}

/// What is left of the time; never zero, which would mean for ever.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
