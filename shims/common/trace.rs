//! Writes records: from many threads, without locks or allocations, and without losses when the process dies.
//!
//! A record is reserved by adding to the header's `used`. The first writer that needs a segment extends the file and
//! maps it; the others wait for that, up to a time limit. On any error the record is counted as lost and the caller
//! continues: the program under test never notices. After a segment could not be created (disk full), nothing more is
//! tried.

use crate::record::{FIRST, Head, Header, MAGIC, SEGMENT, Text, kind};
use crate::{lock::Lock, sys};
use core::ffi::CStr;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The maximum number of mapped segments; then the oldest mapping is replaced, so that a long run needs no more.
const SLOTS: usize = 4096;
/// Enough for a fallocate of a segment on a slow disk; after that the record is dropped, so that the program is not
/// delayed further.
const PATIENCE: u32 = 20_000;
const BUSY: u64 = u64::MAX;

const OFF: u32 = 0;
const READY: u32 = 1;
const FAILED: u32 = 2;
/// In a forked child: its own file begins with its first record.
const LATER: u32 = 3;
/// In the child of a process that may make no more system calls: it cannot create a file, so its parent's file counts
/// its losses.
const ORPHAN: u32 = 4;

struct File {
    writer: u32,
    path: [u8; 1024],
    path_len: usize,
    limit: u64,
}

static STATE: AtomicU32 = AtomicU32::new(OFF);
static FILE: Lock<File> = Lock::new(File { writer: 0, path: [0; 1024], path_len: 0, limit: 0 });
static FD: AtomicI32 = AtomicI32::new(-1);
static HEADER: AtomicPtr<Header> = AtomicPtr::new(core::ptr::null_mut());
/// The parent's header, for a child that has none.
static ELDER: AtomicPtr<Header> = AtomicPtr::new(core::ptr::null_mut());
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// The header's `start_ns`.
static START: AtomicU64 = AtomicU64::new(0);
/// The segment number + 1 of each slot.
static TAGS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
static MAPS: [AtomicPtr<u8>; SLOTS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SLOTS];
/// Records lost before there was a file to count them in.
static EARLY: AtomicU64 = AtomicU64::new(0);
/// The number of slots that were ever used.
static HIGH: AtomicUsize = AtomicUsize::new(0);

/// Opens this process's file `DIR/trace.PID.N` (or `seen.`). Called once per process.
///
/// `limit`: the maximum number of unread bytes; 0 for a file that is read at the end.
pub fn start(directory: &CStr, writer: u32, limit: u64) {
    let mut file = FILE.lock();
    if STATE.load(Ordering::Acquire) != OFF {
        return;
    }
    let path = directory.to_bytes();
    (file.writer, file.limit) = (writer, limit);
    file.path_len = path.len().min(900);
    let len = file.path_len;
    if let (Some(to), Some(from)) = (file.path.get_mut(..len), path.get(..len)) {
        to.copy_from_slice(from);
    }
    open(&file);
    drop(file);
    sys::after_fork(child);
    announce();
}

fn open(file: &File) {
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
        FD.store(fd, Ordering::Release);
        if !map(0, fd) {
            break;
        }
        let Some(first) = MAPS.first().map(|map| map.load(Ordering::Acquire)) else { break };
        let header = first.cast::<Header>();
        let start_ns = sys::now_ns();
        START.store(start_ns, Ordering::Release);
        // SAFETY: a fresh mapping of a whole segment.
        unsafe {
            *header = Header {
                magic: MAGIC,
                used: FIRST,
                lost: EARLY.swap(0, Ordering::AcqRel),
                pid,
                ppid: parent,
                start_ns,
                writer: file.writer,
                closed: 0,
                consumed: FIRST,
                limit: file.limit,
            };
        }
        LIMIT.store(file.limit, Ordering::Release);
        HEADER.store(header, Ordering::Release);
        STATE.store(READY, Ordering::Release);
        return;
    }
    STATE.store(FAILED, Ordering::Release);
}

/// Extends the file by a segment and maps it. Only one thread does this; the others see BUSY and wait in `place`.
fn map(index: u64, fd: i32) -> bool {
    let slot = (index % SLOTS as u64) as usize;
    let (Some(tag), Some(map)) = (TAGS.get(slot), MAPS.get(slot)) else { return false };
    if sys::sealed() {
        return false;
    }
    let offset = index * SEGMENT;
    let over = map.load(Ordering::Acquire);
    let len = SEGMENT as usize;
    // Writing a byte at the end is not enough: a write to a mapped hole on a full disk would kill the process. Creating
    // the pages detects that; if the kernel does not support it, real blocks are allocated.
    if !sys::lengthen(fd, offset + SEGMENT) {
        return false;
    }
    let new = sys::map_shared(fd, offset, len, over);
    if new.is_null() || !(sys::populate(new, len) || sys::grow(fd, offset, SEGMENT)) {
        return false;
    }
    map.store(new, Ordering::Release);
    HIGH.fetch_max(slot + 1, Ordering::AcqRel);
    tag.store(index + 1, Ordering::Release);
    true
}

