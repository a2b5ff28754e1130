//! Our own in-memory library with one function, used for the canary and for measuring a probe's overhead.
//!
//! We never load or run a target's file: a user who can write its runtime would run code with our rights. So the same
//! probe is placed on our own function with the same name, the same frame and the same kind of instruction under it,
//! because that determines the cost (see `site`). The function does nothing and returns an error.

use crate::bpf::instrument::Probed;
use crate::probes::entries::{ENTRIES, Home, Role, Vk};
use crate::probes::site::{Price, Site};
use std::fs::File;
use std::io::{self, Write};
use sys::mapped_call::Function;
use sys::unix::{AsFd, AsRawFd};

/// The function's offset in the file.
const CODE: u64 = 0x1000;
const SIZE: u64 = 0x2000;

#[derive(Debug)]
pub struct Stub {
    /// The function of the target's runtime that the stub imitates.
    pub symbol: &'static str,
    pub home: Home,
    pub bytes: Vec<u8>,
    file: File,
}

impl Stub {
    /// A stub for the first probed launch function of a runtime.
    pub fn like(home: Home, probed: &Probed) -> io::Result<Option<Stub>> {
        let role = |role: Role| matches!(role, Role::Launch(_) | Role::Vulkan(Vk::Dispatch));
        let launches = |symbol: &str| ENTRIES.iter().any(|entry| entry.symbol == symbol && role(entry.role));
        let Some((symbol, site)) = probed.functions.iter().find(|(symbol, _)| launches(symbol)) else {
            return Ok(None);
        };
        let bytes = library(symbol, &code(*site));
        let mut file = sys::host::file_in_memory("whichkernel-canary")?;
        file.write_all(&bytes)?;
        Ok(Some(Stub { symbol, home, bytes, file }))
    }

    /// The path under which the Linux kernel finds the file.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_raw_fd())
    }

    /// The function for a child process to map and call.
    pub fn function(&self) -> Function<'_> {
        Function { file: self.file.as_fd(), size: SIZE as usize, at: CODE as usize }
    }
}

/// Code in which the cheapest site has this frame and price.
fn code(site: Site) -> Vec<u8> {
    let mut out = Vec::new();
    let frame = i32::from(site.pushed).to_le_bytes();
    if site.pushed != 0 {
        // sub rsp, frame
        out.extend([0x48, 0x81, 0xec]);
        out.extend(frame);
    }
    match site.price {
        // nop dword [rax+rax+0]
        Price::Optimised => out.extend([0x0f, 0x1f, 0x44, 0, 0]),
        // push rbp; pop rbp
        Price::Emulated => out.extend([0x55, 0x5d]),
        Price::Stepped => {}
    }
    if site.pushed != 0 {
        // add rsp, frame
        out.extend([0x48, 0x81, 0xc4]);
        out.extend(frame);
    }
    // mov eax, 1; ret: hipErrorInvalidValue and CUDA_ERROR_INVALID_VALUE, so that it never counts as a launch.
    out.extend([0xb8, 1, 0, 0, 0, 0xc3]);
    out
}

/// An ELF file with one dynamic symbol (System V ABI, chapters 4 and 5): just the parts that [`crate::probes::symbols`]
/// reads.
fn library(symbol: &str, code: &[u8]) -> Vec<u8> {
    const HEADER: u64 = 64;
    const SEGMENT: u64 = 56;
    const SECTION: u64 = 64;
    const SYMBOL: u64 = 24;
    let names: Vec<u8> = [&[0], symbol.as_bytes(), &[0]].concat();
    let symbols_at = HEADER + SEGMENT;
    let names_at = symbols_at + 2 * SYMBOL;
    let sections_at = (names_at + names.len() as u64).next_multiple_of(8);
    let mut out = Out(Vec::with_capacity(SIZE as usize));
    // e_ident, e_type ET_DYN, e_machine x86-64, e_version, e_entry, e_phoff, e_shoff, e_flags
    out.bytes(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.short(3).short(62).word(1).long(0).long(HEADER).long(sections_at).word(0);
    // e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
    out.short(HEADER as u16).short(SEGMENT as u16).short(1).short(SECTION as u16).short(3).short(0);
    // PT_LOAD, R+X: all of it, at its own offset
    out.word(1).word(5).long(0).long(0).long(0).long(SIZE).long(SIZE).long(0x1000);
    // the null symbol; then a global function in section 1
    out.bytes(&[0; SYMBOL as usize]);
    out.word(1).bytes(&[0x12, 0]).short(1).long(CODE).long(code.len() as u64);
    out.bytes(&names).pad(sections_at);
    // sections: null, .dynsym (11), .dynstr (3)
    out.bytes(&[0; SECTION as usize]);
    out.word(0)
        .word(11)
        .long(0)
        .long(symbols_at)
        .long(symbols_at)
        .long(2 * SYMBOL)
        .word(2)
        .word(1)
        .long(8)
        .long(SYMBOL);
    out.word(0).word(3).long(0).long(names_at).long(names_at).long(names.len() as u64).word(0).word(0).long(1).long(0);
    out.pad(CODE).bytes(code).pad(SIZE);
    out.0
}

struct Out(Vec<u8>);

impl Out {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Out {
        self.0.extend(bytes);
        self
    }

    fn short(&mut self, value: u16) -> &mut Out {
        self.bytes(&value.to_le_bytes())
    }

    fn word(&mut self, value: u32) -> &mut Out {
        self.bytes(&value.to_le_bytes())
    }

    fn long(&mut self, value: u64) -> &mut Out {
        self.bytes(&value.to_le_bytes())
    }

    fn pad(&mut self, to: u64) -> &mut Out {
        self.0.resize(to as usize, 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::site::cheapest;
    use crate::probes::symbols::entries_of;

    /// For every possible site of a target's function, the stub has the same site.
    #[test]
    fn the_same_frame_and_price() {
        for (price, pushed) in [
            (Price::Optimised, 0),
            (Price::Optimised, 0x28),
            (Price::Emulated, 0),
            (Price::Emulated, 0x118),
            (Price::Stepped, 0),
        ] {
            let wanted = Site { offset: 0, pushed, price };
            let probed = Probed {
                functions: vec![("hipMemcpy", wanted), ("cuLaunchKernel", wanted)],
                stepped: 0,
                uncounted: Vec::new(),
            };
            let stub = Stub::like(Home::Cuda, &probed).expect("in memory").expect("it launches");
            let symbols = entries_of(&stub.bytes, Home::Cuda).expect("a library");
            let [symbol] = &symbols[..] else { panic!("{symbols:?}") };
            assert_eq!(ENTRIES.get(symbol.entry).map(|entry| entry.symbol), Some("cuLaunchKernel"));
            assert_eq!(symbol.offset, CODE);
            let site = cheapest(&symbol.code, true);
            assert_eq!((site.pushed, site.price), (pushed, price), "{site:?}");
        }
    }
}
