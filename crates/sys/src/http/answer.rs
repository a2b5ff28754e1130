//! Reads an answer within one deadline and size limits.

use crate::http::{Address, Answer, HttpError, MOST_BODY, MOST_HEAD, Stream, late, left};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

pub(super) struct Reader<'a> {
    stream: Box<dyn Stream>,
    to: &'a Address,
    deadline: Instant,
    seconds: Duration,
    /// Received bytes that were not used yet.
    bytes: Vec<u8>,
    got: usize,
}

/// How a body ends.
enum Until {
    Length(usize),
    LastChunk,
    Close,
}

impl<'a> Reader<'a> {
    pub fn new(stream: Box<dyn Stream>, to: &'a Address, deadline: Instant, seconds: Duration) -> Self {
        Reader { stream, to, deadline, seconds, bytes: Vec::new(), got: 0 }
    }

    pub fn answer(mut self) -> Result<Answer, HttpError> {
        let head = self.head()?;
        let mut lines = head.split("\r\n").flat_map(|line| line.split('\n'));
        let first = lines.next().unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
        let Some(status) = status else { return Err(self.no_http(head.as_bytes())) };
        let fields: Vec<(String, &str)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
            .collect();
        let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        if let (300..400, Some(location)) = (status, field("location")) {
            let location: String = location.chars().take(200).flat_map(char::escape_debug).collect();
            return Err(HttpError::Elsewhere { to: self.to.clone(), status, location });
        }
        let chunked = field("transfer-encoding").is_some_and(|how| how.to_ascii_lowercase().contains("chunked"));
        let length = field("content-length").and_then(|length| length.parse::<usize>().ok());
        let body = self.body(match (chunked, length) {
            (true, _) => Until::LastChunk,
            (false, Some(length)) => Until::Length(length),
            (false, None) => Until::Close,
        })?;
        Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// Reads the header, up to the empty line.
    fn head(&mut self) -> Result<String, HttpError> {
        loop {
            if !b"HTTP/".starts_with(self.bytes.get(..5).unwrap_or(&self.bytes)) {
                return Err(self.no_http(&self.bytes));
            }
            if let Some((end, skip)) = end_of_head(&self.bytes) {
                let rest = self.bytes.split_off(end + skip);
                let head = std::mem::replace(&mut self.bytes, rest);
                return Ok(String::from_utf8_lossy(head.get(..end).unwrap_or_default()).into_owned());
            }
            if self.bytes.len() > MOST_HEAD {
                return Err(HttpError::LongHead { to: self.to.clone() });
            }
            if !self.more()? {
                return Err(HttpError::Cut { to: self.to.clone(), got: self.got });
            }
        }
    }

    fn body(&mut self, until: Until) -> Result<Vec<u8>, HttpError> {
        let long = || HttpError::LongBody { to: self.to.clone() };
        match until {
            Until::Length(length) if length > MOST_BODY => Err(long()),
            Until::Length(length) => self.exactly(length),
            Until::Close => loop {
                if self.bytes.len() > MOST_BODY {
                    return Err(HttpError::LongBody { to: self.to.clone() });
                }
                if !self.more()? {
                    return Ok(std::mem::take(&mut self.bytes));
                }
            },
            Until::LastChunk => self.chunks(),
        }
    }

    /// RFC 9112, section 7.1; the trailer after the last chunk is ignored.
    fn chunks(&mut self) -> Result<Vec<u8>, HttpError> {
        /// A size is a few digits; the extension after it is ignored.
        const MOST_LINE: usize = 4096;
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                    break end;
                }
                if self.bytes.len() > MOST_LINE {
                    return Err(self.no_http(&self.bytes));
                }
                if !self.more()? {
                    return Err(HttpError::Cut { to: self.to.clone(), got: self.got });
                }
            };
            let line = self.exactly(end + 1)?;
            let text = String::from_utf8_lossy(&line);
            let digits = text.split(';').next().unwrap_or_default().trim();
            let Ok(size) = usize::from_str_radix(digits, 16) else { return Err(self.no_http(&line)) };
            if size == 0 {
                return Ok(body);
            }
            if size > MOST_BODY - body.len() {
                return Err(HttpError::LongBody { to: self.to.clone() });
            }
            body.extend(self.exactly(size)?);
            // The line end after the chunk.
            self.exactly(2)?;
        }
    }

    fn exactly(&mut self, count: usize) -> Result<Vec<u8>, HttpError> {
        while self.bytes.len() < count {
            if !self.more()? {
                return Err(HttpError::Cut { to: self.to.clone(), got: self.got });
            }
        }
        let rest = self.bytes.split_off(count);
        Ok(std::mem::replace(&mut self.bytes, rest))
    }

    /// Reads more; returns whether there was any data. The remaining time is recomputed for each read, so that a slow
    /// trickle does not extend it.
    fn more(&mut self) -> Result<bool, HttpError> {
        let slow = || HttpError::Slow { to: self.to.clone(), seconds: self.seconds, got: self.got };
        let mut buffer = [0; 16 << 10];
        loop {
            if Instant::now() >= self.deadline {
                return Err(slow());
            }
            let broken = |source| HttpError::Broken { to: self.to.clone(), source };
            self.stream.wait_at_most(left(self.deadline)).map_err(broken)?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
                    self.got += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if late(&error) => return Err(slow()),
                // If a server closes before it has read the request, the connection is reset after its answer.
                Err(error) if error.kind() == ErrorKind::ConnectionReset && self.got > 0 => return Ok(false),
                Err(error) => return Err(broken(error)),
            }
        }
    }

    fn no_http(&self, bytes: &[u8]) -> HttpError {
        let start = String::from_utf8_lossy(bytes.get(..40).unwrap_or(bytes)).escape_debug().to_string();
        HttpError::NoHttp { to: self.to.clone(), start }
    }
}

/// The end of the head, and the length of the empty line.
fn end_of_head(bytes: &[u8]) -> Option<(usize, usize)> {
    let find = |mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark).map(|at| (at, mark.len()));
    [find(b"\r\n\r\n"), find(b"\n\n")].into_iter().flatten().min()
}
