//! The only HTTP client: a small request over plain HTTP, by TCP or a Unix socket, limited as a whole in time and size.
//!
//! The server may be hostile: one deadline covers everything from name resolution to the last byte, headers and body
//! have separate limits, and redirects are not followed.

mod address;
mod answer;

pub use crate::http::address::Address;

use crate::http::answer::Reader;
use crate::system::UnixStream;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The maximum size of all headers.
pub const MOST_HEAD: usize = 64 << 10;
/// The maximum size of an answer; the text of a few thousand tokens is far smaller.
pub const MOST_BODY: usize = 8 << 20;

/// Why the request failed.
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

#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "it holds a key, which nobody may print")]
pub struct Question<'a> {
    pub method: &'static str,
    pub path: &'a str,
    /// JSON; empty if there is no body.
    pub body: &'a str,
    /// Sent as `Authorization: Bearer`. The caller must make sure that it contains no line break.
    pub bearer: Option<&'a str>,
}

/// A request without a body; it takes no longer than `most` in total.
pub fn get(to: &Address, path: &str, most: Duration) -> Result<Answer, HttpError> {
    send(to, Question { method: "GET", path, body: "", bearer: None }, most)
}

/// A request with a JSON body.
pub fn post(to: &Address, path: &str, body: &str, most: Duration) -> Result<Answer, HttpError> {
    send(to, Question { method: "POST", path, body, bearer: None }, most)
}

/// A request with a body of another kind.
pub fn post_bytes(to: &Address, path: &str, kind: &str, body: &[u8], most: Duration) -> Result<Answer, HttpError> {
    let question = Question { method: "POST", path, body: "", bearer: None };
    exchange(to, question, (kind, body), most)
}

pub fn send(to: &Address, question: Question<'_>, most: Duration) -> Result<Answer, HttpError> {
    exchange(to, question, ("application/json", question.body.as_bytes()), most)
}

fn exchange(to: &Address, question: Question<'_>, sent: (&str, &[u8]), most: Duration) -> Result<Answer, HttpError> {
    let deadline = Instant::now() + most;
    let mut stream = connect(to, deadline)?;
    let (Question { method, path, bearer, .. }, (kind, body)) = (question, sent);
    let host = if matches!(to, Address::Unix(_)) { "localhost".to_owned() } else { to.to_string() };
    let key = bearer.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    // A server that follows HTTP/1.0 ends the body with the connection or a length, and sends no chunks.
    let head = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n{key}");
    let length = body.len();
    let head = format!("{head}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    let whole = [head.as_bytes(), body].concat();
    stream.wait_at_most(left(deadline)).map_err(|source| HttpError::Broken { to: to.clone(), source })?;
    match stream.write_all(&whole) {
        Err(error) if late(&error) => return Err(HttpError::Slow { to: to.clone(), seconds: most, got: 0 }),
        // The server may have answered and closed the connection before it read the whole request.
        Err(_) | Ok(()) => {}
    }
    Reader::new(stream, to, deadline, most).answer()
}

/// A connection whose reads and writes have timeouts.
trait Stream: Read + Write {
    fn wait_at_most(&self, time: Duration) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time)).and_then(|()| self.set_write_timeout(Some(time)))
    }
}

impl Stream for UnixStream {
    fn wait_at_most(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time)).and_then(|()| self.set_write_timeout(Some(time)))
    }
}

/// Connects to the first address that accepts.
fn connect(to: &Address, deadline: Instant) -> Result<Box<dyn Stream>, HttpError> {
    let failed = |source| HttpError::Connect { to: to.clone(), source };
    let (host, port) = match to {
        Address::Tcp { host, port } => (host, *port),
        Address::Unix(path) => return Ok(Box::new(unix(path, deadline).map_err(failed)?)),
    };
    let mut last = io::Error::other(say::say!("sys-http-no-host"));
    for address in resolve(host, port, deadline)? {
        match TcpStream::connect_timeout(&address, left(deadline)) {
            Ok(stream) => return Ok(Box::new(stream)),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// If a Unix socket's queue is full, connecting blocks indefinitely, so it runs with a timeout.
fn unix(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    let path = path.to_owned();
    in_time(deadline, move || UnixStream::connect(path))
}

/// The resolver's own timeout may be longer than ours.
fn resolve(host: &str, port: u16, deadline: Instant) -> Result<Vec<SocketAddr>, HttpError> {
    if let Ok(ip) = host.parse() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let name = (host.to_owned(), port);
    in_time(deadline, move || name.to_socket_addrs().map(Iterator::collect))
        .map_err(|source| HttpError::Resolve { host: host.to_owned(), source })
}

/// The result of a call without its own timeout; a call that takes too long is abandoned.
fn in_time<T: Send + 'static>(
    deadline: Instant,
    call: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (send, done) = channel();
    std::thread::spawn(move || send.send(call()));
    done.recv_timeout(left(deadline)).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// The remaining time; never zero, which would mean no timeout.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
