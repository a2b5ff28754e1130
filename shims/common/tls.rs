//! A block of zeroed memory per thread. `#[thread_local]` is not in stable Rust, so the variable is declared in
//! assembly and accessed as the psABI requires (general dynamic model, which works for preloaded and for dlopened
//! libraries alike).

use core::arch::{asm, global_asm};

pub const SIZE: usize = 256;

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 16",
    ".type wk_thread_block,@object",
    ".size wk_thread_block,256",
    ".hidden wk_thread_block",
    "wk_thread_block:",
    ".zero 256",
    ".popsection",
);

/// This thread's block.
pub fn block() -> *mut u8 {
    let at: *mut u8;
    // SAFETY: the call sequence of the ABI, with every register that a call may change named; the stack is aligned for
    // a call at the start of an asm block without the option `nostack`.
    unsafe {
        asm!(
            ".byte 0x66",
            "lea rdi, [rip + wk_thread_block@tlsgd]",
            ".byte 0x66, 0x66, 0x48",
            "call __tls_get_addr@PLT",
            out("rax") at,
            clobber_abi("C"),
        );
    }
    at
}
