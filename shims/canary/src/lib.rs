//! A small program that maps a runtime and calls its launch function with null arguments, so that an observer can prove
//! that it sees the call. With a number it also prints the time of a call in nanoseconds: the best of several rounds.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

use core::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn alarm(seconds: u32) -> u32;
    fn atoi(text: *const c_char) -> c_int;
    fn printf(format: *const c_char, ...) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the process.
    unsafe { abort() }
}

/// A function with more arguments than registers for any launch.
type Call = unsafe extern "C" fn(usize, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> c_int;

/// The number of calls if nothing is timed.
const CALLS: c_int = 3;
/// A timeout, because a runtime may hang if its device does.
const SECONDS: u32 = 20;
const RTLD_NOW: c_int = 2;
const THREAD_TIME: c_int = 3;

fn now() -> i64 {
    let mut time = [0_i64; 2];
    // SAFETY: the variable lives for the call.
    unsafe { clock_gettime(THREAD_TIME, &raw mut time) };
    time[0] * 1_000_000_000 + time[1]
}

/// `canary LIBRARY SYMBOL [ROUND]`. Exit code 3: the library cannot be opened; 4: it has no such function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    if count < 3 {
        return 2;
    }
    // SAFETY: the words are our own command line. The function takes words, and rejects a launch without a kernel.
    unsafe {
        alarm(SECONDS);
        let library = dlopen(*words.add(1), RTLD_NOW);
        if library.is_null() {
            return 3;
        }
        let found = dlsym(library, *words.add(2));
        if found.is_null() {
            return 4;
        }
        let call = core::mem::transmute::<*mut c_void, Call>(found);
        if count < 4 {
            for _ in 0..CALLS {
                call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            }
            return 0;
        }
        let (round, mut best) = (atoi(*words.add(3)).max(1), i64::MAX);
        for _ in 0..10 {
            let start = now();
            for kernel in 0..round {
                call(0x1000 + (kernel as usize & 7) * 16, 1 << 32 | 1, 1, 1 << 32 | 64, 1, 0, 0, 0, 0, 0, 0);
            }
            best = best.min(now() - start);
        }
        printf(c"%.1f\n".as_ptr(), best as f64 / f64::from(round));
    }
    0
}
