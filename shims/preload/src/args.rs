//! Argument bytes, laid out as in the kernarg segment: copied only if the layout is certain.

use crate::preload_input::{Arg, Head, MAGIC, MOST, Slot, key};
use crate::{memory, sys};
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static TABLE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static LEN: AtomicUsize = AtomicUsize::new(0);

/// How a launch passes its arguments.
#[derive(Clone, Copy)]
pub enum Args {
    /// One pointer per argument.
    Pointers(*mut *mut c_void),
    /// One buffer, with its size (Tensile).
    Buffer(*const u8, usize),
}

/// Maps the layouts that the parent prepared, if it did.
pub fn open(directory: &CStr) {
    let mut path = [0_u8; 1024];
    let (directory, file) = (directory.to_bytes(), b"/layouts\0");
    let whole = directory.len() + file.len();
    if whole > path.len() {
        return;
    }
    if let Some(to) = path.get_mut(..directory.len()) {
        to.copy_from_slice(directory);
    }
    if let Some(to) = path.get_mut(directory.len()..whole) {
        to.copy_from_slice(file);
    }
    let Ok(path) = CStr::from_bytes_until_nul(&path) else { return };
    let Some(bytes) = sys::map_file(path).filter(|bytes| bytes.starts_with(&MAGIC) && bytes.len() >= size_of::<Head>()) else {
        return;
    };
    LEN.store(bytes.len(), Ordering::Release);
    TABLE.store(bytes.as_ptr().cast_mut(), Ordering::Release);
}

/// Whether argument bytes were requested.
#[inline]
pub fn wanted() -> bool {
    !TABLE.load(Ordering::Relaxed).is_null()
}

/// The layout of a kernel of the library with this build id; empty if it is unknown.
pub fn layout(build_id: &[u8], name: &[u8]) -> &'static [Arg] {
    let (at, len) = (TABLE.load(Ordering::Acquire), LEN.load(Ordering::Acquire));
    if at.is_null() || build_id.is_empty() {
        return &[];
    }
    // SAFETY: the head was checked; the table's size is checked against the file's size before use.
    unsafe {
        let head = at.cast::<Head>().read();
        let (slots, args) = (head.slots as usize, head.args as usize);
        if !slots.is_power_of_two() || size_of::<Head>() + slots * size_of::<Slot>() + args * size_of::<Arg>() > len {
            return &[];
        }
        let table = core::slice::from_raw_parts(at.add(size_of::<Head>()).cast::<Slot>(), slots);
        let list = core::slice::from_raw_parts(at.add(size_of::<Head>() + slots * size_of::<Slot>()).cast::<Arg>(), args);
        let wanted = key(build_id, name);
        for step in 0..slots {
            let Some(slot) = table.get((wanted as usize).wrapping_add(step) & (slots - 1)) else { break };
            if slot.key == wanted {
                return list.get(slot.first as usize..).and_then(|rest| rest.get(..slot.count as usize)).unwrap_or(&[]);
            }
            if slot.key == 0 {
                break;
            }
        }
        &[]
    }
}

/// The layout that a CUDA driver reports (cuFuncGetParamInfo, since 12.4): offset and size of each parameter in turn.
///
/// SAFETY: `ask` is that function, or cuKernelGetParamInfo, and `function` a handle of its kind.
pub unsafe fn ask_driver(ask: *mut c_void, function: *mut c_void) -> &'static [Arg] {
    const PARAMETERS: usize = 256;
    if ask.is_null() || !wanted() {
        return &[];
    }
    let mut list = [Arg { offset: 0, size: 0 }; PARAMETERS];
    let mut count = 0;
    for (place, to) in list.iter_mut().enumerate() {
        let (mut offset, mut size) = (0_usize, 0_usize);
        // SAFETY: guaranteed by the caller; the variables live for the call.
        let status = unsafe {
            type Ask = unsafe extern "C" fn(*mut c_void, usize, *mut usize, *mut usize) -> u32;
            core::mem::transmute::<*mut c_void, Ask>(ask)(function, place, &raw mut offset, &raw mut size)
        };
        if status != 0 || offset + size > MOST {
            break;
        }
        *to = Arg { offset: offset as u16, size: size as u16 };
        count = place + 1;
    }
    let kept = memory::take(count * size_of::<Arg>());
    if kept.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: fresh, aligned memory of that size.
    unsafe {
        core::ptr::copy_nonoverlapping(list.as_ptr(), kept.cast(), count);
        core::slice::from_raw_parts(kept.cast(), count)
    }
}

/// Bytes that a launch's arguments take in the record.
#[inline]
pub fn len(layout: &[Arg], args: Args) -> usize {
    match args {
        Args::Pointers(list) if list.is_null() => 0,
        Args::Pointers(_) => layout.last().map_or(0, |last| usize::from(last.offset) + usize::from(last.size)),
        Args::Buffer(from, size) => if from.is_null() { 0 } else { size.min(MOST) },
    }
}

/// SAFETY: the arguments must be those of an accepted launch of this kernel, and `to` must have space for `len` bytes.
#[inline]
pub unsafe fn copy(layout: &[Arg], args: Args, to: *mut u8, len: usize) {
    match args {
        // SAFETY: guaranteed by the caller.
        Args::Buffer(from, _) => unsafe { core::ptr::copy_nonoverlapping(from, to, len) },
        Args::Pointers(list) => {
            let mut end = 0;
            for (place, arg) in layout.iter().enumerate() {
                let (at, size) = (usize::from(arg.offset), usize::from(arg.size));
                // SAFETY: one pointer per explicit argument, each to `size` bytes; gaps between arguments are zeros.
                unsafe {
                    let from = (*list.add(place)).cast::<u8>();
                    if at > end {
                        core::ptr::write_bytes(to.add(end), 0, at - end);
                    }
                    match size {
                        8 => to.add(at).cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
                        4 => to.add(at).cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
                        _ => core::ptr::copy_nonoverlapping(from, to.add(at), size),
                    }
                }
                end = at + size;
            }
        }
    }
}

/// `extra` is a list of tagged values: 1 buffer pointer, 2 pointer to its size, 3 (HIP) or 0 (CUDA) end.
///
/// SAFETY: `list` must be null or a list of this form.
pub unsafe fn extra(list: *mut *mut c_void, args: *mut *mut c_void) -> Args {
    if list.is_null() || !wanted() {
        return Args::Pointers(args);
    }
    let (mut buffer, mut size) = (core::ptr::null(), 0_usize);
    for pair in 0..4 {
        // SAFETY: the list ends with its end tag, which is the first item of a pair.
        unsafe {
            match *list.add(pair * 2) as usize {
                1 => buffer = (*list.add(pair * 2 + 1)).cast_const().cast(),
                2 => size = (*list.add(pair * 2 + 1)).cast::<usize>().read(),
                _ => break,
            }
        }
    }
    Args::Buffer(buffer, size)
}
