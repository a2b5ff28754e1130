//! A program that forbids itself system calls (seccomp): from then on we make none on its behalf.
//!
//! Filters are installed through `prctl` or `syscall`, which libseccomp uses too. Both are forwarded unchanged. Just
//! before, while everything is still allowed, space for records is created and every real function is looked up.
//! Records beyond that space are counted as lost. A filter that a program installs with its own system call instruction
//! cannot be seen.

use crate::{kernels, lookup, memory, shapes, start, sys, trace, wrapped};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

const PR_SET_SECCOMP: c_int = 22;
/// The number of segments created in advance: enough for a million repeated launches.
const AHEAD: u64 = 8;

core::arch::global_asm!(
    ".globl syscall",
    ".type syscall,@function",
    "syscall:",
    "endbr64",
    "cmp edi, 317",
    "je 3f",
    "cmp edi, 157",
    "jne 4f",
    "cmp esi, 22",
    "je 3f",
    "4: mov rax, qword ptr [rip + {real}]",
    "test rax, rax",
    "jz 5f",
    "jmp rax",
    "3:",
    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 8",
    "call {sealing}",
    "add rsp, 8", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
    "jmp 4b",
    "5:",
    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 8",
    "call {find}",
    "add rsp, 8", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
    "jmp rax",
    ".size syscall, . - syscall",
    real = sym SYSCALL,
    sealing = sym sealing,
    find = sym find,
);

static SYSCALL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
static PRCTL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// The C library's `syscall`, which every process with this library has.
extern "C" fn find() -> *mut c_void {
    let found = lookup::next(c"syscall");
    SYSCALL.store(found, Ordering::Release);
    if found.is_null() { refuse as *mut c_void } else { found }
}

extern "C" fn refuse() -> i64 {
    -1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    type Real = unsafe extern "C" fn(c_int, usize, usize, usize, usize) -> c_int;
    if option == PR_SET_SECCOMP {
        sealing();
    }
    let mut real = PRCTL.load(Ordering::Acquire);
    if real.is_null() {
        real = lookup::next(c"prctl");
        PRCTL.store(real, Ordering::Release);
    }
    if real.is_null() {
        return -1;
    }
    // SAFETY: the C library's function of that name; arguments that the caller did not pass are not read.
    unsafe { core::mem::transmute::<*mut c_void, Real>(real)(option, a, b, c, d) }
}

#[cold]
extern "C" fn sealing() {
    // A program without a GPU runtime that never looked for one needs no record.
    if sys::sealed() || !wrapped::TABLE.iter().any(|wrapped| !wrapped.real.load(Ordering::Acquire).is_null()) && !any_runtime() {
        sys::seal();
        return;
    }
    start();
    for wrapped in wrapped::TABLE {
        wrapped::behind(wrapped.real, wrapped.name);
    }
    kernels::prepare();
    shapes::prepare();
    memory::prepare();
    trace::ahead(AHEAD);
    sys::seal();
    trace::settle();
}

fn any_runtime() -> bool {
    !lookup::next(c"hipLaunchKernel").is_null() || !lookup::next(c"cudaLaunchKernel").is_null() || !lookup::next(c"cuLaunchKernel").is_null()
}
