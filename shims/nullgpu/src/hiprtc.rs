//! HIP's run-time compiler, which needs no GPU. Up to ROCm 6 the HIP library exports its functions too: they lead to the
//! real compiler, if the system has one.

use crate::error::Status;
use crate::lock::Lock;
use crate::{real, stubs};
use core::ffi::{CStr, c_char, c_void};

/// `HIPRTC_ERROR_INTERNAL_ERROR`.
const INTERNAL: usize = 11;

static COMPILER: Lock<usize> = Lock::new(0);

fn function(name: &CStr) -> *mut c_void {
    let mut library = COMPILER.lock();
    if *library == 0 {
        let names = [c"libhiprtc.so.7", c"libhiprtc.so.6", c"libhiprtc.so.5", c"libhiprtc.so"];
        let found = names.iter().map(|name| real::loaded(name)).find(|handle| !handle.is_null());
        let opened = || names.iter().map(|name| real::open(name)).find(|handle| !handle.is_null());
        *library = found.or_else(opened).unwrap_or(core::ptr::null_mut()) as usize;
    }
    if *library == 0 { core::ptr::null_mut() } else { real::symbol(*library as *mut c_void, name) }
}

/// No function has more than eight arguments, all of them integers or pointers.
type Any = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize, usize) -> usize;

/// SAFETY: the arguments are those of the function of that name.
unsafe fn hand_over(name: &CStr, args: [usize; 8]) -> usize {
    let function = function(name);
    if function.is_null() {
        stubs::note(name.to_bytes());
        return INTERNAL;
    }
    let [a, b, c, d, e, f, g, h] = args;
    // SAFETY: a function of the real compiler, with the caller's arguments; it ignores those beyond its own.
    unsafe { core::mem::transmute::<*mut c_void, Any>(function)(a, b, c, d, e, f, g, h) }
}

macro_rules! compiler {
    ($($(#[$about:meta])* extern fn $name:ident(...);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize) -> Status {
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            // SAFETY: guaranteed by the caller.
            unsafe { hand_over(NAME, [a, b, c, d, e, f, g, h]) as Status }
        }
    )*};
}

compiler! {
    extern fn hiprtcAddNameExpression(...);
    extern fn hiprtcCompileProgram(...);
    extern fn hiprtcCreateProgram(...);
    extern fn hiprtcDestroyProgram(...);
    extern fn hiprtcGetBitcode(...);
    extern fn hiprtcGetBitcodeSize(...);
    extern fn hiprtcGetCode(...);
    extern fn hiprtcGetCodeSize(...);
    extern fn hiprtcGetLoweredName(...);
    extern fn hiprtcGetProgramLog(...);
    extern fn hiprtcGetProgramLogSize(...);
    extern fn hiprtcLinkAddData(...);
    extern fn hiprtcLinkAddFile(...);
    extern fn hiprtcLinkComplete(...);
    extern fn hiprtcLinkCreate(...);
    extern fn hiprtcLinkDestroy(...);
    extern fn hiprtcVersion(...);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetErrorString(status: Status) -> *const c_char {
    let real = function(c"hiprtcGetErrorString");
    if real.is_null() {
        return c"HIPRTC_ERROR_INTERNAL_ERROR: no libhiprtc was found".as_ptr();
    }
    // SAFETY: the real function of that name.
    unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(Status) -> *const c_char>(real)(status) }
}
