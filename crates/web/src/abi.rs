//! The C interface of the module: the page writes a question into memory, calls, and reads the answer from memory.
//!
//! All `unsafe` of this crate is here: the exported functions and the two functions that the page provides.
#![expect(unsafe_code, reason = "a WebAssembly module exports and imports functions by name")]

use crate::Opened;
use codeobject::{Error, Problem, ReadAt, check_range};
use say::say;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Copies `len` bytes of the page's file to `to`; 0 if they could not be read.
    fn read(offset: f64, len: u32, to: *mut u8) -> u32;
}

/// The file that the page holds.
#[derive(Debug)]
struct PageFile {
    len: u64,
}

impl ReadAt for PageFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self, offset: u64, len: u64, field: &'static str) -> codeobject::Result<Cow<'_, [u8]>> {
        check_range(self.len, offset, len, field)?;
        let unreadable = |why| Error::new(offset, field, Problem::Unreadable(why));
        let size = usize::try_from(len).map_err(|_| unreadable(say!("codeobject-too-large")))?;
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(size).map_err(|_| unreadable(say!("codeobject-too-large")))?;
        buffer.resize(size, 0);
        self.read_into(offset, &mut buffer, field)?;
        Ok(Cow::Owned(buffer))
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8], field: &'static str) -> codeobject::Result<()> {
        check_range(self.len, offset, buffer.len() as u64, field)?;
        if buffer.is_empty() {
            return Ok(());
        }
        // SAFETY: the page writes at most `buffer.len()` bytes to the buffer, which is borrowed for the call. A file has
        // fewer than 2^53 bytes, so its offsets are exact as f64.
        let done = unsafe { read(offset as f64, buffer.len() as u32, buffer.as_mut_ptr()) };
        if done == 0 {
            return Err(Error::new(offset, field, Problem::Unreadable(say!("web-not-read"))));
        }
        Ok(())
    }
}

thread_local! {
    static OPENED: RefCell<Option<Opened>> = const { RefCell::new(None) };
}

/// Memory for a question of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: u32) -> *mut u8 {
    Box::into_raw(vec![0_u8; len as usize].into_boxed_slice()).cast()
}

/// Frees the memory of an answer.
///
/// # Safety
/// `at` and `len` come from [`ask`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(at: *mut u8, len: u32) {
    // SAFETY: the caller passes what `ask` returned, once.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len as usize)) });
}

/// Answers the question in memory, and frees it. `file`: the length of the page's file, or a negative number. Returns
/// the address (high half) and the length of the answer.
///
/// # Safety
/// `at` and `len` come from [`alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(at: *mut u8, len: u32, file: f64) -> u64 {
    // SAFETY: the caller passes what `alloc` returned, once.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len as usize)) };
    let question = String::from_utf8_lossy(&question);
    let source = (file >= 0.0).then(|| Arc::new(PageFile { len: file as u64 }) as Arc<dyn ReadAt + Send>);
    let answer = OPENED.with_borrow_mut(|opened| crate::ask(&question, opened, source));
    let answer = answer.into_bytes().into_boxed_slice();
    let len = answer.len() as u64;
    (Box::into_raw(answer).cast::<u8>() as u64) << 32 | len
}
