//! Waits for a program and passes signals on to it: Ctrl-C and TERM are meant for the program as well.

use crate::error::DryrunError;
use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::{abi, interrupt};

/// The maximum amount of a program's output that is kept.
const MOST_SAID: usize = 1 << 20;
/// The time that a program has to exit after it was asked to.
const FAREWELL: Duration = Duration::from_secs(5);
/// The polling interval, which grows with the running time.
const STEPS: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(20)];

/// How the program ended, its output, and the signal that asked us to stop.
pub struct Ended {
    pub status: ExitStatus,
    pub said: String,
    pub interrupted: Option<i32>,
}

/// Waits for the child, which must lead its own process group.
pub fn wait(mut child: Child, program: &OsStr) -> Result<Ended, DryrunError> {
    let failed = |source| DryrunError::Start { program: program.to_string_lossy().into_owned(), source };
    let (out, err) = (Listener::new(child.stdout.take()), Listener::new(child.stderr.take()));
    let leader = child.id();
    let [mut step, longest] = STEPS;
    let mut told: Option<(i32, Instant)> = None;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        match (told, interrupt::signal()) {
            (None, Some(signal)) => {
                tell(leader, signal);
                told = Some((signal, Instant::now()));
            }
            (Some((_, at)), _) if at.elapsed() > FAREWELL => tell(leader, abi::SIGKILL),
            _ => {}
        }
        std::thread::sleep(step);
        step = (step * 2).min(longest);
    };
    let interrupted = told.map(|(signal, _)| signal).or_else(interrupt::signal);
    if interrupted.is_some() {
        // Also kill everything that the program started, so that nothing is left behind.
        tell(leader, abi::SIGKILL);
    }
    let said = out.end(interrupted.is_some()) + &err.end(interrupted.is_some());
    Ok(Ended { status, said, interrupted })
}

fn tell(leader: u32, signal: i32) {
    let _ = sys::host::signal_group(leader, signal);
}

/// Reads all output, so that the program never blocks, and keeps the end.
struct Listener {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    fn new(pipe: Option<impl Read + Send + 'static>) -> Listener {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&kept);
        let thread = pipe.map(|pipe| std::thread::spawn(move || listen(pipe, &to)));
        Listener { kept, thread }
    }

    /// Returns the output. With `now`, does not wait for another process that may still hold the other end.
    fn end(self, now: bool) -> String {
        if let Some(thread) = self.thread.filter(|_| !now) {
            let _ = thread.join();
        }
        String::from_utf8_lossy(&self.kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

fn listen(mut pipe: impl Read, to: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 64 << 10];
    while let Ok(len) = pipe.read(&mut buffer) {
        if len == 0 {
            break;
        }
        let mut kept = to.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(buffer.get(..len).unwrap_or(&[]));
        let over = kept.len().saturating_sub(MOST_SAID);
        if over > MOST_SAID {
            kept.drain(..over);
        }
    }
}
