//! The real runtimes: path and build id, recorded before the first kernel; and the device files that the process held
//! at that time. The reader must know whether a launch went to a real device or to the stand-in.

use crate::record::{Text, kind};
use crate::{modules, sys, trace};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

const MOST: usize = 8;

struct Runtime {
    base: AtomicUsize,
    path: AtomicPtr<u8>,
    path_len: AtomicUsize,
    id: AtomicPtr<u8>,
    id_len: AtomicUsize,
    generation: AtomicU32,
}

static LIST: [Runtime; MOST] = [const {
    Runtime {
        base: AtomicUsize::new(0),
        path: AtomicPtr::new(core::ptr::null_mut()),
        path_len: AtomicUsize::new(0),
        id: AtomicPtr::new(core::ptr::null_mut()),
        id_len: AtomicUsize::new(0),
        generation: AtomicU32::new(0),
    }
}; MOST];

/// A function of the runtime was found.
pub fn met(function: usize) {
    let (origin, base) = modules::owner(function);
    let known = |runtime: &&Runtime| {
        runtime.base.load(Ordering::Acquire) == base
            || runtime.base.compare_exchange(0, base, Ordering::AcqRel, Ordering::Acquire).is_ok()
    };
    let Some(runtime) = LIST.iter().find(known).filter(|_| base != 0) else { return };
    if runtime.path.load(Ordering::Acquire).is_null() {
        runtime.id_len.store(origin.build_id.len(), Ordering::Relaxed);
        runtime.id.store(origin.build_id.as_ptr().cast_mut(), Ordering::Relaxed);
        runtime.path_len.store(origin.path.len(), Ordering::Relaxed);
        runtime.path.store(origin.path.as_ptr().cast_mut(), Ordering::Release);
    }
}

/// Written once per trace file: the build id in hexadecimal digits, a space, the path.
pub fn note() {
    let now = trace::generation().load(Ordering::Acquire);
    for runtime in &LIST {
        let (path, id) = (runtime.path.load(Ordering::Acquire), runtime.id.load(Ordering::Acquire));
        if path.is_null() || id.is_null() || runtime.generation.swap(now, Ordering::AcqRel) == now {
            continue;
        }
        // SAFETY: never freed.
        let (path, id) = unsafe {
            (
                core::slice::from_raw_parts(path, runtime.path_len.load(Ordering::Acquire)),
                core::slice::from_raw_parts(id, runtime.id_len.load(Ordering::Acquire)),
            )
        };
        let mut digits = [b' '; 129];
        for (place, byte) in id.iter().take(64).enumerate() {
            let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
            if let Some([high, low]) = digits.get_mut(place * 2..place * 2 + 2) {
                (*high, *low) = (digit(byte >> 4), digit(byte & 15));
            }
        }
        let digits = digits.get(..id.len().min(64) * 2 + 1).unwrap_or(b" ");
        let text = Text { len: (digits.len() + path.len()) as u32, reserved: 0 };
        trace::write(kind::RUNTIME, &[trace::bytes(&text), digits, path]);
        devices();
    }
}

/// The GPU device files that the process holds, read when its first launch has returned: by then the runtime has opened them.
/// Only this check sees a program that ends at once.
#[cold]
fn devices() {
    // The runtime opens its device early; later, the outside observer checks.
    const MOST: u32 = 1024;
    if sys::sealed() {
        return;
    }
    for fd in 0..MOST {
        let mut path = [0; 64];
        let Some((number, len)) = sys::device(fd, &mut path) else { continue };
        let path = path.get(..len).unwrap_or(&[]);
        if ![&b"/dev/kfd"[..], b"/dev/dri/render", b"/dev/nvidia", b"/dev/dxg"].iter().any(|start| path.starts_with(start)) {
            continue;
        }
        let (mut digits, mut at, mut rest) = ([b' '; 21], 20, number);
        while at > 0 && (rest > 0 || at == 20) {
            at -= 1;
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
        }
        let digits = digits.get(at..).unwrap_or(b" ");
        let text = Text { len: (digits.len() + path.len()) as u32, reserved: 0 };
        trace::write(kind::DEVICE, &[trace::bytes(&text), digits, path]);
    }
}
