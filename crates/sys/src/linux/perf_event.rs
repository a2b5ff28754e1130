//! perf_event_open(2): probes, and the kernel's records of processes and mappings.

use crate::fake;
pub use crate::kernel_types::{Attr, UprobePlace, bit, sample};
use crate::mount::check;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// PERF_FLAG_FD_CLOEXEC
const CLOEXEC: libc::c_ulong = 8;
const IOC_ENABLE: libc::Ioctl = 0x2400;
/// _IOW('$', 5, int)
const IOC_SET_OUTPUT: libc::Ioctl = 0x2405;
/// _IOR('$', 7, u64 *)
const IOC_ID: libc::Ioctl = 0x8008_2407;
/// _IOW('$', 8, u32)
const IOC_SET_BPF: libc::Ioctl = 0x4004_2408;

#[derive(Debug)]
pub struct Event {
    fd: OwnedFd,
}

impl Event {
    /// `pid` -1: every process; `cpu` -1: every CPU (not both).
    pub fn open(attr: &Attr, pid: i32, cpu: i32) -> io::Result<Event> {
        fake::outcome(fake::Call::PerfEventOpen)?;
        let attr = Attr { size: size_of::<Attr>() as u32, ..*attr };
        // SAFETY: the kernel reads `size` bytes of `attr`, and a NUL-terminated path where a caller below put one.
        let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attr, pid, cpu, -1_i32, CLOEXEC) };
        match i32::try_from(fd) {
            // SAFETY: the kernel just gave us this descriptor.
            Ok(fd) if fd >= 0 => Ok(Event { fd: unsafe { OwnedFd::from_raw_fd(fd) } }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A uprobe at an offset of a file, in every process that maps it.
    pub fn uprobe(place: &UprobePlace<'_>, more: &Attr, pid: i32, cpu: i32) -> io::Result<Event> {
        let path = CString::new(place.path.as_bytes()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let config = u64::from(place.at_return);
        let (kind, config1, config2) = (place.pmu, path.as_ptr() as u64, place.offset);
        Event::open(&Attr { kind, config, config1, config2, ..*more }, pid, cpu)
    }

    pub fn attach(&self, program: &impl AsRawFd) -> io::Result<()> {
        // SAFETY: both descriptors are open; the second is passed by value.
        check(unsafe { libc::ioctl(self.fd.as_raw_fd(), IOC_SET_BPF, program.as_raw_fd()) })
    }

    pub fn enable(&self) -> io::Result<()> {
        // SAFETY: no pointers.
        check(unsafe { libc::ioctl(self.fd.as_raw_fd(), IOC_ENABLE, 0) })
    }

    /// Redirects this event's records to another event's buffer.
    pub fn redirect(&self, ring: &Buffer) -> io::Result<()> {
        let to = ring.event.fd.as_raw_fd();
        // SAFETY: no pointers.
        check(unsafe { libc::ioctl(self.fd.as_raw_fd(), IOC_SET_OUTPUT, to) })
    }

    /// The id that the event has in its samples.
    pub fn id(&self) -> io::Result<u64> {
        let mut id = 0_u64;
        // SAFETY: the kernel writes eight bytes to `id`.
        check(unsafe { libc::ioctl(self.fd.as_raw_fd(), IOC_ID, &raw mut id) })?;
        Ok(id)
    }

    /// The number of hits, including children.
    pub fn hits(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        rustix::io::read(&self.fd, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

/// One buffer per CPU with the kernel's records of forks, exits, program names and mappings. `pid` -1: every process;
/// 0: the calling thread, and its descendants with `bit::INHERIT` in `more`.
pub fn process_buffers(pid: i32, more: u64, pages: usize) -> io::Result<Vec<Buffer>> {
    const SOFTWARE: u32 = 1;
    const DUMMY: u64 = 9;
    let attr = Attr {
        kind: SOFTWARE,
        config: DUMMY,
        sample_type: sample::TID | sample::TIME,
        flags: more
            | bit::MMAP
            | bit::MMAP2
            | bit::COMM
            | bit::COMM_EXEC
            | bit::TASK
            | bit::SAMPLE_ID_ALL
            | bit::USE_CLOCKID
            | bit::EXCLUDE_KERNEL,
        clockid: libc::CLOCK_MONOTONIC,
        ..Attr::default()
    };
    processors().into_iter().map(|cpu| Buffer::new(Event::open(&attr, pid, cpu)?, pages)).collect()
}

/// Closes many events at once. The kernel waits for every CPU before it removes a probe, tens of milliseconds each
/// time; together they wait once.
pub fn release<T: Send>(events: Vec<T>) {
    const TOGETHER: usize = 32;
    let share = events.len().div_ceil(TOGETHER).max(1);
    let mut events = events.into_iter().peekable();
    std::thread::scope(|scope| {
        while events.peek().is_some() {
            let some: Vec<T> = events.by_ref().take(share).collect();
            scope.spawn(move || drop(some));
        }
    });
}

/// Releases the event without waiting.
pub fn release_later<T: Send + 'static>(events: Vec<T>) {
    if !events.is_empty() {
        std::thread::spawn(move || release(events));
    }
}

/// The type number of the uprobe PMU, if the kernel has one.
pub fn pmu() -> Option<u32> {
    std::fs::read_to_string("/sys/bus/event_source/devices/uprobe/type").ok()?.trim().parse().ok()
}

/// The CPUs that are online.
pub fn processors() -> Vec<i32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let mut out = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) {
            out.extend(first..=last);
        }
    }
    if out.is_empty() { vec![0] } else { out }
}

/// An event with its ring buffer (`perf_event_mmap_page`): head and tail at offsets 1024 and 1032 of the first page.
#[derive(Debug)]
pub struct Buffer {
    event: Event,
    base: *mut u8,
    page: usize,
    size: usize,
}

// SAFETY: the mapping belongs to this value alone; the positions are only touched through atomics.
unsafe impl Send for Buffer {}

impl Buffer {
    /// `pages`: a power of two.
    pub fn new(event: Event, pages: usize) -> io::Result<Buffer> {
        // SAFETY: no arguments.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let size = page * pages;
        fake::outcome(fake::Call::Map)?;
        let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, event.fd.as_raw_fd());
        // SAFETY: a new shared mapping of the event's descriptor.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), page + size, protection, libc::MAP_SHARED, fd, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Buffer { event, base: base.cast(), page, size })
    }

    /// Passes on every record: its type, its misc bits, its body.
    pub fn read(&mut self, mut each: impl FnMut(u32, u16, &[u8])) -> usize {
        // SAFETY: both positions are in the first page, for the lifetime of the mapping.
        let (head, tail) =
            unsafe { (&*self.base.add(1024).cast::<AtomicU64>(), &*self.base.add(1032).cast::<AtomicU64>()) };
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        let mut count = 0;
        let mut record = Vec::new();
        while at < end {
            let top = self.copy(at, 8);
            let word = |from: usize| top.get(from..).and_then(|rest| rest.first_chunk::<2>()).copied();
            let len = usize::from(word(6).map_or(0, u16::from_le_bytes));
            let kind = top.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let misc = word(4).map_or(0, u16::from_le_bytes);
            if len < 8 {
                at = end;
                break;
            }
            record.clear();
            record.extend(self.copy(at + 8, len - 8));
            each(kind, misc, &record);
            count += 1;
            at += len as u64;
        }
        tail.store(at, Ordering::Release);
        count
    }

    /// Records may wrap around the end.
    fn copy(&self, at: u64, len: usize) -> Vec<u8> {
        let start = usize::try_from(at).unwrap_or(0) % self.size;
        let first = len.min(self.size - start);
        // SAFETY: the data area begins after the first page and has `size` bytes; both parts are inside.
        unsafe {
            let data = self.base.add(self.page);
            let mut out = std::slice::from_raw_parts(data.add(start), first).to_vec();
            out.extend(std::slice::from_raw_parts(data, len - first));
            out
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this size.
        unsafe { libc::munmap(self.base.cast(), self.page + self.size) };
    }
}

/// Waits until one of the buffers has data, at most this long.
pub fn wait(buffers: &[Buffer], milliseconds: i32) {
    let one = |buffer: &Buffer| libc::pollfd { fd: buffer.event.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut fds: Vec<libc::pollfd> = buffers.iter().map(one).collect();
    // SAFETY: the list lives through the call.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, milliseconds) };
}
