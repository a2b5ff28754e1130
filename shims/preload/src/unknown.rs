//! Launch functions without a wrapper: recognised by their names, so that a newer runtime causes a reported gap instead of
//! silence.
//!
//! A function that no loaded library imports and that was not looked up by name is not called. So the imports of all loaded
//! libraries are searched: when a runtime appears, when kernels are registered, when a graph becomes executable, and at the end.

use crate::lock::Lock;
use crate::image::{self, Image};
use crate::{blind, sys, trace, wrapped};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The maximum number of separate names; further ones are not reported.
const MOST: usize = 64;

/// Whether the name is that of a function that launches GPU kernels. Host functions are excluded; higher-level
/// libraries launch through the runtime.
pub fn launches(name: &[u8]) -> bool {
    const ABOVE: [&[u8]; 7] = [b"hipblas", b"hipsparse", b"cublas", b"cudnn", b"cusparse", b"cufft", b"cusolver"];
    let has = |what: &[u8]| name.windows(what.len()).any(|part| part == what);
    (name.starts_with(b"hip") || name.starts_with(b"cu") || (name.starts_with(b"_Z") && has(b"hip")))
        && has(b"Launch")
        && !has(b"LaunchHostFunc")
        && !ABOVE.iter().any(|above| name.starts_with(above))
}

/// Whether the name is that of a BLAS function for a product. If it is not wrapped, its kernels are seen, but not the
/// call.
fn multiplies(name: &[u8]) -> bool {
    let has = |what: &[u8]| name.windows(what.len()).any(|part| part == what);
    // Descriptors, heuristics and workspace sizes have longer names.
    let matmul = [&b"cublasLtMatmul"[..], b"hipblasLtMatmul", b"hipblasLtExtMatmul"].contains(&name);
    matmul
        || (name.starts_with(b"rocblas_") && has(b"gemm"))
        || (!name.starts_with(b"cublasLt")
            && !name.starts_with(b"hipblasLt")
            && (name.starts_with(b"cublas") || name.starts_with(b"hipblas"))
            && (has(b"emm") || has(b"Matmul")))
}

/// Whether the function can be called but is not wrapped: a launch function of a runtime, or a product of a BLAS
/// library.
pub fn is_unseen(name: &[u8], function: usize) -> bool {
    let Some(image) = image::holding(function) else { return false };
    // Other libraries may give their own functions any name.
    (is_runtime(&image) && launches(name)) || (is_blas(image.soname()) && multiplies(name))
}

/// Recognised by its exports, because packagers choose a runtime's name.
fn is_runtime(image: &Image) -> bool {
    [&b"hipLaunchKernel"[..], b"cudaLaunchKernel", b"cuLaunchKernel"].iter().any(|name| image.defines(name).is_some())
}

/// Whether its address should be looked up.
pub fn is_suspect(name: &[u8]) -> bool {
    launches(name) || multiplies(name)
}

/// Recognised by the SONAME, because the file may have any name.
fn is_blas(soname: &[u8]) -> bool {
    [&b"librocblas"[..], b"libhipblas", b"libcublas"].iter().any(|name| soname.starts_with(name))
}

/// Reports once per process that this function can be called and is not wrapped.
pub fn say(name: &[u8]) {
    static SAID: [(AtomicU64, AtomicU32); MOST] = [const { (AtomicU64::new(0), AtomicU32::new(0)) }; MOST];
    let hash = crate::record::fnv(crate::record::FNV, name).max(1);
    let ours = |(known, _): &&(AtomicU64, AtomicU32)| {
        known.load(Ordering::Acquire) == hash
            || known.compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire).is_ok()
    };
    let Some((_, generation)) = SAID.iter().find(ours) else { return };
    let now = trace::generation().load(Ordering::Acquire);
    if generation.swap(now, Ordering::AcqRel) != now {
        blind(name);
    }
}

/// The found imports, pointing into the libraries' own tables.
struct Found {
    names: [*const c_char; MOST],
    count: usize,
}

static LOOKING: Lock<()> = Lock::new(());
/// The number of loaded libraries at the last full search.
static LOOKED: AtomicU64 = AtomicU64::new(0);
/// Imported launch functions that no library defined yet.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Searches the loaded libraries, if there are new ones.
#[cold]
pub fn look() {
    if sys::sealed() {
        return;
    }
    let Some(guard) = LOOKING.try_lock() else { return };
    let mut loaded = 0_u64;
    // SAFETY: the callback writes to the variable, and stops at the first.
    unsafe { sys::dl_iterate_phdr(count, (&raw mut loaded).cast()) };
    if LOOKED.swap(loaded, Ordering::AcqRel) != loaded || WAITING.load(Ordering::Acquire) != 0 {
        let mut found = Found { names: [core::ptr::null(); MOST], count: 0 };
        // SAFETY: as above.
        unsafe { sys::dl_iterate_phdr(each, (&raw mut found).cast()) };
        let mut waiting = 0;
        for name in found.names.iter().take(found.count) {
            // SAFETY: a name in a library's table; another thread may close the library only while none of its code
            // runs.
            let name = unsafe { CStr::from_ptr(*name) };
            match wrapped::unwrapped(name) as usize {
                0 => waiting += 1,
                at if is_unseen(name.to_bytes(), at) => say(name.to_bytes()),
                _ => {}
            }
        }
        WAITING.store(waiting, Ordering::Release);
    }
    drop(guard);
}

/// In a forked child the owner of the lock does not exist, and its own file is still empty.
pub fn after_fork() {
    LOOKING.reset();
    LOOKED.store(0, Ordering::Release);
}

extern "C" fn count(info: *mut sys::DlPhdrInfo, size: usize, data: *mut c_void) -> c_int {
    // SAFETY: glibc's structure, whose size glibc passes; the variable belongs to `look`.
    unsafe {
        if size >= size_of::<sys::DlPhdrInfo>() {
            *data.cast::<u64>() = (*info).adds;
        }
    }
    1
}

extern "C" fn each(info: *mut sys::DlPhdrInfo, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader's list, and the structure that belongs to `look`.
    let (image, found) = unsafe { (Image::of(&*info), &mut *data.cast::<Found>()) };
    let Some(image) = image else { return 0 };
    // A call from one BLAS library to another is part of the program's call.
    let inside = is_blas(image.soname());
    image.imports(|name| {
        // SAFETY: a string of the table.
        if !matches!(unsafe { name.read() } as u8, b'h' | b'c' | b'r' | b'_') {
            return;
        }
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(name) }.to_bytes();
        // Half of the space is reserved for launch functions: some programs import every product function.
        let product = !inside && found.count < MOST / 2 && multiplies(text);
        if (launches(text) || product) && wrapped::by_name(text).is_none() && let Some(to) = found.names.get_mut(found.count) {
            *to = name;
            found.count += 1;
        }
    });
    0
}
