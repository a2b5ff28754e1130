//! Where a server listens, as people and variables write it.

use crate::http::HttpError;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
}

say::as_text!(Address);

impl Address {
    /// `http://box:8080/`, `box:8080`, `[::1]:8080`; without a port only where there is a usual one.
    pub fn parse(text: &str, usual: Option<u16>) -> Result<Address, HttpError> {
        let wrong = || HttpError::NoAddress { url: text.to_owned() };
        let rest = match text.split_once("://") {
            Some(("http", rest)) => rest,
            Some(_) => return Err(HttpError::Scheme { url: text.to_owned() }),
            None => text,
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // Who asks is nobody's business here.
        let rest = rest.rsplit('@').next().unwrap_or_default();
        let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => rest.rsplit_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            Some(port) => port.parse().ok(),
            None => usual,
        };
        // It is written into the request's head.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
        match port {
            Some(port) if host.chars().all(plain) && (!host.is_empty() || usual.is_some()) => {
                Ok(Address { host: host.to_owned(), port })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_they_are_written() {
        let of = |text: &str| Address::parse(text, None).ok().map(|address| (address.host, address.port));
        let at = |host: &str, port: u16| Some((host.to_owned(), port));
        assert_eq!(of("http://127.0.0.1:8080/"), at("127.0.0.1", 8080));
        assert_eq!(of("box:11434"), at("box", 11434));
        assert_eq!(of("http://[::1]:81/v1?x"), at("::1", 81));
        assert_eq!(of("http://user:secret@box:1"), at("box", 1));
        for wrong in ["nowhere", "http://box", "https://box:1", "file:///etc", "box:99999", "a\r\nb:1", "a b:1", ":1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(Address::parse("", Some(7)).map(|address| address.port).ok(), Some(7));
        assert_eq!(Address { host: "::1".into(), port: 5 }.to_string(), "[::1]:5");
    }
}
