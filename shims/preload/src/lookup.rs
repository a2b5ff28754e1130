//! Function lookup: programs that look up a launch function by name get the wrapper.
//!
//! The CUDA runtime (also when linked statically) and Triton use `dlsym` and `cuGetProcAddress`. `dlsym` and `dlvsym`
//! are replaced by a few instructions that jump to the real one with the caller's own return address in place, because
//! RTLD_NEXT and RTLD_DEFAULT depend on the caller.

use crate::wrapped::{self, Wrapped};
use crate::{blind, image, start, unknown};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

macro_rules! asks {
    ($name:literal, $real:ident, $version:literal) => {
        core::arch::global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "endbr64",
            "push rdi",
            "push rsi",
            "push rdx",
            $version,
            "mov rcx, qword ptr [rsp + 24]",
            "call {instead}",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "test rax, rax",
            "jnz 2f",
            "mov rax, qword ptr [rip + {real}]",
            "test rax, rax",
            "jz 2f",
            "jmp rax",
            "2: ret",
            concat!(".size ", $name, ", . - ", $name),
            instead = sym instead,
            real = sym $real,
        );
    };
}

asks!("dlsym", DLSYM, "xor edx, edx");
asks!("dlvsym", DLVSYM, "nop");

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;
const RTLD_NOW: c_int = 2;
const RTLD_NOLOAD: c_int = 4;

static DLSYM: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static DLVSYM: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Dlvsym = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;

/// Both, from the next library after us: another wrapper may precede the C library's.
fn loader() -> Option<(Dlsym, Dlvsym)> {
    if DLSYM.load(Ordering::Acquire).is_null() {
        let own = image::of_libc(b"dlvsym");
        if own == 0 {
            return None;
        }
        // SAFETY: the C library's function of that name.
        let own = unsafe { core::mem::transmute::<usize, Dlvsym>(own) };
        for (name, to) in [(c"dlvsym", &DLVSYM), (c"dlsym", &DLSYM)] {
            // glibc 2.34 moved them to a new version, and keeps the old ones.
            let found = [c"GLIBC_2.2.5", c"GLIBC_2.34"]
                .map(|version| {
                    // SAFETY: only queries the loader.
                    unsafe { own(RTLD_NEXT, name.as_ptr(), version.as_ptr()) }
                })
                .into_iter()
                .find(|found| !found.is_null());
            to.store(found.unwrap_or(core::ptr::null_mut()), Ordering::Release);
        }
    }
    let (plain, versioned) = (DLSYM.load(Ordering::Acquire), DLVSYM.load(Ordering::Acquire));
    // SAFETY: the functions of these names.
    (!plain.is_null() && !versioned.is_null())
        .then(|| unsafe { (core::mem::transmute::<*mut c_void, Dlsym>(plain), core::mem::transmute::<*mut c_void, Dlvsym>(versioned)) })
}

fn dlsym() -> Option<Dlsym> {
    loader().map(|(plain, _)| plain)
}

