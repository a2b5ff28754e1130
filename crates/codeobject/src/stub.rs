//! Detects kernels without device code.
//!
//! A source without code for a target still compiles every template for it. The body then calls a function such as
//! ggml's `no_device_code`, which prints and traps, or it is a bare trap, or it is empty. The kernel is shipped and
//! registered and can be launched, but it computes nothing.
//!
//! The rule examines the code, not the name. A kernel that computes ends with `s_endpgm`. If the whole (short) code has
//! no `s_endpgm`, the compiler proved that no path through the kernel ends: it can only trap, loop, or call functions
//! that never return. If the first relevant instruction is `s_endpgm`, the kernel does nothing. Both rules were checked
//! against every kernel of Debian's libggml-hip.so and against clang's output for an empty kernel and for
//! `__builtin_trap` on each family.

use crate::read::u32_at;
use std::fmt;

/// Longer code is not examined: the stubs of ggml are 40 to 84 bytes, a bare trap on gfx11 is 52.
pub const LIMIT: u64 = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stub {
    /// The kernel has device code.
    No,
    /// Every path ends in a call that never returns, or in a trap.
    NoReturn,
    /// The kernel ends without doing anything.
    Empty,
    /// The kernel's code could not be found.
    Unknown,
}

impl Stub {
    pub fn is_stub(self) -> bool {
        matches!(self, Stub::NoReturn | Stub::Empty)
    }
}

impl fmt::Display for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stub::No => "no",
            Stub::NoReturn => "no-return",
            Stub::Empty => "empty",
            Stub::Unknown => "unknown",
        })
    }
}

/// Classifies the whole code of a kernel, which is no longer than [`LIMIT`].
pub fn judge(code: &[u8], processor: &str) -> Stub {
    let gfx11 = processor.starts_with("gfx11") || processor.starts_with("gfx12");
    let end = if gfx11 { 0xbfb0_0000 } else { 0xbf81_0000 };
    let mut words = code.chunks_exact(4).map(|word| u32_at(word, 0));
    match words.clone().position(|word| word == end) {
        None if code.is_empty() => Stub::Unknown,
        None => Stub::NoReturn,
        // Only hints may precede it: SOPP s_nop, s_waitcnt and similar (0xbf8.....) have no effect by themselves.
        Some(at) if words.by_ref().take(at).all(|word| is_hint(word, gfx11)) => Stub::Empty,
        Some(_) => Stub::No,
    }
}

/// s_nop, s_clause, s_delay_alu, s_waitcnt; on gfx11 also s_sendmsg MSG_DEALLOC_VGPRS.
fn is_hint(word: u32, gfx11: bool) -> bool {
    if word >> 23 != 0b1_0111_1111 {
        return false;
    }
    let op = (word >> 16) & 0x7f;
    match gfx11 {
        true => matches!(op, 0 | 5 | 7 | 9) || word == 0xbfb6_0003,
        false => matches!(op, 0 | 12 | 33),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_call_that_never_returns_is_a_stub() {
        // mul_mat_q on gfx1100 and gfx908: set up the call of no_device_code, s_swappc_b64, nothing after it.
        let gfx1100 = code(&[0xbe804700, 0x8000ff00, 0xfffa4778, 0x8201ff01, 0xffffffff, 0xbea00080, 0xbe9e4900]);
        assert_eq!(judge(&gfx1100, "gfx1100"), Stub::NoReturn);
        let gfx908 = code(&[0xbe841c00, 0x8004ff04, 0xfffcc3f4, 0x8205ff05, 0xffffffff, 0xbea00080, 0xbe9e1e04]);
        assert_eq!(judge(&gfx908, "gfx908"), Stub::NoReturn);
        assert_eq!(judge(&code(&[0xbf920002]), "gfx900"), Stub::NoReturn);
    }

    #[test]
    fn nothing_before_the_end_is_empty_and_a_store_is_not() {
        assert_eq!(judge(&code(&[0xbf810000]), "gfx900"), Stub::Empty);
        assert_eq!(judge(&code(&[0xbf800000, 0xbfb60003, 0xbfb00000]), "gfx1201"), Stub::Empty);
        assert_eq!(judge(&code(&[0x7e000280, 0xdc708000, 0x00000000, 0xbf810000]), "gfx900"), Stub::No);
        assert_eq!(judge(&[], "gfx900"), Stub::Unknown);
    }
}
