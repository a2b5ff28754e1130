//! The input from the parent, and the state of each thread.

use crate::nullgpu_input::{
    Arg, Bundle, COUNTED, COUNTS_SIZE, DEVICE_MAGIC, Device, DeviceFile, Entry, File, KERNELS_MAGIC, KernelsFile, MOST_TABLES, TABLES_MAGIC,
    TableAt, TablesFile, key,
};
use crate::error::{NO_DEVICE, Status};
use crate::visible_devices::Visible;
use crate::{lock::Lock, sys, tls, trace};
use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The state of one thread; all zero at its start, as in HIP.
#[repr(C)]
pub struct Thread {
    pub device: u32,
    pub last_error: u32,
    /// `<<<...>>>` pushes a configuration, which the kernel's stub pops.
    pub depth: u32,
    pub pushed: [[u64; 5]; 4],
    /// The thread id in launch records; the kernel is asked for it once.
    pub id: u32,
    /// Where expert numbers were last written: address, bytes, bytes per row.
    pub routed: [u64; 3],
}

const _: () = assert!(size_of::<Thread>() <= tls::SIZE);

pub fn thread() -> &'static mut Thread {
    // SAFETY: the block belongs to this thread, is zeroed and large enough. No two references exist at once, because
    // every use in this library is a single statement.
    unsafe { &mut *tls::block().cast::<Thread>() }
}

pub struct World {
    /// The devices that the program sees.
    pub devices: &'static [Device],
    /// How many devices the machine has.
    pub in_machine: usize,
    /// The numbers of the visible devices in the machine.
    shown: Visible,
    /// The status of calls that need a device, if there is none.
    pub no_device: Status,
    pub runtime_version: u32,
    counts: Option<&'static [AtomicU64; COUNTED]>,
    /// One table for all devices, or one table per device.
    tables: [Kernels; MOST_TABLES],
    count: usize,
}

/// The known kernels of one target.
#[derive(Clone, Copy)]
pub struct Kernels {
    pub strict: bool,
    pub files: &'static [File],
    pub bundles: &'static [Bundle],
    slots: &'static [u32],
    pub entries: &'static [Entry],
    pub args: &'static [Arg],
    text: &'static [u8],
}

static WORLD: AtomicPtr<World> = AtomicPtr::new(core::ptr::null_mut());
static FIRST: Lock<()> = Lock::new(());

/// Read on the first call of any entry point. Without valid input from the parent there is no device, and nothing else
/// happens.
pub fn world() -> &'static World {
    let known = WORLD.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: set once, never freed.
        return unsafe { &*known };
    }
    let _guard = FIRST.lock();
    let known = WORLD.load(Ordering::Acquire);
    if !known.is_null() {
        // SAFETY: as above.
        return unsafe { &*known };
    }
    let at = sys::zeroed(size_of::<World>()).cast::<World>();
    if at.is_null() {
        static EMPTY: World = World::empty();
        return &EMPTY;
    }
    // SAFETY: fresh memory of the right size and a page's alignment.
    unsafe { at.write(read().unwrap_or(World::empty())) };
    WORLD.store(at, Ordering::Release);
    // SAFETY: just written.
    unsafe { &*at }
}

impl World {
    const fn empty() -> World {
        World { devices: &[], in_machine: 0, shown: Visible::none(), no_device: NO_DEVICE, runtime_version: 0, counts: None, tables: [Kernels::empty(); MOST_TABLES], count: 1 }
    }