/// The replacement result of `dlsym` or, with a version, `dlvsym`; null to let the real function answer.
extern "C" fn instead(handle: *mut c_void, name: *const c_char, version: *const c_char, caller: usize) -> *mut c_void {
    let null = core::ptr::null_mut();
    let Some((plain, versioned)) = loader() else { return null };
    if name.is_null() {
        return null;
    }
    // SAFETY: the caller's own question.
    let ask = || unsafe { if version.is_null() { plain(handle, name) } else { versioned(handle, name, version) } };
    // SAFETY: the caller's string.
    let text = unsafe { CStr::from_ptr(name) }.to_bytes();
    let Some(wrapped) = wrapped::by_name(text) else {
        if !unknown::is_suspect(text) {
            return null;
        }
        // RTLD_NEXT would be resolved relative to us instead of the caller: any function of that name will do.
        let found = if handle == RTLD_NEXT { next(unsafe { CStr::from_ptr(name) }) } else { ask() };
        if unknown::is_unseen(text, found as usize) {
            start();
            unknown::say(text);
        }
        return null;
    };
    // A lookup in all libraries, or by version, finds the defining library instead of us. RTLD_NEXT starts after the
    // caller, and the caller may be after us. A caller that defines the function itself is a wrapper like us: its
    // lookup is not a use.
    let among_all = handle == RTLD_NEXT || (handle.is_null() && !version.is_null());
    if among_all {
        let stands_before = image::holding(caller).is_none_or(|image| image.defines(text).is_some());
        if stands_before || wrapped::behind(wrapped.real, wrapped.name).is_null() {
            return null;
        }
        start();
        return wrapped.wrapper.cast_mut();
    }
    // A lookup by name alone searches in an order in which we come first.
    if handle.is_null() {
        return null;
    }
    let found = ask();
    if found.is_null() {
        return null;
    }
    start();
    let wrapper = wrapped.instead_of(found);
    if wrapper.is_null() && unknown::is_unseen(text, found as usize) {
        unknown::say(text);
    }
    wrapper
}

/// The next definition of `name` after this library, in the loader's order.
pub fn next(name: &CStr) -> *mut c_void {
    // SAFETY: only queries the loader; RTLD_NEXT counts from this library.
    dlsym().map_or(core::ptr::null_mut(), |dlsym| unsafe { dlsym(RTLD_NEXT, name.as_ptr()) })
}

/// A library that the process has already loaded; null if it has not.
pub fn loaded(path: &CStr) -> *mut c_void {
    open(path.as_ptr())
}

pub fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle from `loaded`.
    dlsym().map_or(core::ptr::null_mut(), |dlsym| unsafe { dlsym(library, name.as_ptr()) })
}

/// Keeps the library that contains `address` loaded.
pub fn pin(address: *mut c_void) {
    let dladdr = image::of_libc(b"dladdr");
    if dladdr == 0 {
        return;
    }
    let mut info =
        DlInfo { file: core::ptr::null(), base: core::ptr::null_mut(), symbol: core::ptr::null(), address: core::ptr::null_mut() };
    // SAFETY: the C library's function; the structure lives for the call; the name is the loader's.
    unsafe {
        type Dladdr = unsafe extern "C" fn(*const c_void, *mut DlInfo) -> c_int;
        if core::mem::transmute::<usize, Dladdr>(dladdr)(address, &raw mut info) != 0 && !info.file.is_null() {
            open(info.file);
        }
    }
}

/// Takes another handle on a loaded library; loads nothing.
fn open(path: *const c_char) -> *mut c_void {
    static DLOPEN: AtomicUsize = AtomicUsize::new(0);
    let mut dlopen = DLOPEN.load(Ordering::Acquire);
    if dlopen == 0 {
        dlopen = image::of_libc(b"dlopen");
        DLOPEN.store(dlopen, Ordering::Release);
    }
    if dlopen == 0 {
        return core::ptr::null_mut();
    }
    type Dlopen = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
    // SAFETY: the C library's function of that name, and a string.
    unsafe { core::mem::transmute::<usize, Dlopen>(dlopen)(path, RTLD_NOW | RTLD_NOLOAD) }
}