/// In a forked child, the mappings belong to the parent's file, so the child drops them. The child's own file begins
/// with its first record; most children are about to exec.
extern "C" fn child() {
    FILE.reset();
    for tag in TAGS.iter().take(HIGH.load(Ordering::Acquire)) {
        tag.store(0, Ordering::Release);
    }
    let elder = HEADER.swap(core::ptr::null_mut(), Ordering::AcqRel);
    if !elder.is_null() {
        ELDER.store(elder, Ordering::Release);
    }
    STATE.store(if sys::sealed() { ORPHAN } else { LATER }, Ordering::Release);
    generation().fetch_add(1, Ordering::AcqRel);
}

/// In a child that was forked while the parent was opening its file: opens its own.
#[allow(dead_code, reason = "only the preload shim starts at any time")]
pub fn after_early_fork() {
    FILE.reset();
    STATE.store(OFF, Ordering::Release);
}

/// Changes when a new file begins, so that names in the old file are written again.
pub fn generation() -> &'static AtomicU32 {
    static GENERATION: AtomicU32 = AtomicU32::new(1);
    &GENERATION
}

/// Whether records are written; a forked child's file begins with its first record, and a closed file takes none.
#[allow(dead_code, reason = "only the preload shim asks")]
pub fn is_open() -> bool {
    STATE.load(Ordering::Acquire) == READY
}

/// When this process's file began.
#[allow(dead_code, reason = "only the preload shim writes repeats")]
pub fn start_ns() -> u64 {
    START.load(Ordering::Relaxed)
}

fn announce() {
    let mut buffer = [0; 512];
    let path = sys::program(&mut buffer);
    write(kind::PROCESS, &[bytes(&Text { len: path.len() as u32, reserved: 0 }), path]);
}

/// A reserved record: its body is written at `body`, then it is finished.
pub struct Reservation {
    at: *mut u8,
}

impl Reservation {
    pub fn body(&self) -> *mut u8 {
        // SAFETY: the reservation has at least a head.
        unsafe { self.at.add(size_of::<Head>()) }
    }

    /// Makes the record visible to the reader.
    pub fn finish(self, kind: u32) {
        // SAFETY: our own reservation, 8-byte aligned.
        unsafe { AtomicU32::from_ptr(self.at.add(4).cast()).store(kind, Ordering::Release) };
    }
}

/// Reserves a record with `body` bytes after its head.
#[allow(dead_code, reason = "the stand-in writes whole records")]
pub fn begin(body: usize) -> Option<Reservation> {
    reserve(body, 1)
}

/// `weight`: the number of losses to count if there is no space; 0 for data that the caller can record another way.
fn reserve(body: usize, weight: u64) -> Option<Reservation> {
    if STATE.load(Ordering::Acquire) != READY && !awake(weight) {
        return None;
    }
    let header = HEADER.load(Ordering::Acquire);
    if header.is_null() {
        return None;
    }
    // SAFETY: the header is never unmapped; its counters are only touched atomically.
    let (used, lost, consumed) = unsafe {
        if AtomicU32::from_ptr(&raw mut (*header).closed).load(Ordering::Relaxed) != 0 {
            return None;
        }
        (
            AtomicU64::from_ptr(&raw mut (*header).used),
            AtomicU64::from_ptr(&raw mut (*header).lost),
            AtomicU64::from_ptr(&raw mut (*header).consumed),
        )
    };
    let len = (size_of::<Head>() + body).next_multiple_of(8) as u64;
    let limit = LIMIT.load(Ordering::Relaxed);
    let waits = || used.load(Ordering::Relaxed).saturating_sub(consumed.load(Ordering::Relaxed));
    if len > SEGMENT / 4 || (limit != 0 && waits() > limit) {
        lost.fetch_add(weight, Ordering::Relaxed);
        return None;
    }
    loop {
        let at = used.fetch_add(len, Ordering::AcqRel);
        let end = at + len;
        let border = (at / SEGMENT + 1) * SEGMENT;
        let Some(place) = place(at) else {
            lost.fetch_add(weight, Ordering::Relaxed);
            return None;
        };
        if end > border {
            // Both parts are marked as padding, so that a reader can skip them.
            head(place, (border - at) as u32, kind::PAD);
            if let Some(rest) = self::place(border) {
                head(rest, (end - border) as u32, kind::PAD);
            }
            continue;
        }
        // SAFETY: [at, end) is in one mapped segment and belongs to this call alone.
        unsafe { AtomicU32::from_ptr(place.cast()).store(len as u32, Ordering::Release) };
        return Some(Reservation { at: place });
    }
}

