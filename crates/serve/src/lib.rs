//! Pages over loopback, for who has the token: the smallest HTTP/1.1 server that a browser takes.
//!
//! It listens on 127.0.0.1 alone and answers GET and HEAD. The token is the first part of every path, so that links between
//! pages need not know it. A path is a key into what [`Pages`] hold, never a place on a disk. Other users of the machine can
//! connect: without the token they learn nothing; a web page elsewhere can send requests here: without the right `Host` they
//! are refused. Nobody can hold the server up: heads are short, time is short, connections are few.
#![forbid(unsafe_code)]

mod connection;
pub mod request;
pub mod under_way;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Connections at one time; a browser opens six.
const MOST: usize = 32;
/// How often somebody asks whether it shall end.
const TICK: Duration = Duration::from_millis(50);

/// What is served.
pub trait Pages: Sync {
    /// Changes when the pages do.
    fn version(&self) -> String;
    fn file(&self, path: &str) -> Option<Vec<u8>>;
}

#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

impl Server {
    /// On loopback; port 0 takes any that is free.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        // Asked now and then, so that the end does not wait for a visitor.
        listener.set_nonblocking(true)?;
        let token = sys::random::secret::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Server { address: listener.local_addr()?, listener, token })
    }

    /// For a browser, the token in it.
    pub fn url(&self) -> String {
        format!("http://{}/{}/index.html", self.address, self.token)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `ended` says so; whoever is being served then is served to the end.
    pub fn run(&self, pages: &dyn Pages, ended: &dyn Fn() -> bool) {
        let open = AtomicUsize::new(0);
        let gate = request::Gate { token: &self.token, port: self.address.port() };
        std::thread::scope(|scope| {
            while !ended() {
                let stream = match self.listener.accept() {
                    Ok((stream, from)) if from.ip().is_loopback() => stream,
                    Ok(_) => continue,
                    // Nobody is there, he went away again, or descriptors ran out: the next may fare better.
                    Err(_) => {
                        std::thread::sleep(TICK);
                        continue;
                    }
                };
                if open.fetch_add(1, Ordering::Relaxed) >= MOST {
                    open.fetch_sub(1, Ordering::Relaxed);
                    connection::turn_away(stream);
                    continue;
                }
                let (open, gate) = (&open, &gate);
                let served = std::thread::Builder::new().name("visitor".to_owned()).spawn_scoped(scope, move || {
                    connection::serve(stream, gate, pages);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
                if served.is_err() {
                    open.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }
}
