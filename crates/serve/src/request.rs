//! Parses a request and decides whether to answer it, from bytes and without a socket.

/// Decides which requests are answered.
#[derive(Debug)]
pub struct Gate<'a> {
    /// The first part of every path; None for pages that every user of this machine may read.
    pub token: Option<&'a str>,
    /// The port that `Host` must name beside this machine; None if other machines may ask, under any name.
    pub port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A file of the pages, by name.
    File {
        path: String,
        head: bool,
    },
    Version {
        head: bool,
    },
    /// The token's own path: redirects to the first page.
    First,
    Refused(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NotHttp,
    Method,
    /// A wrong token and a missing page get the same answer, so that guessing reveals nothing.
    NotFound,
    Host,
    TooLong,
    TooSlow,
    Busy,
}

impl Refusal {
    pub fn status(self) -> &'static str {
        match self {
            Refusal::NotHttp => "400 Bad Request",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::NotFound => "404 Not Found",
            Refusal::Host => "403 Forbidden",
            Refusal::TooLong => "431 Request Header Fields Too Large",
            Refusal::TooSlow => "408 Request Timeout",
            Refusal::Busy => "503 Service Unavailable",
        }
    }
}

impl Gate<'_> {
    /// `head`: everything up to the empty line.
    pub fn ask(&self, head: &[u8]) -> Asked {
        let Ok(head) = std::str::from_utf8(head) else { return Asked::Refused(Refusal::NotHttp) };
        let mut lines = head.split("\r\n");
        let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [method, target, "HTTP/1.1" | "HTTP/1.0"] = words[..] else { return Asked::Refused(Refusal::NotHttp) };
        let head = match method {
            "GET" => false,
            "HEAD" => true,
            _ => return Asked::Refused(Refusal::Method),
        };
        // A page of another site whose name resolves to this machine sends its own name.
        let mut hosts =
            lines.filter_map(|line| line.split_once(':')).filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = hosts.next().map(|(_, value)| value.trim()).filter(|_| hosts.next().is_none());
        if let Some(port) = self.port {
            let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
            if !host.is_some_and(|host| own.iter().any(|own| own == host)) {
                return Asked::Refused(Refusal::Host);
            }
        }
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let Some(token) = self.token else {
            return match path.strip_prefix('/').filter(|path| is_plain(path)) {
                Some(path) => Asked::File { path: path.to_owned(), head },
                None => Asked::Refused(Refusal::NotFound),
            };
        };
        let Some((given, rest)) = path.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, ""))) else {
            return Asked::Refused(Refusal::NotFound);
        };
        if !same(given.as_bytes(), token.as_bytes()) {
            return Asked::Refused(Refusal::NotFound);
        }
        match rest {
            "" => Asked::First,
            "version" => Asked::Version { head },
            path if is_plain(path) => Asked::File { path: path.to_owned(), head },
            _ => Asked::Refused(Refusal::NotFound),
        }
    }
}

/// The names of our own files contain only these characters.
fn is_plain(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    path.chars().all(plain) && !path.split('/').any(|part| part.is_empty() || part.starts_with('.'))
}

/// Compares in constant time, so that it does not reveal how many bytes were right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: Gate<'static> = Gate { token: Some("0123abcd"), port: Some(8080) };

    fn ask(line: &str, host: &str) -> Asked {
        GATE.ask(format!("{line}\r\nHost: {host}\r\nAccept: */*").as_bytes())
    }

    #[test]
    fn who_has_the_token_gets_files_by_their_names() {
        let file = |path: &str| Asked::File { path: path.to_owned(), head: false };
        assert_eq!(ask("GET /0123abcd/map.html?x#y HTTP/1.1", "127.0.0.1:8080"), file("map.html"));
        assert_eq!(ask("GET /0123abcd/data/claims.csv HTTP/1.1", "localhost:8080"), file("data/claims.csv"));
        assert_eq!(ask("GET /0123abcd/ HTTP/1.1", "localhost:8080"), Asked::First);
        assert_eq!(ask("HEAD /0123abcd/version HTTP/1.0", "localhost:8080"), Asked::Version { head: true });
    }

    #[test]
    fn metrics_need_no_token_but_the_name_of_this_machine() {
        let file = Asked::File { path: "metrics".to_owned(), head: false };
        let gate = Gate { token: None, port: Some(9464) };
        let ask = |gate: &Gate<'_>, line: &str, host: &str| gate.ask(format!("{line}\r\nHost: {host}").as_bytes());
        assert_eq!(ask(&gate, "GET /metrics HTTP/1.1", "127.0.0.1:9464"), file);
        assert_eq!(ask(&gate, "GET /metrics HTTP/1.1", "evil.example:9464"), Asked::Refused(Refusal::Host));
        assert_eq!(ask(&gate, "GET /../etc/passwd HTTP/1.1", "127.0.0.1:9464"), Asked::Refused(Refusal::NotFound));
        let anywhere = Gate { token: None, port: None };
        assert_eq!(ask(&anywhere, "GET /metrics HTTP/1.1", "node-7:9464"), file);
    }

    #[test]
    fn everybody_else_gets_nothing() {
        let here = "127.0.0.1:8080";
        for (line, host, why) in [
            ("GET /map.html HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abce/map.html HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abc/map.html HTTP/1.1", here, Refusal::NotFound),
            ("GET / HTTP/1.1", here, Refusal::NotFound),
            ("GET http://127.0.0.1:8080/0123abcd/map.html HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abcd/../../etc/passwd HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abcd/%2e%2e/%2e%2e/etc/passwd HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abcd//etc/passwd HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abcd/.whichkernel-report HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abcd/a\\b HTTP/1.1", here, Refusal::NotFound),
            ("GET /0123abcd/map.html HTTP/1.1", "evil.example:8080", Refusal::Host),
            ("GET /0123abcd/map.html HTTP/1.1", "127.0.0.1:80", Refusal::Host),
            ("GET /0123abcd/map.html HTTP/1.1", "127.0.0.1:8080\r\nHost: evil.example", Refusal::Host),
            ("POST /0123abcd/map.html HTTP/1.1", here, Refusal::Method),
            ("GET /0123abcd/map.html HTTP/2", here, Refusal::NotHttp),
            ("GET /0123abcd/map.html", here, Refusal::NotHttp),
            ("GET  /0123abcd/map.html HTTP/1.1", here, Refusal::NotHttp),
            ("", here, Refusal::NotHttp),
        ] {
            assert_eq!(ask(line, host), Asked::Refused(why), "{line} {host}");
        }
        assert_eq!(GATE.ask(b"GET /0123abcd/map.html HTTP/1.1"), Asked::Refused(Refusal::Host));
        assert_eq!(GATE.ask(b"\xff\xfe"), Asked::Refused(Refusal::NotHttp));
    }
}