    /// Counts a record before it is written, so that the reader can compare the two.
    pub fn count(&self, kind: u32) {
        if let Some(count) = self.counts.and_then(|counts| counts.get(kind as usize)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn tables(&self) -> &[Kernels] {
        self.tables.get(..self.count).unwrap_or(&[])
    }

    /// The number of the current device in the machine, which the records have.
    pub fn machines_number(&self) -> u32 {
        self.number_of(thread().device)
    }

    /// The number in the machine of a device that the program sees.
    pub fn number_of(&self, device: u32) -> u32 {
        self.shown.numbers().get(device as usize).map_or(u32::MAX, |number| u32::from(*number))
    }

    /// The index of the table for the current device.
    pub fn table_number(&self) -> usize {
        if self.count > 1 { self.machines_number() as usize } else { 0 }
    }

    /// The table of the current device. A device beyond the last table has none.
    pub fn table(&self) -> &Kernels {
        static NONE: Kernels = Kernels::empty();
        self.tables().get(self.table_number()).unwrap_or(&NONE)
    }
}

impl Kernels {
    const fn empty() -> Kernels {
        Kernels { strict: true, files: &[], bundles: &[], slots: &[], entries: &[], args: &[], text: &[] }
    }

    /// Index of a kernel in the table, from 1; 0 if it is not there.
    pub fn entry(&self, name: &[u8], bundle: u32) -> u32 {
        let Some(mask) = (self.slots.len() as u64).checked_sub(1) else { return 0 };
        let wanted = key(name, bundle);
        let mut slot = wanted & mask;
        for _ in 0..self.slots.len() {
            let place = self.slots.get(slot as usize).copied().unwrap_or(0);
            let Some(entry) = place.checked_sub(1).and_then(|i| self.entries.get(i as usize)) else { return 0 };
            if entry.key == wanted && entry.bundle == bundle && self.text(entry.name, entry.name_len) == name {
                return place;
            }
            slot = (slot + 1) & mask;
        }
        0
    }

    pub fn text(&self, at: u32, len: u32) -> &'static [u8] {
        self.text.get(at as usize..).and_then(|rest| rest.get(..len as usize)).unwrap_or(&[])
    }

    /// Index of the bundle at `address` of the file at `path`.
    pub fn bundle(&self, path: &[u8], address: u64) -> Option<u32> {
        let file = self.file(path)?;
        let bundles = self.bundles.get(file.first_bundle as usize..)?.get(..file.bundles as usize)?;
        let at = bundles.iter().position(|bundle| bundle.address == address)?;
        Some(file.first_bundle + at as u32)
    }

    /// The loader may name a file through symlinks (`libggml-cuda.so.0`) or by a relative path, and the parent may see it in
    /// another directory. If no path is equal, the file name decides, provided that only one file has it.
    fn file(&self, seen: &[u8]) -> Option<&File> {
        let mut buffer = [0; sys::LONGEST_PATH];
        let real = sys::real_path(seen, &mut buffer).unwrap_or(seen);
        let known = |file: &File| self.text(file.path, file.path_len);
        if let Some(equal) = self.files.iter().find(|file| known(file) == seen || known(file) == real) {
            return Some(equal);
        }
        let name = |path: &'_ [u8]| path.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
        let mut named = self.files.iter().filter(|file| {
            let known = known(file);
            known.get(name(known)..) == real.get(name(real)..)
        });
        named.next().filter(|_| named.next().is_none())
    }
}

fn read() -> Option<World> {
    let directory = sys::env(c"WHICHKERNEL_DRYRUN")?;
    let device = sys::map_file(joined(directory, b"/device\0", &mut [0; 1024])?)?;
    let head: &DeviceFile = view(device, 0, 1)?.first()?;
    if head.magic != DEVICE_MAGIC {
        return None;
    }
    let all = view(device, size_of::<DeviceFile>() as u64, head.count as usize)?;
    let (shown, no_device) = crate::shown::devices(all);
    let mut world = World {
        devices: visible(all, &shown)?,
        in_machine: all.len(),
        shown,
        no_device,
        runtime_version: head.runtime_version,
        ..World::empty()
    };
    world.tables.iter_mut().for_each(|table| table.strict = head.strict != 0);
    if let Some(bytes) = joined(directory, b"/kernels\0", &mut [0; 1024]).and_then(sys::map_file) {
        tables(&mut world, bytes);
    }
    world.counts = joined(directory, b"/counts\0", &mut [0; 1024]).and_then(counters);
    world.count(0);
    trace::start(directory, 1, 0);
    Some(world)
}

/// The devices that are shown, in their order.
fn visible(all: &'static [Device], shown: &Visible) -> Option<&'static [Device]> {
    let numbers = shown.numbers();
    let at = sys::zeroed(size_of_val(all)).cast::<Device>();
    if at.is_null() || numbers.len() > all.len() {
        return None;
    }
    // SAFETY: fresh memory for that many devices; all zero is a valid device.
    let devices = unsafe { core::slice::from_raw_parts_mut(at, numbers.len()) };
    for (device, number) in devices.iter_mut().zip(numbers) {
        *device = *all.get(usize::from(*number))?;
    }
    Some(devices)
}

/// The path of another file of the directory.
pub fn path<'a>(name: &[u8], buffer: &'a mut [u8; 1024]) -> Option<&'a CStr> {
    joined(sys::env(c"WHICHKERNEL_DRYRUN")?, name, buffer)
}

