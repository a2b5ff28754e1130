//! bpf(2): maps, programs and the ring. A file descriptor owns each of them, so the kernel removes them when this
//! process ends.

use crate::fake;
pub use crate::kernel_types::{MapKind, Use};
use say::say;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// BPF_PROG_TYPE_KPROBE, which uprobes use as well.
const KPROBE: u32 = 2;
/// `bpf_probe_read_user` is for GPL-compatible programs only.
const LICENSE: &CStr = c"Dual MIT/GPL";

/// A BPF map.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    key: u32,
    value: u32,
}

/// `union bpf_attr` must be 0 beyond what a command uses; 128 bytes are enough for all commands here.
type Attr = [u64; 16];

/// Commands (`enum bpf_cmd`, include/uapi/linux/bpf.h).
mod command {
    pub(super) const MAP_CREATE: u32 = 0;
    pub(super) const MAP_LOOKUP: u32 = 1;
    pub(super) const MAP_UPDATE: u32 = 2;
    pub(super) const MAP_DELETE: u32 = 3;
    pub(super) const MAP_NEXT_KEY: u32 = 4;
    pub(super) const PROG_LOAD: u32 = 5;
    pub(super) const RAW_TRACEPOINT_OPEN: u32 = 17;
    pub(super) const LINK_CREATE: u32 = 28;
}

fn call(command: u32, attr: &mut Attr) -> io::Result<i32> {
    match command {
        command::MAP_CREATE => fake::outcome(fake::Call::BpfMap)?,
        command::PROG_LOAD => fake::outcome(fake::Call::BpfProgram)?,
        command::LINK_CREATE => fake::outcome(fake::Call::BpfLink)?,
        _ => {}
    }
    // SAFETY: the kernel reads and writes at most `size` bytes of `attr`; pointers in it are valid by the callers below.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, libc::c_long::from(command), attr.as_mut_ptr(), size_of::<Attr>()) };
    i32::try_from(result).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Map {
    pub fn new(kind: MapKind, key: u32, value: u32, entries: u32) -> io::Result<Map> {
        /// Memory is allocated at once. BPF_F_NO_PREALLOC would save memory for large, mostly empty hash maps, but
        /// kernels before 6.1 refuse it for tracing programs.
        const FLAGS: u32 = 0;
        let mut attr: Attr = [0; 16];
        attr[0] = pair(kind as u32, key);
        attr[1] = pair(value, entries);
        attr[2] = pair(FLAGS, 0);
        let fd = call(command::MAP_CREATE, &mut attr)?;
        // SAFETY: the kernel just gave us this descriptor.
        Ok(Map { fd: unsafe { OwnedFd::from_raw_fd(fd) }, key, value })
    }

    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Asserts that keys have four bytes and values eight, as [`next_key`] and [`put_word`] require.
    pub(crate) fn holds_words(&self) {
        assert!(self.key == 4 && self.value == 8, "keys of four bytes, values of eight");
    }

    /// Makes the command's child put its own process id into this map between fork and exec, with the value 1. If that
    /// fails, the program still runs.
    pub fn enter_before_exec(&self, start: &mut Command) {
        self.holds_words();
        let map = self.fd();
        // SAFETY: one system call on memory of its own stack, between fork and exec.
        unsafe {
            start.pre_exec(move || {
                let _ = put_word(map, std::process::id(), 1);
                Ok(())
            });
        }
    }

    fn element(&self, key: &[u8], value: u64) -> Attr {
        let mut attr: Attr = [0; 16];
        attr[0] = u64::from(self.fd.as_raw_fd().cast_unsigned());
        attr[1] = key.as_ptr() as u64;
        attr[2] = value;
        attr
    }

    pub fn put(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        assert!(key.len() == self.key as usize && value.len() == self.value as usize, "sizes of the map");
        call(command::MAP_UPDATE, &mut self.element(key, value.as_ptr() as u64)).map(drop)
    }

    pub fn get(&self, key: &[u8]) -> io::Result<Vec<u8>> {
        assert_eq!(key.len(), self.key as usize, "size of the map's key");
        let mut value = vec![0_u8; self.value as usize];
        call(command::MAP_LOOKUP, &mut self.element(key, value.as_mut_ptr() as u64))?;
        Ok(value)
    }

    pub fn remove(&self, key: &[u8]) -> io::Result<()> {
        assert_eq!(key.len(), self.key as usize, "size of the map's key");
        call(command::MAP_DELETE, &mut self.element(key, 0)).map(drop)
    }

    /// Every key with its value. Concurrently added keys may or may not be included.
    pub fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut out = Vec::new();
        let mut key = vec![0_u8; self.key as usize];
        let mut from = 0_u64;
        loop {
            let mut next = vec![0_u8; self.key as usize];
            let mut attr: Attr = [0; 16];
            attr[0] = u64::from(self.fd.as_raw_fd().cast_unsigned());
            attr[1] = from;
            attr[2] = next.as_mut_ptr() as u64;
            if call(command::MAP_NEXT_KEY, &mut attr).is_err() {
                return out;
            }
            if let Ok(value) = self.get(&next) {
                out.push((next.clone(), value));
            }
            key.copy_from_slice(&next);
            from = key.as_ptr() as u64;
        }
    }
}

