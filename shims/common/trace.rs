//! Writing records: many threads, no lock, no allocation, nothing lost when the process dies.
//!
//! A place is reserved by adding to the header's `used`; whoever first needs a segment grows the file and maps it. If
//! anything goes wrong the record is counted as lost and the caller goes on: the program under test never notices.

use crate::record::{FIRST, Head, Header, MAGIC, SEGMENT, Text, kind};
use crate::{lock::Lock, sys};
use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

const SEGMENTS: usize = 4096;
const OFF: u32 = 0;
const READY: u32 = 1;
const FAILED: u32 = 2;

struct File {
    fd: i32,
    writer: u32,
    path: [u8; 1024],
    path_len: usize,
}

static STATE: AtomicU32 = AtomicU32::new(OFF);
static FILE: Lock<File> = Lock::new(File { fd: -1, writer: 0, path: [0; 1024], path_len: 0 });
static MAPS: [AtomicPtr<u8>; SEGMENTS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SEGMENTS];

/// Opens this process's file `DIR/trace.PID.N`. Called once per process; again in the child of a fork.
pub fn start(directory: &CStr, writer: u32) {
    let mut file = FILE.lock();
    if STATE.load(Ordering::Acquire) != OFF {
        return;
    }
    let path = directory.to_bytes();
    file.writer = writer;
    file.path_len = path.len().min(900);
    let len = file.path_len;
    if let (Some(to), Some(from)) = (file.path.get_mut(..len), path.get(..len)) {
        to.copy_from_slice(from);
    }
    open(&mut file);
    drop(file);
    sys::after_fork(child);
    announce();
}

fn open(file: &mut File) {
    // SAFETY: no arguments.
    let (pid, parent) = unsafe { (sys::getpid() as u32, sys::getppid() as u32) };
    for attempt in 0..1000 {
        let mut text = Line { bytes: [0; 1024], len: 0 };
        text.push(file.path.get(..file.path_len).unwrap_or(&[]));
        text.push(if file.writer == 1 { b"/trace." } else { b"/seen." });
        text.number(pid);
        text.push(b".");
        text.number(attempt);
        let Ok(name) = CStr::from_bytes_until_nul(&text.bytes) else { break };
        let Some(fd) = sys::create(name) else { continue };
        file.fd = fd;
        let first = segment(fd, 0);
        if first.is_null() {
            break;
        }
        let header = first.cast::<Header>();
        // SAFETY: a fresh mapping of a whole segment.
        unsafe {
            *header = Header {
                magic: MAGIC,
                used: FIRST,
                lost: 0,
                pid,
                ppid: parent,
                start_ns: sys::now_ns(),
                writer: file.writer,
                closed: 0,
            };
        }
        STATE.store(READY, Ordering::Release);
        return;
    }
    STATE.store(FAILED, Ordering::Release);
}

fn segment(fd: i32, index: usize) -> *mut u8 {
    let Some(slot) = MAPS.get(index) else { return core::ptr::null_mut() };
    let offset = index as u64 * SEGMENT;
    let map = if sys::grow(fd, offset, SEGMENT) { sys::map_shared(fd, offset, SEGMENT as usize) } else { core::ptr::null_mut() };
    slot.store(map, Ordering::Release);
    map
}

/// In the child of a fork the mappings are the parent's file: forget them and begin a file of its own.
extern "C" fn child() {
    FILE.reset();
    let mut file = FILE.lock();
    for slot in &MAPS {
        slot.store(core::ptr::null_mut(), Ordering::Release);
    }
    STATE.store(OFF, Ordering::Release);
    open(&mut file);
    drop(file);
    generation().fetch_add(1, Ordering::AcqRel);
    announce();
}

/// Changes when a new file begins, so that names which the old one has are written again.
pub fn generation() -> &'static AtomicU32 {
    static GENERATION: AtomicU32 = AtomicU32::new(1);
    &GENERATION
}

