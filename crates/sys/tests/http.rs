//! Hostile servers: each request ends within its time and size limits, with an error that says what was wrong.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use sys::http::{Address, HttpError, get, post};

/// Accepts one request and passes the connection to `answer`.
fn server(answer: impl FnOnce(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        // The request is small and arrives in one read.
        let _ = stream.read(&mut [0; 4096]);
        let _ = answer(&mut stream);
    });
    Address::tcp("127.0.0.1", port)
}

/// Sends a byte at a time. In full it would take a minute: only a client whose timeout restarts with each byte would
/// see the end.
fn drip(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    let step = Duration::from_secs(60) / u32::try_from(text.len()).unwrap_or(1);
    for byte in text.bytes() {
        stream.write_all(&[byte])?;
        std::thread::sleep(step);
    }
    Ok(())
}

const PATIENT: Duration = Duration::from_secs(300);
const HASTY: Duration = Duration::from_millis(700);

#[test]
fn a_trickle_does_not_prolong_the_time() {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: slow and steady, byte by byte, all day long\r\n";
    for text in [format!("{head}\r\n{{}}"), format!("{head}X: {}\r\n\r\n{{}}", "y".repeat(300))] {
        let at = server(move |stream| drip(stream, &text));
        assert!(matches!(get(&at, "/", HASTY), Err(HttpError::Slow { .. })), "headers");
    }
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n"] {
        let at = server(move |stream| {
            stream.write_all(head.as_bytes())?;
            drip(stream, &"x".repeat(200))
        });
        assert!(matches!(get(&at, "/", HASTY), Err(HttpError::Slow { .. })), "a body after {head:?}");
    }
    let at = server(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        drip(stream, &"1\r\nx\r\n".repeat(60))
    });
    assert!(matches!(get(&at, "/", HASTY), Err(HttpError::Slow { .. })), "chunks");
}

#[test]
fn nobody_answers_or_goes_at_once() {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let at = server(move |_| {
        let _ = held.recv();
        Ok(())
    });
    let error = get(&at, "/", HASTY).expect_err("no answer");
    assert!(matches!(error, HttpError::Slow { got: 0, .. }), "{error}");
    assert!(error.to_string().contains("within 0.7 s (0 bytes received)"), "{error}");
    drop(hold);
    let at = server(|_| Ok(()));
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::Cut { got: 0, .. } | HttpError::Broken { .. })));
    let at = server(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::Cut { .. })));
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let nobody = Address::tcp("127.0.0.1", nobody.port());
    assert!(matches!(get(&nobody, "/", PATIENT), Err(HttpError::Connect { .. })));
}

#[test]
fn what_has_no_end_is_cut_at_its_limit() {
    let endless = |head: &'static str, piece: &'static [u8]| {
        server(move |stream| {
            stream.write_all(head.as_bytes())?;
            loop {
                stream.write_all(piece)?;
            }
        })
    };
    let at = endless("HTTP/1.1 200 OK\r\n", b"X-More: and more and more and more and more\r\n");
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::LongHead { .. })));
    let at = endless("HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 4096]);
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::LongBody { .. })));
    let at = endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10\r\n0123456789abcdef\r\n");
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::LongBody { .. })));
    let at = endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;");
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::NoHttp { .. })));
    let at = endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", b"x");
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::LongBody { .. })));
    let at = endless("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x");
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::LongBody { .. })));
}

#[test]
fn what_is_no_http_is_said_and_nothing_is_followed() {
    let at = server(|stream| stream.write_all(b"\x16\x03\x01\x02\x00 tls or anything\r\n\r\n"));
    let error = get(&at, "/", PATIENT).expect_err("garbage");
    assert!(matches!(error, HttpError::NoHttp { .. }), "{error}");
    assert!(error.to_string().chars().all(|c| !c.is_control()), "{error}");
    let at = server(|stream| stream.write_all(b"HTTP/1.1 OK fine\r\n\r\n"));
    assert!(matches!(get(&at, "/", PATIENT), Err(HttpError::NoHttp { .. })), "no status");
    let at = server(|stream| {
        stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n")
    });
    let error = get(&at, "/", PATIENT).expect_err("elsewhere").to_string();
    assert!(error.contains("302") && error.contains("169.254.169.254") && error.contains("not followed"), "{error}");
}

#[test]
fn what_is_http_is_read_however_it_ends() {
    let page = "<html><body>hello</body></html>";
    let length = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}and what nobody asked for", page.len());
    let chunks = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n6;why=not\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
        &page[..6],
        page.len() - 6,
        &page[6..]
    );
    for text in [format!("HTTP/1.0 200 OK\r\n\r\n{page}"), length, chunks, format!("HTTP/1.1 200 OK\n\n{page}")] {
        let at = server(move |stream| stream.write_all(text.as_bytes()));
        let answer = post(&at, "/", "{}", PATIENT).expect("an answer");
        assert_eq!((answer.status, answer.body.as_str()), (200, page));
    }
    let at = server(|stream| stream.write_all(b"HTTP/1.1 503 Loading\r\n\r\n"));
    assert_eq!(get(&at, "/", PATIENT).expect("an answer").status, 503);
}
