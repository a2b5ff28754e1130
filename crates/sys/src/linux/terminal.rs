//! The terminal that output goes to.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A standard stream that may be a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

/// Columns and rows; None if the stream is not a terminal, or if the terminal does not report its size.
pub fn size(of: Stream) -> Option<(usize, usize)> {
    let size = match of {
        Stream::Output => rustix::termios::tcgetwinsize(std::io::stdout()),
        Stream::Errors => rustix::termios::tcgetwinsize(std::io::stderr()),
    };
    size.ok().map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)))
}

/// The terminal's settings before the first full-screen view.
static SETTINGS: OnceLock<libc::termios> = OnceLock::new();
/// Whether a full-screen view is open.
static OPEN: AtomicBool = AtomicBool::new(false);
/// Whether the process was stopped and continued while a view was open.
static CONTINUED: AtomicBool = AtomicBool::new(false);

/// The alternate screen (xterm's private mode 1049) without a cursor.
const BEGIN: &[u8] = b"\x1b[?1049h\x1b[?25l";
const END: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// Opens a full-screen view: the alternate screen, and keys as they are typed. A panic, a stop (SIGTSTP) and the
/// signals that [`crate::interrupt`] catches close it.
pub fn open_screen() -> std::io::Result<()> {
    // SAFETY: both calls fill or read one structure of ours; the descriptor is checked by the kernel.
    let (known, mut raw) = unsafe {
        let mut now: libc::termios = std::mem::zeroed();
        (libc::tcgetattr(libc::STDOUT_FILENO, &raw mut now), now)
    };
    if known != 0 {
        return Err(std::io::Error::last_os_error());
    }
    if SETTINGS.set(raw).is_ok() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            close_screen();
            before(panic);
        }));
    }
    // SAFETY: as above. The handler only calls functions that signal-safety(7) lists.
    unsafe {
        libc::cfmakeraw(&raw mut raw);
        if libc::tcsetattr(libc::STDOUT_FILENO, libc::TCSANOW, &raw const raw) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = stop as extern "C" fn(i32) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGTSTP, &raw const action, std::ptr::null_mut());
    }
    OPEN.store(true, Ordering::SeqCst);
    write(BEGIN);
    Ok(())
}

/// Restores the terminal. Does nothing without an open view. Safe in a signal handler.
pub fn close_screen() {
    if !OPEN.swap(false, Ordering::SeqCst) {
        return;
    }
    write(END);
    if let Some(settings) = SETTINGS.get() {
        // SAFETY: reads one structure of ours.
        unsafe { libc::tcsetattr(libc::STDOUT_FILENO, libc::TCSANOW, settings) };
    }
}

/// Stops the process as Ctrl-Z does, which arrives as a key in a full-screen view.
pub fn suspend() {
    // SAFETY: sends a signal to our own process.
    unsafe { libc::raise(libc::SIGTSTP) };
}

/// Whether the process was stopped and continued since the last call: the view has to be opened again.
pub fn continued() -> bool {
    CONTINUED.swap(false, Ordering::SeqCst)
}

extern "C" fn stop(_: i32) {
    let open = OPEN.load(Ordering::SeqCst);
    close_screen();
    // SAFETY: stops our own process; it continues here.
    unsafe { libc::raise(libc::SIGSTOP) };
    CONTINUED.store(open, Ordering::SeqCst);
}

fn write(bytes: &[u8]) {
    // SAFETY: the pointer and the length are those of one slice.
    unsafe { libc::write(libc::STDOUT_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}
