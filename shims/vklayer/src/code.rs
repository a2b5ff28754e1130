//! The driver's compiled code: registers, memory and assembly of each pipeline, if the parent requests it.
//!
//! Only this feature adds to the program's requests: a read-only extension (VK_KHR_pipeline_executable_properties), its
//! feature, and two flags of each pipeline. If the driver does not have the extension, or a list is too long to copy,
//! the program's call is forwarded unchanged.

use crate::abi::*;
use crate::bodies::{self, kind};
use crate::lock::Lock;
use crate::tables::{self, DEVICES, Get};
use crate::text::field;
use crate::trace::{bytes, write};
use crate::{blind, sys};
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);
/// A device has the extension.
static ON: AtomicBool = AtomicBool::new(false);

const EXTENSION: &CStr = c"VK_KHR_pipeline_executable_properties";
const FEATURE: u32 = 1_000_269_000;
const PIPELINE_INFO: u32 = 1_000_269_001;
const EXECUTABLE: u32 = 1_000_269_002;
const EXECUTABLE_INFO: u32 = 1_000_269_003;
const STATISTIC: u32 = 1_000_269_004;
const REPRESENTATION: u32 = 1_000_269_005;
/// CAPTURE_STATISTICS and CAPTURE_INTERNAL_REPRESENTATIONS
const FLAGS: u32 = 0x40 | 0x80;
const MOST_EXTENSIONS: usize = 256;
const MOST_PIPELINES: usize = 16;
const MOST_STATISTICS: usize = 64;
const MOST_REPRESENTATIONS: usize = 8;
const MOST_TEXT: usize = 8 << 20;
/// The maximum size of assembly in one record.
const PIECE: usize = 256 << 10;

