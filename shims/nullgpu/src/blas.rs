//! The door for the BLAS stand-in: its calls stand in the same trace, in order with the launches.

use crate::record::{Blas, kind};
use crate::{stream, sys, trace, world};
use core::ffi::c_void;

/// Called by the library that stands in for hipBLAS. Time, stream, graph and device are filled in here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn whichkernel_blas(call: *const Blas, on: *mut c_void) {
    world::world();
    // SAFETY: our own other library passes a record that lives for the call.
    let Some(call) = (unsafe { call.as_ref() }) else { return };
    let (stream, graph, device) = (stream::id(on), stream::captured(on), world::thread().device);
    let record = Blas { time_ns: sys::now_ns(), stream, graph, device, ..*call };
    trace::write(kind::BLAS, &[trace::bytes(&record)]);
    if call.bracket == 0 {
        stream::node(on, stream::CALL);
    }
}
