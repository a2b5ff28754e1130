//! Serves pages over loopback to clients with the token: a minimal HTTP/1.1 server for browsers.
//!
//! It listens on 127.0.0.1 and answers GET and HEAD. The token is the first part of every path, so that links
//! between pages need not contain it. A path is a key into [`Pages`], never a path on a disk. Other users of the
//! machine can connect, but learn nothing without the token; a web page elsewhere can send requests, which are refused
//! without the right `Host`. No client can block the server: heads, times and connections are limited, and a new client
//! gets a connection of the user who holds the most.
//!
//! Metrics ([`Server::open`]) need no token, because a scraper has a fixed address. Only they can be served to other
//! machines, if the user asks for it.
#![forbid(unsafe_code)]

pub mod activity;
mod connection;
mod connection_limit;
pub mod request;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The maximum number of threads: those with a slot, and those that lost their slot and are about to end.
const MOST_THREADS: usize = 2 * connection_limit::MOST;
/// How often the end condition is checked.
const TICK: Duration = Duration::from_millis(50);

/// The pages to serve.
pub trait Pages: Sync {
    /// Changes when the pages do.
    fn version(&self) -> String;
    fn file(&self, path: &str) -> Option<Vec<u8>>;
}

#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// None: without a token.
    token: Option<String>,
}

impl Server {
    /// Binds to loopback; port 0 takes any free port.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        // Polled, so that shutdown does not wait for a connection.
        listener.set_nonblocking(true)?;
        let token = sys::random::secret::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Server { address: listener.local_addr()?, listener, token: Some(token) })
    }

    /// Binds to an address of the user's choice, for pages without a token.
    pub fn open(address: SocketAddr) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { address: listener.local_addr()?, listener, token: None })
    }

    /// The URL for a browser, including the token.
    pub fn url(&self) -> String {
        match &self.token {
            Some(token) => format!("http://{}/{token}/index.html", self.address),
            None => format!("http://{}/metrics", self.address),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `ended` is true; requests in progress are completed.
    pub fn run(&self, pages: &dyn Pages, ended: &dyn Fn() -> bool) {
        let (open, places) = (AtomicUsize::new(0), connection_limit::Places::default());
        let loopback = self.address.ip().is_loopback();
        let gate = request::Gate { token: self.token.as_deref(), port: loopback.then_some(self.address.port()) };
        std::thread::scope(|scope| {
            while !ended() {
                let (stream, from) = match self.listener.accept() {
                    Ok((stream, from)) if from.ip().is_loopback() || !loopback => (stream, from),
                    Ok(_) => continue,
                    // No connection, an aborted one, or no free descriptor: the next one may succeed.
                    Err(_) => {
                        std::thread::sleep(TICK);
                        continue;
                    }
                };
                let place = match open.fetch_add(1, Ordering::Relaxed) < MOST_THREADS {
                    true => places.enter(&stream, from),
                    false => None,
                };
                let Some(place) = place else {
                    open.fetch_sub(1, Ordering::Relaxed);
                    connection::turn_away(stream);
                    continue;
                };
                let (open, places, gate) = (&open, &places, &gate);
                let served = std::thread::Builder::new().name("visitor".to_owned()).spawn_scoped(scope, move || {
                    connection::serve(stream, gate, pages);
                    places.leave(place);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
                if served.is_err() {
                    places.leave(place);
                    open.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }
}
