//! One connection: a short request head within a time limit, an answer, and the end.

use crate::Pages;
use crate::request::{Asked, Gate, Refusal};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The maximum length of a head; a browser's has one or two thousand bytes.
const LONGEST: usize = 16 << 10;
/// The timeout for the whole head, and for the start of an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The minimum rate of a client in bytes per second, so that a slow reader does not stay forever.
const SLOWEST: u64 = 64 << 10;
/// The timeout of a single read, so that a client that sends byte by byte reaches the overall timeout.
const BREATH: Duration = Duration::from_millis(500);

pub fn serve(mut stream: TcpStream, gate: &Gate<'_>, pages: &dyn Pages) {
    let set = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(BREATH)));
    if set.and_then(|()| stream.set_write_timeout(Some(BREATH))).is_err() {
        return;
    }
    let asked = match head(&mut stream) {
        Ok(Some(head)) => gate.ask(&head),
        Ok(None) => return,
        Err(refusal) => Asked::Refused(refusal),
    };
    let (head, body) = match asked {
        Asked::Refused(refusal) => return refuse(&mut stream, refusal),
        Asked::First => {
            let head = format!(
                "HTTP/1.1 303 See Other\r\nLocation: /{}/index.html\r\nContent-Length: 0\r\n{ALWAYS}\r\n",
                gate.token.unwrap_or_default()
            );
            (head, Vec::new())
        }
        Asked::Version { head } => answer("text/plain; charset=utf-8", pages.version().into_bytes(), head),
        Asked::File { path, head } => match pages.file(&path) {
            Some(bytes) => answer(kind(&path), bytes, head),
            None => return refuse(&mut stream, Refusal::NotFound),
        },
    };
    if put(&mut stream, head.as_bytes()) && put(&mut stream, &body) {
        let _ = stream.shutdown(Shutdown::Write);
    }
}

/// Rejects a connection because all slots are in use. The refusal does not block: one line, which fits a socket's
/// buffer, and no reading.
pub fn turn_away(mut stream: TcpStream) {
    if stream.set_nonblocking(true).is_ok() {
        let _ = stream.write(refusal_text(Refusal::Busy).as_bytes());
    }
}

/// Sent with every answer: forbids caching, referrers, framing and use by other origins.
const ALWAYS: &str = "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
                      Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n";

fn answer(kind: &str, body: Vec<u8>, head: bool) -> (String, Vec<u8>) {
    let text = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{ALWAYS}\r\n", body.len());
    (text, if head { Vec::new() } else { body })
}

fn refusal_text(refusal: Refusal) -> String {
    let status = refusal.status();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{ALWAYS}\r\n{status}\n",
        status.len() + 1
    )
}

fn refuse(stream: &mut TcpStream, refusal: Refusal) {
    put(stream, refusal_text(refusal).as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
    // If the socket were closed with unread input, a client that is still sending would lose the answer. So a little
    // input is read and discarded.
    let (start, mut rest) = (Instant::now(), [0; 4096]);
    while start.elapsed() < BREATH && stream.read(&mut rest).is_ok_and(|read| read > 0) {}
}

/// Reads the header, up to the empty line; None if the client sent nothing.
fn head(stream: &mut TcpStream) -> Result<Option<Vec<u8>>, Refusal> {
    let (start, mut head, mut piece) = (Instant::now(), Vec::new(), [0; 2048]);
    loop {
        if start.elapsed() > PATIENCE {
            return Err(Refusal::TooSlow);
        }
        match stream.read(&mut piece) {
            Ok(0) => return if head.is_empty() { Ok(None) } else { Err(Refusal::NotHttp) },
            Ok(read) => head.extend_from_slice(piece.get(..read).unwrap_or_default()),
            Err(error) if is_pause(&error) => continue,
            Err(_) => return Ok(None),
        }
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            head.truncate(end);
            return Ok(Some(head));
        }
        if head.len() > LONGEST {
            return Err(Refusal::TooLong);
        }
    }
}

fn is_pause(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Whether all bytes were sent in time. A client that reads nothing, or too slowly, is disconnected.
fn put(stream: &mut TcpStream, mut bytes: &[u8]) -> bool {
    let mut moved = Instant::now();
    let deadline = moved + PATIENCE + Duration::from_secs(bytes.len() as u64 / SLOWEST);
    while !bytes.is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        match stream.write(bytes) {
            Ok(0) => return false,
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                moved = Instant::now();
            }
            Err(error) if is_pause(&error) && moved.elapsed() < PATIENCE => {}
            Err(_) => return false,
        }
    }
    true
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("csv") => "text/csv; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("metrics") => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}