#[repr(C)]
struct Feature {
    base: Base,
    on: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Statistic {
    base: Base,
    name: [u8; 256],
    text: [u8; 256],
    format: u32,
    value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Representation {
    base: Base,
    name: [u8; 256],
    text: [u8; 256],
    is_text: u32,
    size: usize,
    data: *mut c_void,
}

#[repr(C)]
struct PipelineInfo {
    base: Base,
    pipeline: u64,
}

#[repr(C)]
struct ExecutableInfo {
    base: Base,
    pipeline: u64,
    index: u32,
}

struct Room {
    statistics: [Statistic; MOST_STATISTICS],
    representations: [Representation; MOST_REPRESENTATIONS],
    text: *mut u8,
}

// SAFETY: accessed only through the lock.
unsafe impl Send for Room {}

const NOTHING: Base = Base { kind: 0, next: core::ptr::null_mut() };
static ROOM: Lock<Room> = Lock::new(Room {
    statistics: [Statistic { base: NOTHING, name: [0; 256], text: [0; 256], format: 0, value: 0 }; MOST_STATISTICS],
    representations: [Representation { base: NOTHING, name: [0; 256], text: [0; 256], is_text: 0, size: 0, data: core::ptr::null_mut() };
        MOST_REPRESENTATIONS],
    text: core::ptr::null_mut(),
});

pub fn decide() {
    WANTED.store(sys::env(c"WHICHKERNEL_VULKAN_CODE").is_some(), Ordering::Release);
}

/// Creates a device, with the extension if it is wanted and available.
///
/// SAFETY: must be the program's own call.
pub unsafe fn create(get: Get, instance: Handle, physical: Handle, info: *const DeviceInfo, call: impl Fn(*const DeviceInfo) -> Result) -> Result {
    // SAFETY: guaranteed by the caller.
    let own = unsafe { &*info };
    // SAFETY: guaranteed by the caller.
    if !WANTED.load(Ordering::Acquire) || !unsafe { has_extension(get, instance, physical) } {
        return call(info);
    }
    let mut names = [core::ptr::null::<c_char>(); MOST_EXTENSIONS + 1];
    let count = own.extensions as usize;
    if count > MOST_EXTENSIONS {
        return call(info);
    }
    let mut there = false;
    for (place, to) in names.iter_mut().enumerate().take(count) {
        // SAFETY: the program's own list.
        unsafe {
            *to = *own.extension.add(place);
            there |= CStr::from_ptr(*to) == EXTENSION;
        }
    }
    if there {
        // The program requests the extension itself.
        ON.store(true, Ordering::Release);
        return call(info);
    }
    if let Some(place) = names.get_mut(count) {
        *place = EXTENSION.as_ptr();
    }
    let feature = Feature { base: Base { kind: FEATURE, next: own.base.next }, on: 1 };
    let mut more = *own;
    more.base.next = (&raw const feature).cast_mut().cast();
    more.extensions = own.extensions + 1;
    more.extension = names.as_ptr();
    match call(&raw const more) {
        SUCCESS => {
            ON.store(true, Ordering::Release);
            SUCCESS
        }
        _ => call(info),
    }
}

/// SAFETY: must be the program's own handles.
unsafe fn has_extension(get: Get, instance: Handle, physical: Handle) -> bool {
    type Enumerate = unsafe extern "C" fn(Handle, *const c_char, *mut u32, *mut Extension) -> Result;
    // SAFETY: the name is NUL-terminated.
    let Some(function) = (unsafe { get(instance, c"vkEnumerateDeviceExtensionProperties".as_ptr()) }) else { return false };
    // SAFETY: the function of this name has this type.
    let enumerate = unsafe { core::mem::transmute::<unsafe extern "C" fn(), Enumerate>(function) };
    let mut count = 0;
    // SAFETY: queries only the number.
    if unsafe { enumerate(physical, core::ptr::null(), &raw mut count, core::ptr::null_mut()) } != SUCCESS {
        return false;
    }
    let len = count as usize * size_of::<Extension>();
    let list = sys::room(len);
    if list.is_null() {
        return false;
    }
    // SAFETY: the buffer has space for `count` items.
    let found = unsafe {
        let done = enumerate(physical, core::ptr::null(), &raw mut count, list.cast());
        let all = core::slice::from_raw_parts(list.cast::<Extension>(), count as usize);
        done == SUCCESS && all.iter().any(|of| field(&of.name) == EXTENSION.to_bytes())
    };
    // SAFETY: our own room.
    unsafe { sys::munmap(list.cast(), len) };
    found
}

/// Creates pipelines with the two flags if the device supports them.
///
/// SAFETY: must be the program's own call.
pub unsafe fn pipelines(count: u32, infos: *const ComputePipelineInfo, call: impl FnOnce(*const ComputePipelineInfo) -> Result) -> Result {
    let count = count as usize;
    if !ON.load(Ordering::Acquire) || count > MOST_PIPELINES || infos.is_null() {
        return call(infos);
    }
    let mut list = [const { core::mem::MaybeUninit::<ComputePipelineInfo>::uninit() }; MOST_PIPELINES];
    for (place, to) in list.iter_mut().enumerate().take(count) {
        // SAFETY: a copy of plain data.
        unsafe {
            core::ptr::copy_nonoverlapping(infos.add(place), to.as_mut_ptr(), 1);
            (*to.as_mut_ptr()).flags |= FLAGS;
        }
    }
    call(list.as_ptr().cast())
}

/// SAFETY: the device's function of this name must have this type.
unsafe fn found<T: Copy>(device: Handle, name: &CStr) -> Option<T> {
    const { assert!(size_of::<T>() == size_of::<usize>()) };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (get, _) = tables::get(&DEVICES, device)?;
        let function = get(device, name.as_ptr())?;
        Some(core::mem::transmute_copy::<unsafe extern "C" fn(), T>(&function))
    }
}

/// Queries the driver for the compiled code of a pipeline.
///
/// SAFETY: must be the program's own handles.
pub unsafe fn tell(device: Handle, pipeline: u64) {
    type Executables = unsafe extern "C" fn(Handle, *const PipelineInfo, *mut u32, *mut c_void) -> Result;
    type Statistics = unsafe extern "C" fn(Handle, *const ExecutableInfo, *mut u32, *mut Statistic) -> Result;
    type Representations = unsafe extern "C" fn(Handle, *const ExecutableInfo, *mut u32, *mut Representation) -> Result;
    if !ON.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the function of this name has this type.
    let (Some(executables), Some(statistics), Some(representations)) = (unsafe {
        (
            found::<Executables>(device, c"vkGetPipelineExecutablePropertiesKHR"),
            found::<Statistics>(device, c"vkGetPipelineExecutableStatisticsKHR"),
            found::<Representations>(device, c"vkGetPipelineExecutableInternalRepresentationsKHR"),
        )
    }) else {
        return;
    };
    let of = PipelineInfo { base: Base { kind: PIPELINE_INFO, next: core::ptr::null_mut() }, pipeline };
    let mut count = 0;
    // SAFETY: queries only the number.
    if unsafe { executables(device, &raw const of, &raw mut count, core::ptr::null_mut()) } != SUCCESS {
        return;
    }
    // A compute pipeline has one.
    if count != 1 {
        blind(b"a pipeline of several executables");
    }
    let _ = EXECUTABLE;
    let info = ExecutableInfo { base: Base { kind: EXECUTABLE_INFO, next: core::ptr::null_mut() }, pipeline, index: 0 };
    let mut room = ROOM.lock();
    for statistic in &mut room.statistics {
        statistic.base = Base { kind: STATISTIC, next: core::ptr::null_mut() };
    }
    let mut count = MOST_STATISTICS as u32;
    // SAFETY: the buffer has space for `count` items.
    let result = unsafe { statistics(device, &raw const info, &raw mut count, room.statistics.as_mut_ptr()) };
    if result >= SUCCESS {
        for statistic in room.statistics.iter().take(count as usize) {
            told_statistic(pipeline, statistic);
        }
    }
    if room.text.is_null() {
        room.text = sys::room(MOST_TEXT);
    }
    if room.text.is_null() {
        return;
    }
    let text = room.text;
    for (place, representation) in room.representations.iter_mut().enumerate() {
        let share = MOST_TEXT / MOST_REPRESENTATIONS;
        representation.base = Base { kind: REPRESENTATION, next: core::ptr::null_mut() };
        representation.size = share;
        // SAFETY: equal parts of one buffer.
        representation.data = unsafe { text.add(place * share) }.cast();
    }
    let mut count = MOST_REPRESENTATIONS as u32;
    // SAFETY: the buffer has space for `count` items.
    let result = unsafe { representations(device, &raw const info, &raw mut count, room.representations.as_mut_ptr()) };
    if result < SUCCESS {
        return;
    }
    for representation in room.representations.iter().take(count as usize) {
        let name = field(&representation.name);
        // RADV's other representations are those of its compiler's stages.
        if representation.is_text == 0 || name != b"Assembly" {
            continue;
        }
        let size = representation.size.min(MOST_TEXT / MOST_REPRESENTATIONS);
        // SAFETY: the length that the driver reports, limited to its part of the buffer.
        let all = field(unsafe { core::slice::from_raw_parts(representation.data.cast::<u8>(), size) });
        for piece in all.chunks(PIECE) {
            let body = bodies::Name { handle: pipeline, object: 0, len: piece.len() as u32 };
            write(kind::ASSEMBLY, &[bytes(&body), piece]);
        }
    }
}

fn told_statistic(pipeline: u64, statistic: &Statistic) {
    let name = field(&statistic.name);
    let body = bodies::Name { handle: pipeline, object: statistic.format, len: name.len() as u32 + 8 };
    write(kind::STATISTIC, &[bytes(&body), &statistic.value.to_le_bytes(), name]);
}