/// BPF_TRACE_UPROBE_MULTI
const UPROBE_MULTI: u32 = 48;

/// A uprobe at an offset of a file, attached directly to its program (BPF_LINK_CREATE, Linux 6.6). Its removal waits
/// only for the threads that run it. The removal of a perf event holds a machine-wide lock.
pub fn uprobe(program: &OwnedFd, path: &str, offsets: &[u64], at_return: bool) -> io::Result<OwnedFd> {
    let path = std::ffi::CString::new(path).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut attr: Attr = [0; 16];
    attr[0] = u64::from(program.as_raw_fd().cast_unsigned());
    attr[1] = UPROBE_MULTI.into();
    attr[2] = path.as_ptr() as u64;
    attr[3] = offsets.as_ptr() as u64;
    attr[6] = pair(u32::try_from(offsets.len()).unwrap_or(0), u32::from(at_return));
    let fd = call(command::LINK_CREATE, &mut attr)?;
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

impl Use {
    /// Type of program, and how it will be attached.
    fn words(self) -> (u32, u32) {
        const RAW_TRACEPOINT: u32 = 17;
        match self {
            Use::Event => (KPROBE, 0),
            Use::Link => (KPROBE, UPROBE_MULTI),
            Use::Tracepoint => (RAW_TRACEPOINT, 0),
        }
    }
}

/// Runs a program at a tracepoint from now on, until the descriptor is closed (BPF_RAW_TRACEPOINT_OPEN).
pub fn run(program: &OwnedFd, tracepoint: &CStr) -> io::Result<OwnedFd> {
    let mut attr: Attr = [0; 16];
    attr[0] = tracepoint.as_ptr() as u64;
    attr[1] = u64::from(program.as_raw_fd().cast_unsigned());
    let fd = call(command::RAW_TRACEPOINT_OPEN, &mut attr)?;
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The next key of a map that [holds words](Map::holds_words). It allocates no memory, so a forked child may call it.
pub(crate) fn next_key(map: i32, after: Option<u32>) -> Option<u32> {
    let (from, mut next) = (after.unwrap_or(0), 0_u32);
    let mut attr: Attr = [0; 16];
    attr[0] = u64::from(map.cast_unsigned());
    attr[1] = after.map_or(0, |_| &raw const from as u64);
    attr[2] = &raw mut next as u64;
    call(command::MAP_NEXT_KEY, &mut attr).ok().map(|_| next)
}

/// Puts an eight-byte value under a four-byte key, also without allocating.
fn put_word(map: i32, key: u32, value: u64) -> io::Result<()> {
    let mut attr: Attr = [0; 16];
    attr[0] = u64::from(map.cast_unsigned());
    attr[1] = &raw const key as u64;
    attr[2] = &raw const value as u64;
    call(command::MAP_UPDATE, &mut attr).map(drop)
}

/// Loads a program; the error includes the end of the verifier's log.
pub fn load(code: &[u64], what: Use) -> io::Result<OwnedFd> {
    let (kind, attach) = what.words();
    let mut log = vec![0_u8; 64 << 10];
    let attempt = |log: &mut [u8], level: u32| {
        let mut attr: Attr = [0; 16];
        attr[0] = pair(kind, u32::try_from(code.len()).unwrap_or(u32::MAX));
        attr[1] = code.as_ptr() as u64;
        attr[2] = LICENSE.as_ptr() as u64;
        attr[8] = pair(0, attach);
        if level > 0 {
            attr[3] = pair(level, u32::try_from(log.len()).unwrap_or(0));
            attr[4] = log.as_mut_ptr() as u64;
        }
        call(command::PROG_LOAD, &mut attr)
    };
    match attempt(&mut log, 0) {
        // SAFETY: the kernel just gave us this descriptor.
        Ok(fd) => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        Err(error) => {
            let refused = matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
            if refused {
                return Err(error);
            }
            let _ = attempt(&mut log, 1);
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            let text = String::from_utf8_lossy(log.get(..end).unwrap_or(&[])).into_owned();
            let tail: Vec<&str> = text.lines().rev().take(12).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            Err(io::Error::new(error.kind(), say!("sys-verifier", error, said = tail.join(" | "))))
        }
    }
}

/// The consumer's side of a BPF ring buffer (Documentation/bpf/ringbuf.rst): one page with our position, which we write; one
/// with the producer's; then the data, mapped twice in a row so that no record is ever split.
#[derive(Debug)]
pub struct Ring {
    map: Map,
    consumer: *mut u8,
    producer: *mut u8,
    size: usize,
    page: usize,
}

// SAFETY: the mappings belong to this value alone; the positions are only touched through atomics.
unsafe impl Send for Ring {}

const BUSY: u32 = 1 << 31;
const DISCARD: u32 = 1 << 30;

impl Ring {
    /// `size`: a power of two, at least a page.
    pub fn new(size: u32) -> io::Result<Ring> {
        let map = Map::new(MapKind::Ring, 0, 0, size)?;
        // SAFETY: no arguments.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let size = size as usize;
        let mapped = |len: usize, protection: i32, offset: usize| {
            fake::outcome(fake::Call::Map)?;
            let offset = libc::off_t::try_from(offset).unwrap_or(0);
            // SAFETY: a new shared mapping of the map's descriptor.
            let at = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, map.fd(), offset) };
            if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at.cast::<u8>()) }
        };
        let consumer = mapped(page, libc::PROT_READ | libc::PROT_WRITE, 0)?;
        let producer = match mapped(page + 2 * size, libc::PROT_READ, page) {
            Ok(producer) => producer,
            Err(error) => {
                // SAFETY: mapped just above.
                unsafe { libc::munmap(consumer.cast(), page) };
                return Err(error);
            }
        };
        Ok(Ring { map, consumer, producer, size, page })
    }

    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Waits until a record is available, at most this long.
    pub fn wait(&self, milliseconds: i32) {
        let mut fd = libc::pollfd { fd: self.map.fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor on this stack.
        unsafe { libc::poll(&raw mut fd, 1, milliseconds) };
    }

    /// Passes on finished records, at most `most`; returns their number.
    pub fn read(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> usize {
        // SAFETY: both positions are the first eight bytes of their pages, for the lifetime of the mappings.
        let (mine, theirs) = unsafe { (&*self.consumer.cast::<AtomicU64>(), &*self.producer.cast::<AtomicU64>()) };
        // SAFETY: data begins behind the producer's page.
        let data = unsafe { self.producer.add(self.page) };
        let mut at = mine.load(Ordering::Acquire);
        let mut count = 0;
        while count < most && at < theirs.load(Ordering::Acquire) {
            let place = usize::try_from(at).unwrap_or(0) & (self.size - 1);
            // SAFETY: a record head is eight-byte aligned and inside the double mapping.
            let head = unsafe { &*data.add(place).cast::<AtomicU32>() }.load(Ordering::Acquire);
            if head & BUSY != 0 {
                break;
            }
            let len = (head & !(BUSY | DISCARD)) as usize;
            if head & DISCARD == 0 {
                // SAFETY: `len` bytes follow the head; the double mapping makes them contiguous.
                each(unsafe { std::slice::from_raw_parts(data.add(place + 8), len.min(self.size)) });
                count += 1;
            }
            at += (len as u64 + 8).next_multiple_of(8);
            mine.store(at, Ordering::Release);
        }
        count
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with these sizes.
        unsafe {
            libc::munmap(self.consumer.cast(), self.page);
            libc::munmap(self.producer.cast(), self.page + 2 * self.size);
        }
    }
}
