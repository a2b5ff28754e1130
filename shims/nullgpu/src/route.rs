//! Expert routing. The host of a mixture-of-experts model reads back the experts of each token. Nothing here computes
//! them, and all zeros would abort the program. So every token gets the next experts in turn.

use crate::nullgpu_input::{Entry, flag};
use crate::memory::room;
use crate::world::thread;
use core::ffi::c_void;

/// Sampling sorts a whole vocabulary with the same kernel: only data that can be a list of experts is written.
const MOST_EXPERTS: u32 = 1024;

/// Whether the host reads expert numbers here, and not a result: all rows, the last one as far as it is used. Compute
/// buffers are reused, so the address alone is not enough.
pub fn is_routing(from: usize, len: usize) -> bool {
    let [at, most, row] = thread().routed;
    let len = len as u64;
    at != 0 && from as u64 == at && len <= most && len > most.saturating_sub(row)
}

/// SAFETY: `args` are the arguments of a launch of the kernel that `entry` describes.
pub unsafe fn write(entry: &Entry, args: *mut *mut c_void, grid: [u32; 3]) {
    if entry.flags & (flag::ROUTE_TOPK | flag::ROUTE_ARGSORT) == 0 || args.is_null() {
        return;
    }
    let [to, rows, used, _] = entry.route;
    // SAFETY: the parent checked these places and sizes against the kernel's metadata.
    let (to, rows, used) = unsafe {
        let int = |place: u8| (*args.add(usize::from(place))).cast::<u32>().read_unaligned();
        let to = (*args.add(usize::from(to))).cast::<usize>().read_unaligned();
        if entry.flags & flag::ROUTE_TOPK != 0 { (to, int(rows), int(used)) } else { (to, grid[0], int(used)) }
    };
    let experts = if entry.flags & flag::ROUTE_TOPK != 0 { entry.experts } else { used };
    // A fused top-k writes its ids with a stride of all experts, as in the full order.
    let stride = experts;
    if experts == 0 || experts > MOST_EXPERTS || used > experts || rows > 1 << 20 {
        return;
    }
    let len = (rows as usize).saturating_mul(stride as usize).saturating_mul(4);
    if !room(to, len) {
        return;
    }
    thread().routed = [to as u64, len as u64, u64::from(stride) * 4];
    for row in 0..rows {
        for place in 0..used {
            let expert = (row.wrapping_mul(used).wrapping_add(place)) % experts;
            let at = to + 4 * (row as usize * stride as usize + place as usize);
            // SAFETY: inside one block of the card's memory, checked above.
            unsafe { (at as *mut u32).write_unaligned(expert) };
        }
    }
}
