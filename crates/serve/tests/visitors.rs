//! All kinds of clients at a real socket: with the token, without it, and hostile ones.

use serve::{Pages, Server};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Default)]
struct Two(AtomicU64);

impl Pages for Two {
    fn version(&self) -> String {
        self.0.load(Ordering::Relaxed).to_string()
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        match path {
            "index.html" => Some(b"<p>first".to_vec()),
            // More than a socket's buffer holds.
            "large.csv" => Some(vec![b'x'; 8 << 20]),
            _ => None,
        }
    }
}

struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn with_server(test: impl FnOnce(&Server, &Two)) {
    let (server, pages, ended) = (Server::bind(0).expect("loopback"), Two::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| server.run(&pages, &|| ended.load(Ordering::Relaxed)));
        {
            // Ends the server even if the test fails.
            let _end = Ended(&ended);
            test(&server, &pages);
        }
        run.join().expect("the server");
    });
}

fn send(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    // A refused client may be disconnected before it has sent everything.
    let _ = stream.write_all(bytes);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

fn get(server: &Server, path: &str) -> String {
    send(server, format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address()).as_bytes())
}

/// `/TOKEN`.
fn root(server: &Server) -> String {
    let url = server.url();
    let path = url.strip_prefix(&format!("http://{}", server.address())).expect("the address");
    path.trim_end_matches("/index.html").to_owned()
}

#[test]
fn pages_are_served_to_who_has_the_token_and_the_version_follows() {
    with_server(|server, pages| {
        assert!(server.address().ip().is_loopback());
        let root = root(server);
        assert_eq!(root.len(), 33, "128 bits: {root}");
        let page = get(server, &format!("{root}/index.html"));
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("<p>first"), "{page}");
        assert!(page.contains("Cache-Control: no-store") && page.contains("nosniff"), "{page}");
        assert!(get(server, &root).contains(&format!("Location: {root}/index.html")));
        assert!(get(server, &format!("{root}/version")).ends_with("\r\n\r\n0"));
        pages.0.store(7, Ordering::Relaxed);
        assert!(get(server, &format!("{root}/version")).ends_with("\r\n\r\n7"));
        assert_eq!(get(server, &format!("{root}/large.csv")).split("\r\n\r\n").nth(1).map(str::len), Some(8 << 20));
        let head =
            send(server, format!("HEAD {root}/large.csv HTTP/1.1\r\nHost: {}\r\n\r\n", server.address()).as_bytes());
        assert!(head.contains("Content-Length: 8388608") && head.ends_with("\r\n\r\n"), "{head}");
    });
}

#[test]
fn without_the_token_nobody_learns_anything() {
    with_server(|server, _| {
        let root = root(server);
        let (token, nothing) = (root.trim_start_matches('/'), "404 Not Found");
        let mut wrong = token.to_owned();
        wrong.replace_range(..1, if token.starts_with('0') { "1" } else { "0" });
        for path in
            ["/", "/index.html", "/version", &format!("/{wrong}/index.html"), &format!("/{}/index.html", &token[..31])]
        {
            let said = get(server, path);
            assert!(said.contains(nothing) && !said.contains(token) && !said.contains("first"), "{path}: {said}");
        }
        for path in ["/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/nothing.html"] {
            assert!(get(server, &format!("{root}{path}")).contains(nothing), "{path}");
        }
        let rebound = send(server, format!("GET {root}/index.html HTTP/1.1\r\nHost: evil.example\r\n\r\n").as_bytes());
        assert!(rebound.contains("403 Forbidden") && !rebound.contains("first"), "{rebound}");
    });
}

#[test]
fn rubbish_endless_heads_and_visitors_who_never_speak_stop_nobody() {
    with_server(|server, _| {
        let root = root(server);
        let endless = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'a'; 64 << 10]].concat();
        assert!(send(server, &endless).contains("431"), "a head without end");
        assert!(send(server, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").contains("400"), "TLS");
        assert!(
            send(server, format!("POST {root}/index.html HTTP/1.1\r\nHost: {}\r\n\r\nx", server.address()).as_bytes())
                .contains("405")
        );
        // Clients that connect and send nothing, or only a part, hold places, but not all of them.
        let silent: Vec<TcpStream> = (0..20)
            .map(|at| {
                let mut stream = TcpStream::connect(server.address()).expect("a connection");
                if at % 2 == 0 {
                    stream.write_all(b"GET /").expect("a part");
                }
                stream
            })
            .collect();
        assert!(get(server, &format!("{root}/index.html")).ends_with("first"), "while others are silent");
        // A client that reads nothing of a large answer.
        let mut deaf = TcpStream::connect(server.address()).expect("a connection");
        let ask = format!("GET {root}/large.csv HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
        deaf.write_all(ask.as_bytes()).expect("asked");
        assert!(get(server, &format!("{root}/index.html")).ends_with("first"), "while one is deaf");
        // More than there are places: the oldest are disconnected, and the next client is served.
        let many: Vec<TcpStream> =
            (0..60).map(|_| TcpStream::connect(server.address()).expect("a connection")).collect();
        for _ in 0..20 {
            served(server, &root);
        }
        drop((silent, deaf, many));
        served(server, &root);
    });
}

/// A place becomes free when its thread has ended.
fn served(server: &Server, root: &str) {
    let mut said = String::new();
    for _ in 0..400 {
        said = get(server, &format!("{root}/index.html"));
        if said.ends_with("first") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("not served: {said}");
}

/// All places are taken by clients that have the token and read nothing, or a byte now and then, of a large page.
#[test]
fn slow_readers_do_not_keep_others_out() {
    with_server(|server, _| {
        let root = root(server);
        let ask = format!("GET {root}/large.csv HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
        let mut slow: Vec<TcpStream> = (0..64)
            .map(|_| {
                let mut stream = TcpStream::connect(server.address()).expect("a connection");
                let _ = stream.write_all(ask.as_bytes());
                stream
            })
            .collect();
        for _ in 0..20 {
            for stream in &mut slow {
                let _ = stream.set_nonblocking(true).and_then(|()| stream.read(&mut [0; 1]));
            }
            served(server, &root);
        }
    });
}
