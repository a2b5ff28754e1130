//! Servers that drip, never end, or redirect. They run on this machine's loopback, each for the duration of its row.

use super::Scene;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BOUND: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
pub enum Manner {
    /// Sends a byte every 0.2 seconds, forever.
    Drips,
    /// An endless answer, as fast as it is read.
    Endless,
    /// Redirects to itself, forever.
    Redirects,
    /// Accepts the connection, and sends nothing.
    Silent,
}

pub struct Server {
    pub address: String,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub fn start(manner: Manner) -> std::io::Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, here) = (stop.clone(), address.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let (stopped, here) = (stopped.clone(), here.clone());
                std::thread::spawn(move || {
                    let _ = answer(stream, manner, &here, &stopped);
                });
            }
        });
        Ok(Server { address, stop })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(&self.address);
    }
}

fn answer(mut stream: TcpStream, manner: Manner, here: &str, stop: &AtomicBool) -> std::io::Result<()> {
    let mut asked = [0; 4096];
    let _ = stream.read(&mut asked)?;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"version\": \"";
    match manner {
        Manner::Redirects => {
            write!(stream, "HTTP/1.1 302 Found\r\nLocation: http://{here}/\r\nContent-Length: 0\r\n\r\n")?;
        }
        Manner::Endless => {
            stream.write_all(head.as_bytes())?;
            while !stop.load(Ordering::Relaxed) {
                stream.write_all(&[b'1'; 1 << 16])?;
            }
        }
        Manner::Drips => {
            for byte in head.bytes().chain(std::iter::repeat(b'1')) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                stream.write_all(&[byte])?;
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        Manner::Silent => {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
    Ok(())
}

pub fn run(scene: &mut Scene) -> anyhow::Result<()> {
    let manners = [
        ("drips", Manner::Drips),
        ("never ends", Manner::Endless),
        ("redirects to itself", Manner::Redirects),
        ("says nothing", Manner::Silent),
    ];
    for (name, manner) in manners {
        let server = Server::start(manner)?;
        let what = format!("watch --url of a server that {name}");
        if scene.wants(&what) {
            let mut sleeper = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn()?;
            let (pid, url) = (sleeper.id().to_string(), format!("http://{}", server.address));
            let came =
                scene.bounded(&mut scene.tool(&["watch", "--pid", &pid, "--url", &url, "--for", "1s"]), BOUND)?;
            sleeper.kill()?;
            sleeper.wait()?;
            scene.row(&what, &came, BOUND, came.well() && came.code != Some(0), None);
        }
        let what = format!("doctor with OLLAMA_HOST at a server that {name}");
        if scene.wants(&what) {
            let mut tool = scene.tool(&["doctor"]);
            let came = scene.bounded(tool.env("OLLAMA_HOST", &server.address), BOUND)?;
            scene.row(&what, &came, BOUND, came.well(), None);
        }
    }
    Ok(())
}
