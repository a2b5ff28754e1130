//! Ways around the wrappers. A library that is opened with RTLD_DEEPBIND or into its own namespace does not find them, which is
//! recorded when it is opened. When the process ends, the writable segments of all loaded libraries are searched for addresses of
//! launch functions: a holder of one can call it directly.

use crate::image::Image;
use crate::lock::Lock;
use crate::record::{Text, kind};
use crate::{blind, lookup, start, sys, trace, unknown, wrapped};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// Calls `hook` with the caller's arguments, and jumps to the result with the caller's own return address in place: the loader's
/// search depends on the caller.
macro_rules! before {
    ($name:literal, $hook:ident) => {
        core::arch::global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "endbr64",
            "push rdi",
            "push rsi",
            "push rdx",
            "call {hook}",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "test rax, rax",
            "jz 2f",
            "jmp rax",
            "2: ret",
            concat!(".size ", $name, ", . - ", $name),
            hook = sym $hook,
        );
    };
}

before!("dlopen", opening);
before!("dlmopen", opening_apart);

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static DLMOPEN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static EXIT: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

fn real(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = cache.load(Ordering::Acquire);
    if !known.is_null() {
        return known;
    }
    let found = lookup::next(name);
    cache.store(found, Ordering::Release);
    found
}

extern "C" fn opening(path: *const c_char, flags: c_int) -> *mut c_void {
    const DEEPBIND: c_int = 8;
    if flags & DEEPBIND != 0 && !path.is_null() {
        say(b"RTLD_DEEPBIND ", path);
    }
    real(&DLOPEN, c"dlopen")
}

extern "C" fn opening_apart(namespace: isize, path: *const c_char, _: c_int) -> *mut c_void {
    // LM_ID_BASE is the program's own.
    if namespace != 0 && !path.is_null() {
        say(b"dlmopen ", path);
    }
    real(&DLMOPEN, c"dlmopen")
}

#[cold]
fn say(how: &[u8], name: *const c_char) {
    start();
    // SAFETY: a string of the caller or of a library's table.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let mut text = [0; 512];
    let len = how.len().saturating_add(name.len()).min(text.len());
    for (to, from) in text.iter_mut().zip(how.iter().chain(name)) {
        *to = *from;
    }
    blind(text.get(..len).unwrap_or(how));
}

/// The process that owns the record: a forked child may hold a loader lock that is never released, and a vforked child
/// shares its parent's memory.
static OWNER: AtomicU32 = AtomicU32::new(0);
static FORKED: AtomicBool = AtomicBool::new(false);

pub fn begin() {
    // SAFETY: no arguments.
    OWNER.store(unsafe { sys::getpid() } as u32, Ordering::Release);
}

pub fn after_fork() {
    FORKED.store(true, Ordering::Release);
    TARGETS.reset();
}

macro_rules! exits {
    ($($name:ident)*) => {$(
        /// Ends the process without the exit functions that search it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(code: c_int) -> ! {
            // SAFETY: no arguments.
            if !sys::sealed() && !FORKED.load(Ordering::Acquire) && OWNER.load(Ordering::Acquire) == unsafe { sys::getpid() } as u32 {
                at_the_end();
            }
            let real = real(&EXIT, c"_exit");
            if !real.is_null() {
                // SAFETY: the C library's function of that name.
                unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(real)(code) };
            }
            sys::end(code)
        }
    )*};
}

exits! { _exit _Exit }

/// The maximum number of addresses of foreign launch functions.
const MOST: usize = 256;
struct Targets {
    list: [(usize, *const c_char); MOST],
    count: usize,
    low: usize,
    high: usize,
    /// Whether a segment could not be read.
    failed: bool,
    /// The number of reported names; each is reported once.
    said: usize,
}
// SAFETY: addresses of functions, and names that stay valid forever.
unsafe impl Send for Targets {}

static TARGETS: Lock<Targets> = Lock::new(Targets {
    list: [(0, core::ptr::null()); MOST], count: 0, low: usize::MAX, high: 0, failed: false, said: 0,
});

/// Passes the launch functions that an image defines to `each`. Nothing for our own image.
fn launch_functions(image: &Image, mut each: impl FnMut(usize, *const c_char)) {
    for known in wrapped::TABLE.iter().filter(|known| unknown::launches(known.name.to_bytes())) {
        match image.defines(known.name.to_bytes()) {
            Some(at) if at == known.wrapper as usize => return,
            Some(at) => each(at, known.name.as_ptr()),
            None => {}
        }
    }
}