/// Another file of the directory.
pub fn input(name: &[u8]) -> Option<&'static [u8]> {
    joined(sys::env(c"WHICHKERNEL_DRYRUN")?, name, &mut [0; 1024]).and_then(sys::map_file)
}

fn counters(path: &CStr) -> Option<&'static [AtomicU64; COUNTED]> {
    let at = sys::map_page(path, COUNTS_SIZE);
    // SAFETY: null, or a page that is never unmapped and is only touched atomically.
    unsafe { at.cast::<[AtomicU64; COUNTED]>().as_ref() }
}

/// Writes a record and counts it, whether or not there is space.
pub fn record(kind: u32, parts: &[&[u8]]) {
    world().count(kind);
    trace::write(kind, parts);
}

/// One table, or one for each device.
fn tables(world: &mut World, bytes: &'static [u8]) -> Option<()> {
    let head: &TablesFile = view(bytes, 0, 1)?.first()?;
    if head.magic != TABLES_MAGIC {
        return kernels(world.tables.first_mut()?, bytes);
    }
    let list: &[TableAt] = view(bytes, size_of::<TablesFile>() as u64, head.count as usize)?;
    world.count = list.len().min(MOST_TABLES);
    for (table, at) in world.tables.iter_mut().zip(list) {
        table.strict |= at.strict != 0;
        let start = usize::try_from(at.at).ok()?;
        let end = start.checked_add(usize::try_from(at.len).ok()?)?;
        kernels(table, bytes.get(start..end)?);
    }
    Some(())
}

fn kernels(world: &mut Kernels, bytes: &'static [u8]) -> Option<()> {
    let head: &KernelsFile = view(bytes, 0, 1)?.first()?;
    if head.magic != KERNELS_MAGIC || !head.slots.is_power_of_two() {
        return None;
    }
    world.files = view(bytes, head.files_at, head.files as usize)?;
    world.bundles = view(bytes, head.bundles_at, head.bundles as usize)?;
    world.entries = view(bytes, head.entries_at, head.entries as usize)?;
    world.args = view(bytes, head.args_at, head.args as usize)?;
    world.text = view(bytes, head.text_at, head.text as usize)?;
    world.slots = view(bytes, head.slots_at, head.slots as usize)?;
    Some(())
}

fn joined<'a>(directory: &CStr, name: &[u8], buffer: &'a mut [u8; 1024]) -> Option<&'a CStr> {
    let directory = directory.to_bytes();
    let end = directory.len().checked_add(name.len())?;
    buffer.get_mut(..directory.len())?.copy_from_slice(directory);
    buffer.get_mut(directory.len()..end)?.copy_from_slice(name);
    CStr::from_bytes_until_nul(buffer).ok()
}

/// `count` values of plain data at `at`, if they are inside and aligned.
fn view<T: Copy>(bytes: &'static [u8], at: u64, count: usize) -> Option<&'static [T]> {
    let at = usize::try_from(at).ok()?;
    let bytes = bytes.get(at..at.checked_add(count.checked_mul(size_of::<T>())?)?)?;
    let start = bytes.as_ptr().cast::<T>();
    // SAFETY: inside the mapping, aligned, plain integers.
    start.is_aligned().then(|| unsafe { core::slice::from_raw_parts(start, count) })
}
