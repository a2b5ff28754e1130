//! Writes lines to a file beside the stand-in's own, and reads information about this process from the C library.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt;

const O_WRONLY: c_int = 1;
const O_CREAT: c_int = 0o100;
const O_EXCL: c_int = 0o200;
const O_NOFOLLOW: c_int = 0o400_000;
const O_CLOEXEC: c_int = 0o2_000_000;
const CLOCK_MONOTONIC: c_int = 1;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int;
    fn write(file: c_int, from: *const c_void, length: usize) -> isize;
    fn getpid() -> c_int;
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

/// The same clock that the stand-in GPU uses.
pub fn now_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanos: 0 };
    // SAFETY: the structure lives for the call.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    (time.seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(time.nanos as u64)
}

pub fn process() -> c_int {
    // SAFETY: no arguments.
    unsafe { getpid() }
}

/// SAFETY: `text` must be null or a string that stays valid.
pub unsafe fn c_string(text: *const c_char) -> &'static [u8] {
    // SAFETY: guaranteed by the caller.
    if text.is_null() { b"" } else { unsafe { CStr::from_ptr(text) }.to_bytes() }
}

/// The buffered text to write.
pub struct Text {
    file: c_int,
    /// The process that the file belongs to: a forked child has its own.
    of: c_int,
    length: usize,
    bytes: [u8; 1 << 16],
}

impl Text {
    pub const fn new() -> Text {
        Text { file: -1, of: 0, length: 0, bytes: [0; 1 << 16] }
    }

    /// `graph.PID` in the directory that the variable names.
    pub fn open(&mut self) -> bool {
        if self.of == process() {
            return self.file >= 0;
        }
        (self.of, self.length, self.file) = (process(), 0, -1);
        // SAFETY: the name is NUL-terminated.
        let directory = unsafe { c_string(getenv(c"WHICHKERNEL_GRAPHS".as_ptr())) };
        if directory.is_empty() {
            return false;
        }
        directory.iter().for_each(|byte| self.byte(*byte));
        let _ = fmt::Write::write_fmt(self, format_args!("/graph.{}\0", process()));
        // SAFETY: the buffer contains a NUL-terminated string.
        let file = unsafe { open(self.bytes.as_ptr().cast(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) };
        self.length = 0;
        self.file = file;
        file >= 0
    }

    pub fn flush(&mut self) {
        let mut done = 0;
        while let Some(rest) = self.bytes.get(done..self.length).filter(|rest| !rest.is_empty()) {
            // SAFETY: a part of the buffer.
            let wrote = unsafe { write(self.file, rest.as_ptr().cast(), rest.len()) };
            let Some(wrote) = usize::try_from(wrote).ok().filter(|wrote| *wrote > 0) else {
                // Nothing more is written: otherwise an incomplete graph would get an end line.
                self.file = -1;
                break;
            };
            done += wrote;
        }
        self.length = 0;
    }

    pub fn byte(&mut self, byte: u8) {
        if self.length == self.bytes.len() {
            self.flush();
        }
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    /// A name without characters that would end it.
    pub fn word(&mut self, word: &[u8]) {
        for byte in word {
            self.byte(if byte.is_ascii_graphic() && !matches!(byte, b'#' | b',' | b'+' | b'@') { *byte } else { b'_' });
        }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.byte(byte));
        Ok(())
    }
}