/// Replaces the function that a runtime returned for `name` by its wrapper; per-thread-stream variants have separate
/// wrappers.
///
/// SAFETY: `to` must contain the value that the runtime has just written.
unsafe fn exchange(name: *const c_char, to: *mut *mut c_void) {
    if name.is_null() || to.is_null() {
        return;
    }
    // SAFETY: the caller's string and variable.
    let (name, real) = unsafe { (CStr::from_ptr(name).to_bytes(), *to) };
    let mut known = false;
    for ending in [&b""[..], b"_v2", b"_ptsz", b"_ptds", b"_v2_ptsz", b"_v2_ptds", b"_spt", b"WithFlags"] {
        let fits = |wrapped: &&Wrapped| {
            let full = wrapped.name.to_bytes();
            full.len() == name.len() + ending.len() && full.starts_with(name) && full.ends_with(ending)
        };
        let Some(wrapped) = wrapped::TABLE.iter().find(fits) else { continue };
        known = true;
        // A runtime that looks up its own functions through the loader already returns the wrapper.
        if real.cast_const() == wrapped.wrapper {
            return;
        }
        // An exported symbol of exactly that name is the best evidence; a variant has its own address.
        let own = symbol_of(wrapped, real);
        if own == Some(false) {
            continue;
        }
        let wrapper = wrapped.instead_of(real);
        if !wrapper.is_null() {
            // SAFETY: the caller's variable.
            unsafe { *to = wrapper };
            return;
        }
    }
    // A copy launches nothing, so an old form that is not followed hides no launch.
    if known && !name.windows(6).any(|part| part == b"Memcpy") {
        blind(name);
    } else if unknown::launches(name) {
        unknown::say(name);
    }
}

/// Whether `real` is the library's exported function of the wrapped name; None if it exports none.
fn symbol_of(wrapped: &Wrapped, real: *mut c_void) -> Option<bool> {
    let library = loaded(if wrapped.name.to_bytes().starts_with(b"cu") { c"libcuda.so.1" } else { c"libamdhip64.so.6" });
    if library.is_null() {
        return None;
    }
    let exported = symbol(library, wrapped.name);
    (!exported.is_null()).then_some(exported == real)
}

wrap! {
    fn cuGetProcAddress(name: *const c_char, to: *mut *mut c_void, version: c_int, flags: u64, more: *mut c_void) -> u32,
        or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, version, flags, more) };
        if status == 0 {
            // SAFETY: the driver has just written it.
            unsafe { exchange(name, to) };
        }
        status
    }
    fn cuGetProcAddress_v2(name: *const c_char, to: *mut *mut c_void, version: c_int, flags: u64, more: *mut c_void) -> u32,
        or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, version, flags, more) };
        if status == 0 {
            // SAFETY: the driver has just written it.
            unsafe { exchange(name, to) };
        }
        status
    }
    fn hipGetProcAddress(name: *const c_char, to: *mut *mut c_void, version: c_int, flags: u64, more: *mut c_void) -> u32,
        or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, version, flags, more) };
        if status == 0 {
            // SAFETY: the runtime has just written it.
            unsafe { exchange(name, to) };
        }
        status
    }
    fn cudaGetDriverEntryPoint(name: *const c_char, to: *mut *mut c_void, flags: u64, more: *mut c_void) -> u32, or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, flags, more) };
        // SAFETY: the runtime has just written it.
        unsafe { exchange_found(status, name, to) };
        status
    }
    fn cudaGetDriverEntryPoint_ptsz(name: *const c_char, to: *mut *mut c_void, flags: u64, more: *mut c_void) -> u32, or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, flags, more) };
        // SAFETY: the runtime has just written it.
        unsafe { exchange_found(status, name, to) };
        status
    }
    fn cudaGetDriverEntryPointByVersion(name: *const c_char, to: *mut *mut c_void, version: u32, flags: u64, more: *mut c_void) -> u32,
        or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, version, flags, more) };
        // SAFETY: the runtime has just written it.
        unsafe { exchange_found(status, name, to) };
        status
    }
    fn cudaGetDriverEntryPointByVersion_ptsz(
        name: *const c_char, to: *mut *mut c_void, version: u32, flags: u64, more: *mut c_void,
    ) -> u32, or 801; |real| {
        // SAFETY: forwards the caller's own arguments.
        let status = unsafe { real(name, to, version, flags, more) };
        // SAFETY: the runtime has just written it.
        unsafe { exchange_found(status, name, to) };
        status
    }
}

/// The runtime returns null without an error for a name that the driver does not have.
///
/// SAFETY: as `exchange`.
unsafe fn exchange_found(status: u32, name: *const c_char, to: *mut *mut c_void) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if status == 0 && !to.is_null() && !(*to).is_null() {
            exchange(name, to);
        }
    }
}