extern "C" fn gather(info: *mut sys::DlPhdrInfo, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's entry, and the structure of `at_the_end`.
    let (image, targets) = unsafe { (Image::of(&*info), &mut *data.cast::<Targets>()) };
    if let Some(image) = image {
        launch_functions(&image, |at, name| {
            if let Some(to) = targets.list.get_mut(targets.count) {
                *to = (at, name);
                targets.count += 1;
                (targets.low, targets.high) = (targets.low.min(at), targets.high.max(at));
            }
        });
    }
    0
}

/// A library that defines such a function is a runtime, or a wrapper like this one.
extern "C" fn search(info: *mut sys::DlPhdrInfo, _: usize, data: *mut c_void) -> c_int {
    const LOAD: u32 = 1;
    const WRITABLE: u32 = 2;
    // SAFETY: as above.
    let (info, targets) = unsafe { (&*info, &mut *data.cast::<Targets>()) };
    // SAFETY: the loader's entry.
    let Some(image) = (unsafe { Image::of(info) }) else { return 0 };
    let mut defines = image.defines(b"hipLaunchKernel").is_some();
    launch_functions(&image, |_, _| defines = true);
    if defines {
        return 0;
    }
    for place in 0..usize::from(info.count) {
        // SAFETY: the loader's list.
        let header = unsafe { &*info.headers.add(place) };
        if header.kind == LOAD && header.flags & WRITABLE != 0 {
            let from = (info.base + header.vaddr as usize).next_multiple_of(8);
            words(from, info.base + (header.vaddr + header.memsz) as usize, targets, info.name);
        }
    }
    0
}

/// Reads through the kernel, because a program may have unmapped pages of its own libraries.
fn words(mut from: usize, to: usize, targets: &mut Targets, holder: *const c_char) {
    let mut page = [0_usize; 256];
    while from < to {
        let len = (to - from).min(size_of_val(&page)) & !7;
        if len == 0 {
            return;
        }
        if !sys::read_own(from, page.as_mut_ptr().cast(), len) {
            targets.failed = true;
            return;
        }
        for word in page.iter().take(len / 8).filter(|word| (targets.low..=targets.high).contains(word)) {
            let found = targets.list.iter().take(targets.count).find(|(at, _)| at == word);
            if let Some((_, name)) = found.filter(|_| targets.said < 16) {
                targets.said += 1;
                say(b"held:", *name);
                say(b"holder:", holder);
            }
        }
        from += len;
    }
}

/// The libraries loaded last may not have been covered by earlier searches of imports.
extern "C" fn at_the_end() {
    if sys::sealed() {
        return;
    }
    let Some(mut targets) = TARGETS.try_lock() else { return };
    (targets.count, targets.low, targets.high, targets.failed) = (0, usize::MAX, 0, false);
    let data: *mut Targets = &mut *targets;
    // SAFETY: the callback writes to the locked structure.
    unsafe { sys::dl_iterate_phdr(gather, data.cast()) };
    // A forked child has the same libraries as its parent, and no record if it called nothing.
    if !trace::is_open() && (targets.count == 0 || FORKED.load(Ordering::Acquire)) {
        return;
    }
    if trace::is_open() {
        unknown::look();
    }
    let data: *mut Targets = &mut *targets;
    // SAFETY: as above.
    unsafe { sys::dl_iterate_phdr(search, data.cast()) };
    if targets.failed || targets.count == MOST {
        return;
    }
    if trace::is_open() {
        // This is not a record of a launch: if there is no space for it, no launch is lost.
        let text = Text { len: SEARCHED.len() as u32, reserved: 0 };
        trace::try_write(kind::UNSUPPORTED, &[trace::bytes(&text), SEARCHED]);
    } else {
        idle();
    }
}

const SEARCHED: &[u8] = b"end:searched";

/// A process that has a runtime but called nothing has no record: an empty file `idle.PID` shows that it was searched.
fn idle() {
    let Some(directory) = sys::env(c"WHICHKERNEL_PRELOAD") else { return };
    let mut path = [0; 1024];
    let mut digits = [0; 10];
    // SAFETY: no arguments.
    let (mut rest, mut from) = (unsafe { sys::getpid() } as u32, digits.len());
    while rest > 0 {
        from -= 1;
        if let Some(digit) = digits.get_mut(from) {
            *digit = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
    }
    let text = directory.to_bytes().iter().chain(b"/idle.").chain(digits.get(from..).unwrap_or(&[]));
    // One byte is reserved for the end of the string.
    for (to, byte) in path.iter_mut().take(1023).zip(text) {
        *to = *byte;
    }
    if let Ok(path) = CStr::from_bytes_until_nul(&path) {
        sys::create(path);
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C" fn() = at_the_end;
