//! The entry for the BLAS stand-in: its calls are in the same trace, in order with the launches.

use crate::record::{Blas, kind};
use crate::{stream, sys, trace, world};
use core::ffi::{CStr, c_char, c_void};

/// Called by the stand-in for hipBLAS. Time, stream, graph and device are filled in here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn whichkernel_blas(call: *const Blas, on: *mut c_void) {
    world::world();
    // SAFETY: our own other library passes a record that lives for the call.
    let Some(call) = (unsafe { call.as_ref() }) else { return };
    let (stream, graph, device) = (stream::id(on), stream::captured(on), world::world().machines_number());
    let record = Blas { time_ns: sys::now_ns(), stream, graph, device, ..*call };
    crate::world::record(kind::BLAS, &[trace::bytes(&record)]);
    if call.bracket == 0 {
        stream::node(on, stream::CALL);
    }
    if graph == 0 {
        crate::launch::worked();
    }
}

/// Records a call of which only the name is known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn whichkernel_unsupported(name: *const c_char) {
    // SAFETY: our own other library passes a string that lives for the call.
    let name = if name.is_null() { &[][..] } else { unsafe { CStr::from_ptr(name) }.to_bytes() };
    crate::stubs::unsupported(name);
}
