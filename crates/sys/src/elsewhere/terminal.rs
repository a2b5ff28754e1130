//! The terminal that output goes to.

/// A standard stream that may be a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

/// Columns and rows of the window; None if the stream is not a console.
#[cfg(windows)]
pub fn size(of: Stream) -> Option<(usize, usize)> {
    use std::os::windows::io::AsRawHandle as _;
    /// CONSOLE_SCREEN_BUFFER_INFO: size, cursor, attributes, window (left, top, right, bottom), largest size.
    type Info = [i16; 11];
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetConsoleScreenBufferInfo(console: *mut std::ffi::c_void, info: *mut Info) -> i32;
    }
    let handle = match of {
        Stream::Output => std::io::stdout().as_raw_handle(),
        Stream::Errors => std::io::stderr().as_raw_handle(),
    };
    let mut info: Info = [0; 11];
    // SAFETY: fills a structure of 22 bytes; a handle that is not a console is an error of the call.
    if unsafe { GetConsoleScreenBufferInfo(handle.cast(), &raw mut info) } == 0 {
        return None;
    }
    let [.., left, top, right, bottom, _, _] = info;
    let span = |from: i16, to: i16| usize::try_from(i32::from(to) - i32::from(from) + 1).ok();
    Some((span(left, right)?, span(top, bottom)?))
}

#[cfg(not(windows))]
pub fn size(_: Stream) -> Option<(usize, usize)> {
    None
}

/// There is nothing to watch live on other systems.
pub fn open_screen() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub fn close_screen() {}

pub fn suspend() {}

pub fn continued() -> bool {
    false
}