/// Begins a forked child's own file. Counts the losses of a full disk.
#[cold]
fn awake(weight: u64) -> bool {
    match STATE.load(Ordering::Acquire) {
        LATER if !sys::sealed() => {
            let file = FILE.lock();
            let first = STATE.load(Ordering::Acquire) == LATER;
            if first {
                open(&file);
            }
            drop(file);
            if first && STATE.load(Ordering::Acquire) == READY {
                announce();
            }
            STATE.load(Ordering::Acquire) == READY
        }
        // The process restricted its system calls before its first record.
        LATER | ORPHAN | FAILED => {
            let own = HEADER.load(Ordering::Acquire);
            let header = if own.is_null() { ELDER.load(Ordering::Acquire) } else { own };
            if !header.is_null() {
                // SAFETY: never unmapped; only touched atomically.
                unsafe { AtomicU64::from_ptr(&raw mut (*header).lost) }.fetch_add(weight, Ordering::Relaxed);
            }
            false
        }
        OFF => {
            EARLY.fetch_add(weight, Ordering::Relaxed);
            false
        }
        state => state == READY,
    }
}

/// Appends one record made of `parts`. Returns whether it was written.
pub fn write(kind: u32, parts: &[&[u8]]) -> bool {
    put(kind, parts, 1)
}

/// Like `write`, for data that can also be recorded another way: no loss is counted.
#[allow(dead_code, reason = "only the preload shim has such")]
pub fn try_write(kind: u32, parts: &[&[u8]]) -> bool {
    put(kind, parts, 0)
}

fn put(kind: u32, parts: &[&[u8]], weight: u64) -> bool {
    let Some(place) = reserve(parts.iter().map(|part| part.len()).sum(), weight) else { return false };
    let mut to = place.body();
    for part in parts {
        // SAFETY: the reservation is as long as the parts together.
        unsafe {
            core::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len());
            to = to.add(part.len());
        }
    }
    place.finish(kind);
    true
}

fn head(place: *mut u8, len: u32, kind: u32) {
    // SAFETY: the caller reserved these bytes; records are 8-byte aligned, so a head always fits.
    unsafe {
        AtomicU32::from_ptr(place.cast()).store(len, Ordering::Release);
        AtomicU32::from_ptr(place.add(4).cast()).store(kind, Ordering::Release);
    }
}

fn place(at: u64) -> Option<*mut u8> {
    let index = at / SEGMENT;
    let slot = (index % SLOTS as u64) as usize;
    if TAGS.get(slot)?.load(Ordering::Acquire) != index + 1 && !obtain(index, slot) {
        return None;
    }
    let map = MAPS.get(slot)?.load(Ordering::Acquire);
    // SAFETY: an offset inside the segment.
    Some(unsafe { map.add((at % SEGMENT) as usize) })
}

/// The segment does not exist yet: creates it, or waits for its creator up to a time limit.
#[cold]
fn obtain(index: u64, slot: usize) -> bool {
    let Some(tag) = TAGS.get(slot) else { return false };
    for _ in 0..PATIENCE {
        let now = tag.load(Ordering::Acquire);
        if now == index + 1 {
            return true;
        }
        if STATE.load(Ordering::Acquire) != READY || (now != BUSY && now > index + 1) {
            return false;
        }
        let made = sys::undisturbed(|| {
            if now == BUSY || tag.compare_exchange(now, BUSY, Ordering::AcqRel, Ordering::Acquire).is_err() {
                return None;
            }
            let mapped = map(index, FD.load(Ordering::Acquire));
            if !mapped {
                STATE.store(FAILED, Ordering::Release);
                tag.store(now, Ordering::Release);
            }
            Some(mapped)
        });
        if let Some(mapped) = made {
            return mapped;
        }
        sys::pause();
    }
    false
}

/// Creates segments in advance, because it will be impossible later.
#[allow(dead_code, reason = "only the preload shim sees it coming")]
pub fn ahead(segments: u64) {
    let header = HEADER.load(Ordering::Acquire);
    if STATE.load(Ordering::Acquire) != READY || header.is_null() {
        return;
    }
    // SAFETY: never unmapped; only touched atomically.
    let now = unsafe { AtomicU64::from_ptr(&raw mut (*header).used) }.load(Ordering::Acquire) / SEGMENT;
    for index in now..=now + segments {
        let slot = (index % SLOTS as u64) as usize;
        let there = TAGS.get(slot).is_some_and(|tag| tag.load(Ordering::Acquire) == index + 1);
        if !there && !obtain(index, slot) {
            // The existing space can still be used.
            STATE.store(READY, Ordering::Release);
            return;
        }
    }
}

/// Waits until no thread is creating a segment.
#[allow(dead_code, reason = "only the preload shim sees it coming")]
pub fn settle() {
    for _ in 0..PATIENCE {
        if !TAGS.iter().take(HIGH.load(Ordering::Acquire) + 1).any(|tag| tag.load(Ordering::Acquire) == BUSY) {
            return;
        }
        sys::pause();
    }
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
