//! `cudaDeviceProp`, whose layout CUDA 13 changed.

use crate::device::{by_number, known};
use crate::error::{INVALID_DEVICE, INVALID_VALUE, SUCCESS, Status, keep};
use core::ffi::{c_char, c_int};

/// Offset in CUDA 12, in CUDA 13 (0: no such field), bytes, and the attribute with the same value (`driver_types.h` of 12.9 and
/// 13.0). Fields that no attribute answers stay zero.
const FIELDS: &[(u16, u16, u8, u8)] = &[
    (296, 296, 8, 8), (304, 304, 4, 12), (308, 308, 4, 10), (312, 312, 8, 11), (320, 320, 4, 1), (324, 324, 4, 2),
    (328, 328, 4, 3), (332, 332, 4, 4), (336, 336, 4, 5), (340, 340, 4, 6), (344, 344, 4, 7), (348, 0, 4, 13),
    (352, 352, 8, 9), (360, 360, 4, 75), (364, 364, 4, 76), (368, 368, 8, 14), (376, 376, 8, 51), (388, 384, 4, 16),
    (392, 0, 4, 17), (396, 388, 4, 18), (400, 392, 4, 19), (404, 0, 4, 20), (408, 396, 4, 21), (420, 404, 4, 22),
    (424, 408, 4, 23), (456, 440, 4, 24), (460, 444, 4, 25), (464, 448, 4, 26), (484, 468, 4, 42), (488, 472, 4, 43),
    (492, 476, 4, 27), (496, 480, 4, 28), (500, 484, 4, 29), (568, 552, 8, 30), (576, 560, 4, 31), (580, 564, 4, 32),
    (584, 568, 4, 33), (588, 572, 4, 34), (592, 576, 4, 50), (596, 580, 4, 35), (600, 584, 4, 40), (604, 588, 4, 41),
    (608, 0, 4, 36), (612, 592, 4, 37), (616, 596, 4, 38), (620, 600, 4, 108), (624, 604, 4, 39), (628, 608, 4, 78),
    (632, 612, 4, 79), (636, 616, 4, 80), (640, 624, 8, 81), (648, 632, 4, 82), (652, 636, 4, 83), (656, 640, 4, 84),
    (660, 644, 4, 85), (664, 648, 4, 86), (668, 0, 4, 87), (672, 652, 4, 88), (676, 656, 4, 89), (680, 660, 4, 90),
    (684, 664, 4, 91), (688, 668, 4, 95), (692, 0, 4, 96), (696, 672, 8, 97), (704, 680, 4, 100), (708, 684, 4, 101),
    (712, 688, 4, 106), (716, 692, 4, 109), (720, 696, 8, 111), (728, 704, 4, 99), (732, 708, 4, 112),
    (736, 712, 4, 113), (740, 716, 4, 114), (744, 720, 4, 115), (748, 724, 4, 116), (760, 736, 4, 119),
    (764, 740, 4, 121), (768, 744, 4, 125), (772, 748, 4, 120),
];

const NAME: usize = 256;
const UUID: usize = 256;
const MEMORY: usize = 288;

/// SAFETY: `to` is null or a structure of `size` bytes.
unsafe fn fill(to: *mut u8, number: c_int, size: usize, old: bool) -> Status {
    let Some(device) = by_number(number) else { return INVALID_DEVICE };
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: every offset of the layout is inside the caller's structure.
    unsafe {
        core::ptr::write_bytes(to, 0, size);
        let name = device.name.get(..NAME.min(device.name.len())).unwrap_or(&[]);
        core::ptr::copy_nonoverlapping(name.as_ptr(), to, name.len());
        to.add(UUID).cast::<[u8; 16]>().write_unaligned(crate::visible_devices::cuda_uuid(device.pci_bus).0);
        to.add(MEMORY).cast::<u64>().write_unaligned(device.memory);
        for &(before, now, bytes, attribute) in FIELDS {
            let at = usize::from(if old { before } else { now });
            let Some(value) = known(usize::from(attribute), number).filter(|_| at != 0) else { continue };
            if bytes == 8 {
                to.add(at).cast::<u64>().write_unaligned(value as u64);
            } else {
                to.add(at).cast::<i32>().write_unaligned(value);
            }
        }
    }
    SUCCESS
}

forward! {
    /// The name of the function in libcudart.so.12.
    extern fn cudaGetDeviceProperties_v2(to: *mut u8, number: c_int) = keep(fill(to, number, 1032, true));
    extern fn cudaGetDeviceProperties(to: *mut u8, number: c_int) = keep(fill(to, number, 1008, false));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetByPCIBusId(number: *mut c_int, text: *const c_char) -> Status {
    if number.is_null() || text.is_null() {
        return keep(INVALID_VALUE);
    }
    crate::stubs::unsupported(b"cudaDeviceGetByPCIBusId")
}
