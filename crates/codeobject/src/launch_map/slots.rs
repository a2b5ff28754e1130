//! Finds where a host library stores the kernel handles that it gets from the CUDA runtime.
//!
//! Since CUDA 12.8, a compiled launch no longer passes the address of its stub. The stub calls `__cudaGetKernel(&slot,
//! stub)` once and passes the content of the slot, a static variable. The code loads the two addresses one after the
//! other (`lea rsi, [stub]; lea rdi, [slot]`, or in reverse). So every slot is known before the program runs, even if
//! the runtime is linked statically and has no symbols. In a live process, the slot contains the kernel's handle, or 0
//! until its first launch.

use super::Image;
use std::collections::HashMap;

/// The slots of these handles: slot -> handle, both at load bias 0.
pub fn slots(image: &Image<'_>, is_handle: impl Fn(u64) -> bool) -> HashMap<u64, u64> {
    let mut found = HashMap::new();
    for (address, bytes) in image.code() {
        for (at, pair) in bytes.windows(14).enumerate() {
            let [0x48, load, first, a0, a1, a2, a3, 0x48, more, second, b0, b1, b2, b3] = *pair else { continue };
            let next = address.wrapping_add(at as u64);
            let target = |from: u64, bytes: [u8; 4]| {
                next.wrapping_add(from).wrapping_add_signed(i32::from_le_bytes(bytes).into())
            };
            let (one, two) = (target(7, [a0, a1, a2, a3]), target(14, [b0, b1, b2, b3]));
            let (stub, slot) = match ((load, first), (more, second)) {
                ((_, 0x35), (LEA, 0x3d)) => (loaded(image, load, one), two),
                ((LEA, 0x3d), (_, 0x35)) => (loaded(image, more, two), one),
                _ => continue,
            };
            if let Some(stub) = stub.filter(|stub| is_handle(*stub))
                && !image.is_code(slot)
            {
                found.insert(slot, stub);
            }
        }
    }
    found
}

const LEA: u8 = 0x8d;
const MOV: u8 = 0x8b;

/// The address itself, or its entry in the global offset table.
fn loaded(image: &Image<'_>, opcode: u8, address: u64) -> Option<u64> {
    match opcode {
        LEA => Some(address),
        MOV => image.read_u64(address),
        _ => None,
    }
}
