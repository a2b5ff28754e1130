//! The few C library calls that the shims make. Nothing newer than GLIBC_2.17, so that they load into old distributions.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const MAP_NORESERVE: c_int = 0x4000;
const O_RDWR: c_int = 2;
const O_CREAT: c_int = 0o100;
const O_EXCL: c_int = 0o200;
const O_NOFOLLOW: c_int = 0o400_000;
const O_CLOEXEC: c_int = 0o2_000_000;
const CLOCK_MONOTONIC: c_int = 1;
const CLOCK_MONOTONIC_COARSE: c_int = 6;
const MAP_FIXED: c_int = 0x10;
const MADV_POPULATE_WRITE: c_int = 23;
const SYS_MADVISE: i64 = 28;
const SYS_SIGPROCMASK: i64 = 14;
const SYS_PWRITE: i64 = 18;
const SYS_GETTID: i64 = 186;
const SYS_FALLOCATE: i64 = 285;

/// The program has restricted its system calls in an unknown way, so no more are made on its behalf.
static SEALED: AtomicBool = AtomicBool::new(false);

#[allow(dead_code, reason = "only the preload shim sees it coming")]
pub fn seal() {
    SEALED.store(true, Ordering::Release);
}

#[inline]
pub fn sealed() -> bool {
    SEALED.load(Ordering::Acquire)
}

#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanos: i64,
}

/// `struct dl_phdr_info`; newer versions of glibc may extend it at the end.
#[repr(C)]
pub struct DlPhdrInfo {
    pub base: usize,
    pub name: *const c_char,
    pub headers: *const Phdr,
    pub count: u16,
    /// The number of libraries that were ever loaded.
    pub adds: u64,
}

#[repr(C)]
pub struct Phdr {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub vaddr: u64,
    pub paddr: u64,
    pub filesz: u64,
    pub memsz: u64,
    pub align: u64,
}

