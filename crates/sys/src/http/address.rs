//! The address of a server, in the forms that users and variables use.

use crate::http::HttpError;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A name, or an address without brackets.
    Tcp { host: String, port: u16 },
    /// A socket in the file system, by its whole path.
    Unix(PathBuf),
}

say::as_text!(Address);

impl Address {
    pub fn tcp(host: impl Into<String>, port: u16) -> Address {
        Address::Tcp { host: host.into(), port }
    }

    /// `http://box:8080/`, `box:8080`, `[::1]:8080`, `unix:/run/server.sock`; the port may be missing only if there is
    /// a default.
    pub fn parse(text: &str, usual: Option<u16>) -> Result<Address, HttpError> {
        let wrong = || HttpError::NoAddress { url: text.to_owned() };
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let plain = path.starts_with('/') && !path.contains(char::is_control);
            return if plain { Ok(Address::Unix(path.into())) } else { Err(wrong()) };
        }
        let rest = match text.split_once("://") {
            Some(("http", rest)) => rest,
            Some(_) => return Err(HttpError::Scheme { url: text.to_owned() }),
            None => text,
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // The user info is ignored.
        let rest = rest.rsplit('@').next().unwrap_or_default();
        let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => rest.rsplit_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            Some(port) => port.parse().ok(),
            None => usual,
        };
        // The host is written into the request head, so only these characters are allowed.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
        match port {
            Some(port) if host.chars().all(plain) && (!host.is_empty() || usual.is_some()) => {
                Ok(Address::tcp(host, port))
            }
            _ => Err(wrong()),
        }
    }

    /// The address in a form that can be typed: `http://box:8080`, `unix:/run/server.sock`.
    pub fn url(&self) -> String {
        match self {
            Address::Tcp { .. } => format!("http://{self}"),
            Address::Unix(_) => self.to_string(),
        }
    }

    /// Whether the address can only refer to this machine.
    pub fn is_here(&self) -> bool {
        match self {
            Address::Tcp { host, .. } => host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
            Address::Unix(_) => true,
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(at: SocketAddr) -> Address {
        Address::tcp(at.ip().to_string(), at.port())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_they_are_written() {
        let of = |text: &str| Address::parse(text, None).ok();
        let at = |host: &str, port: u16| Some(Address::tcp(host, port));
        assert_eq!(of("http://127.0.0.1:8080/"), at("127.0.0.1", 8080));
        assert_eq!(of("box:11434"), at("box", 11434));
        assert_eq!(of("http://[::1]:81/v1?x"), at("::1", 81));
        assert_eq!(of("http://user:secret@box:1"), at("box", 1));
        for text in ["unix:/run/llama.sock", "unix:///run/llama.sock"] {
            assert_eq!(of(text), Some(Address::Unix("/run/llama.sock".into())));
        }
        for wrong in ["unix:", "unix:run/llama.sock", "unix:/a\nb"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        for wrong in ["nowhere", "http://box", "https://box:1", "file:///etc", "box:99999", "a\r\nb:1", "a b:1", ":1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(Address::parse("", Some(7)).ok(), at("", 7));
        assert_eq!(Address::tcp("::1", 5).url(), "http://[::1]:5");
        assert_eq!(Address::Unix("/run/llama.sock".into()).url(), "unix:/run/llama.sock");
        assert!(Address::tcp("127.0.0.9", 1).is_here() && !Address::tcp("box", 1).is_here());
    }
}
