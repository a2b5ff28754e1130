//! Calls that HIP's headers declare for C++: programs look them up by their mangled names (rocBLAS of ROCm 5 does).

use crate::launch::hipExtModuleLaunchKernel;
use core::ffi::c_void;

forward! {
    extern fn _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
        function: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, on: *mut c_void,
        args: *mut *mut c_void, list: *mut *mut c_void, start: *mut c_void, stop: *mut c_void, flags: u32
    ) = hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, on, args, list, start, stop, flags);
    extern fn _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
        function: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, on: *mut c_void,
        args: *mut *mut c_void, list: *mut *mut c_void, start: *mut c_void, stop: *mut c_void
    ) = hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, on, args, list, start, stop, 0);
}