fn announce() {
    let mut buffer = [0; 512];
    let path = sys::program(&mut buffer);
    write(kind::PROCESS, &[bytes(&Text { len: path.len() as u32, reserved: 0 }), path]);
}

/// Appends one record made of `parts`. Returns whether it stands in the file.
pub fn write(kind: u32, parts: &[&[u8]]) -> bool {
    if STATE.load(Ordering::Acquire) != READY {
        return false;
    }
    let Some(first) = MAPS.first().map(|map| map.load(Ordering::Acquire)).filter(|map| !map.is_null()) else {
        return false;
    };
    // SAFETY: the header is never unmapped; its counters are only touched atomically.
    let (used, lost) = unsafe {
        let header = first.cast::<Header>();
        (AtomicU64::from_ptr(&raw mut (*header).used), AtomicU64::from_ptr(&raw mut (*header).lost))
    };
    let body: usize = parts.iter().map(|part| part.len()).sum();
    let len = (size_of::<Head>() + body).next_multiple_of(8) as u64;
    if len > SEGMENT / 4 {
        lost.fetch_add(1, Ordering::Relaxed);
        return false;
    }
    loop {
        let at = used.fetch_add(len, Ordering::AcqRel);
        let end = at + len;
        let border = (at / SEGMENT + 1) * SEGMENT;
        let Some(place) = place(at) else {
            lost.fetch_add(1, Ordering::Relaxed);
            return false;
        };
        if end > border {
            // Both pieces are filled, so that a reader can step over them.
            head(place, (border - at) as u32, kind::PAD);
            if let Some(rest) = self::place(border) {
                head(rest, (end - border) as u32, kind::PAD);
            }
            continue;
        }
        // SAFETY: [at, end) lies in one mapped segment and belongs to this call alone.
        unsafe {
            AtomicU32::from_ptr(place.cast()).store(len as u32, Ordering::Release);
            let mut to = place.add(size_of::<Head>());
            for part in parts {
                core::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
                to = to.add(part.len());
            }
            AtomicU32::from_ptr(place.add(4).cast()).store(kind, Ordering::Release);
        }
        return true;
    }
}

fn head(place: *mut u8, len: u32, kind: u32) {
    // SAFETY: the caller reserved these bytes; records are 8-byte aligned, so a head always fits.
    unsafe {
        AtomicU32::from_ptr(place.cast()).store(len, Ordering::Release);
        AtomicU32::from_ptr(place.add(4).cast()).store(kind, Ordering::Release);
    }
}

fn place(at: u64) -> Option<*mut u8> {
    let index = (at / SEGMENT) as usize;
    let slot = MAPS.get(index)?;
    let mut map = slot.load(Ordering::Acquire);
    if map.is_null() {
        let file = FILE.lock();
        map = slot.load(Ordering::Acquire);
        if map.is_null() && file.fd >= 0 {
            map = segment(file.fd, index);
        }
    }
    // SAFETY: an offset inside the segment.
    (!map.is_null()).then(|| unsafe { map.add((at % SEGMENT) as usize) })
}

/// A plain-data record as bytes.
pub fn bytes<T: Copy>(value: &T) -> &[u8] {
    // SAFETY: records are `repr(C)` integers without padding that anyone reads.
    unsafe { core::slice::from_raw_parts((value as *const T).cast(), size_of::<T>()) }
}

struct Line {
    bytes: [u8; 1024],
    len: usize,
}

impl Line {
    fn push(&mut self, text: &[u8]) {
        if let Some(to) = self.bytes.get_mut(self.len..self.len + text.len()) {
            to.copy_from_slice(text);
            self.len += text.len();
        }
    }

    fn number(&mut self, value: u32) {
        let mut digits = [0_u8; 10];
        let mut rest = value;
        let mut at = digits.len();
        loop {
            at -= 1;
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 || at == 0 {
                break;
            }
        }
        self.push(digits.get(at..).unwrap_or(&[]));
    }
}