unsafe extern "C" {
    pub fn mmap(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    pub fn munmap(at: *mut c_void, len: usize) -> c_int;
    fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn syscall(number: i64, a: i64, b: i64, c: i64, d: i64) -> i64;
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    fn readlink(path: *const c_char, buffer: *mut u8, len: usize) -> isize;
    fn realpath(path: *const c_char, buffer: *mut u8) -> *const c_char;
    pub fn getpid() -> c_int;
    pub fn getppid() -> c_int;
    fn sched_yield() -> c_int;
    fn process_vm_readv(pid: c_int, to: *const [usize; 2], tos: u64, from: *const [usize; 2], froms: u64, flags: u64) -> isize;
    pub fn dl_iterate_phdr(each: extern "C" fn(*mut DlPhdrInfo, usize, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        dso: *const c_void,
    ) -> c_int;
}

/// The time of the last clock tick, at most a few milliseconds old. It costs a third of the exact time, on the path of
/// every launch.
#[allow(dead_code, reason = "only the preload shim must be that quick")]
pub fn coarse_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanos: 0 };
    // SAFETY: the structure lives for the call.
    unsafe { clock_gettime(CLOCK_MONOTONIC_COARSE, &mut time) };
    (time.seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(time.nanos as u64)
}

pub fn now_ns() -> u64 {
    let mut time = Timespec { seconds: 0, nanos: 0 };
    // SAFETY: the structure lives for the call.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    (time.seconds as u64).wrapping_mul(1_000_000_000).wrapping_add(time.nanos as u64)
}

pub fn thread_id() -> u32 {
    if sealed() {
        // An id that is unique to this thread and no system thread id.
        return 1 << 31 | (crate::tls::block() as usize >> 4) as u32;
    }
    // SAFETY: a system call without arguments.
    unsafe { syscall(SYS_GETTID, 0, 0, 0, 0) as u32 }
}

pub fn pause() {
    if sealed() {
        return core::hint::spin_loop();
    }
    // SAFETY: no arguments.
    unsafe { sched_yield() };
}

/// The current value of an environment variable.
pub fn env(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: `name` is NUL-terminated; the result is null or a string of the environment.
    unsafe {
        let value = getenv(name.as_ptr());
        if value.is_null() { None } else { Some(CStr::from_ptr(value)) }
    }
}

/// Calls `child` in every child that `fork` makes.
pub fn after_fork(child: extern "C" fn()) {
    // SAFETY: registers a function that lives as long as the process; the library is never unloaded (-z nodelete).
    unsafe { __register_atfork(None, None, Some(child), core::ptr::null()) };
}

/// Zeroed memory that takes no pages until it is touched; null on failure.
pub fn zeroed(len: usize) -> *mut u8 {
    if sealed() {
        return core::ptr::null_mut();
    }
    // SAFETY: a new anonymous mapping.
    let at = unsafe {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        mmap(core::ptr::null_mut(), len.max(1), PROT_READ | PROT_WRITE, flags, -1, 0)
    };
    if at as isize == -1 { core::ptr::null_mut() } else { at.cast() }
}

/// A whole file, mapped read-only for the life of the process.
pub fn map_file(path: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the mapping is permanent, and a handed-over file has no writers.
    unsafe {
        let fd = open(path.as_ptr(), O_CLOEXEC, 0);
        if fd < 0 {
            return None;
        }
        let len = lseek(fd, 0, 2);
        let at = if len > 0 {
            mmap(core::ptr::null_mut(), len as usize, PROT_READ, MAP_PRIVATE, fd, 0)
        } else {
            -1_isize as *mut c_void
        };
        close(fd);
        if at as isize == -1 { None } else { Some(core::slice::from_raw_parts(at.cast(), len as usize)) }
    }
}

/// Maps the first bytes of an existing file for reading and writing, for the life of the process; null on failure.
#[allow(dead_code, reason = "only the stand-in GPU has a page of counters")]
pub fn map_page(path: &CStr, len: usize) -> *mut u8 {
    // SAFETY: `path` is NUL-terminated.
    let fd = unsafe { open(path.as_ptr(), O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0) };
    if fd < 0 {
        return core::ptr::null_mut();
    }
    let at = map_shared(fd, 0, len, core::ptr::null_mut());
    // SAFETY: opened above; the mapping stays.
    unsafe { close(fd) };
    at
}

/// Creates a file; it must not exist.
pub fn create(path: &CStr) -> Option<c_int> {
    // SAFETY: `path` is NUL-terminated.
    let fd = unsafe { open(path.as_ptr(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) };
    (fd >= 0).then_some(fd)
}

/// Closes a file of ours.
#[allow(dead_code, reason = "not every shim needs it")]
pub fn shut(fd: c_int) {
    // SAFETY: our own descriptor, which nothing else uses.
    unsafe { close(fd) };
}

/// Extends a file with real blocks: a write to a mapped hole on a full disk would kill the process, while this call
/// just fails.
pub fn grow(fd: c_int, offset: u64, len: u64) -> bool {
    // SAFETY: plain system call.
    unsafe { syscall(SYS_FALLOCATE, i64::from(fd), 0, offset as i64, len as i64) == 0 }
}

/// `over`: null, or an older mapping of ours of the same length to replace in place.
pub fn map_shared(fd: c_int, offset: u64, len: usize, over: *mut u8) -> *mut u8 {
    let flags = if over.is_null() { MAP_SHARED } else { MAP_SHARED | MAP_FIXED };
    // SAFETY: maps our own file, at a free address or over our own mapping.
    let at = unsafe { mmap(over.cast(), len, PROT_READ | PROT_WRITE, flags, fd, offset as i64) };
    if at as isize == -1 { core::ptr::null_mut() } else { at.cast() }
}

/// Our own memory, separate from the program's heap; null if there is none.
#[allow(dead_code, reason = "not every shim needs it")]
pub fn room(len: usize) -> *mut u8 {
    // SAFETY: a fresh mapping at a free place.
    let at = unsafe { mmap(core::ptr::null_mut(), len.max(1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) };
    if at as isize == -1 { core::ptr::null_mut() } else { at.cast() }
}

/// Runs `work` with all signals of this thread blocked: a handler must not wait for the code that it interrupted.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    const SET: i64 = 2;
    if sealed() {
        return work();
    }
    let (all, mut before) = (u64::MAX, 0_u64);
    // SAFETY: the masks live for the calls; the kernel's mask has 8 bytes.
    let held = unsafe { syscall(SYS_SIGPROCMASK, SET, &raw const all as i64, &raw mut before as i64, 8) == 0 };
    let done = work();
    if held {
        // SAFETY: as above.
        unsafe { syscall(SYS_SIGPROCMASK, SET, &raw const before as i64, 0, 8) };
    }
    done
}

/// Makes a file at least this long; never shortens it.
pub fn lengthen(fd: c_int, len: u64) -> bool {
    let zero = 0_u8;
    // SAFETY: writes one byte of our own.
    unsafe { syscall(SYS_PWRITE, i64::from(fd), &raw const zero as i64, 1, len as i64 - 1) == 1 }
}

/// Creates all pages of a mapping now. This is cheaper than a page fault for each on the path of a launch, and if the
/// disk is full, this call fails instead of a later write. Not supported before Linux 5.14.
pub fn populate(at: *mut u8, len: usize) -> bool {
    // SAFETY: advice about our own mapping.
    unsafe { syscall(SYS_MADVISE, at as i64, len as i64, i64::from(MADV_POPULATE_WRITE), 0) == 0 }
}

/// If the descriptor is a character device with a path that begins with `/dev/`: the device number, and the path's
/// length in the buffer.
#[allow(dead_code, reason = "only the preload shim tells which device was held")]
pub fn device(fd: u32, buffer: &mut [u8]) -> Option<(u64, usize)> {
    const SYS_FSTAT: i64 = 5;
    const CHARACTERS: u32 = 0o020_000;
    let mut path = *b"/proc/self/fd/\0\0\0\0\0\0";
    for (place, power) in [1000, 100, 10, 1].into_iter().filter(|power| fd >= *power || *power == 1).enumerate() {
        *path.get_mut(14 + place)? = b'0' + u8::try_from(fd / power % 10).ok()?;
    }
    // SAFETY: the path is NUL-terminated, and the buffer is passed with its length.
    let len = unsafe { readlink(path.as_ptr().cast(), buffer.as_mut_ptr(), buffer.len()) };
    let len = usize::try_from(len).ok()?;
    if !buffer.get(..len)?.starts_with(b"/dev/") {
        return None;
    }
    // `struct stat` of x86-64: the mode at byte 24, the device's number at 40.
    let mut stat = [0_u64; 18];
    // SAFETY: the kernel writes its 144 bytes.
    let done = unsafe { syscall(SYS_FSTAT, i64::from(fd), stat.as_mut_ptr() as i64, 0, 0) } == 0;
    let [_, _, _, mode, _, number, ..] = stat;
    (done && mode as u32 & 0o170_000 == CHARACTERS).then_some((number, len))
}

/// Copies memory of this process; false if some of it cannot be read.
#[allow(dead_code, reason = "only the preload shim looks through memory")]
pub fn read_own(from: usize, to: *mut u8, len: usize) -> bool {
    let (local, remote) = ([to as usize, len], [from, len]);
    // SAFETY: the kernel writes at most `len` bytes to `to`, and fails if `from` is not mapped.
    let read = unsafe { process_vm_readv(getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    read == len as isize
}

/// Ends the process.
#[allow(dead_code, reason = "only the preload shim stands before the C library's function")]
pub fn end(code: c_int) -> ! {
    const SYS_EXIT_GROUP: i64 = 231;
    loop {
        // SAFETY: numbers only; it does not return.
        unsafe { syscall(SYS_EXIT_GROUP, i64::from(code), 0, 0, 0) };
    }
}

/// The path of the running program.
pub fn program(buffer: &mut [u8]) -> &[u8] {
    // SAFETY: the buffer is passed with its length.
    let len = unsafe { readlink(c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr(), buffer.len()) };
    buffer.get(..usize::try_from(len).unwrap_or(0)).unwrap_or(&[])
}

/// `PATH_MAX`: the most that `realpath` writes.
pub const LONGEST_PATH: usize = 4096;

/// The path of a file without symlinks. None if there is no such file.
#[allow(dead_code, reason = "only the stand-ins compare paths")]
pub fn real_path<'a>(path: &[u8], buffer: &'a mut [u8; LONGEST_PATH]) -> Option<&'a [u8]> {
    let mut name = [0_u8; LONGEST_PATH];
    // One byte stays zero: the end of the string.
    name.get_mut(..LONGEST_PATH - 1)?.get_mut(..path.len())?.copy_from_slice(path);
    // SAFETY: both live for the call and have room for a path.
    if unsafe { realpath(name.as_ptr().cast(), buffer.as_mut_ptr()) }.is_null() {
        return None;
    }
    buffer.get(..buffer.iter().position(|byte| *byte == 0)?)
}
