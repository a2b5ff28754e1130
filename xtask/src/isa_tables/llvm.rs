//! libLLVM as a black box, through the C disassembler API: takes bytes, returns one printed instruction and its length.
//!
//! The library is opened at run time, so that building the project needs no LLVM.
#![allow(unsafe_code, reason = "calls into libLLVM, opened at run time; nothing of ours crosses but byte buffers")]

use anyhow::{Context, bail};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;

type Init = unsafe extern "C" fn();
type Create = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    *mut c_void,
    c_int,
    *mut c_void,
    *mut c_void,
) -> *mut c_void;
type Disassemble = unsafe extern "C" fn(*mut c_void, *const u8, u64, u64, *mut c_char, usize) -> usize;
type Dispose = unsafe extern "C" fn(*mut c_void);

/// The opened library.
#[derive(Clone, Copy)]
pub struct Llvm {
    create: Create,
    disassemble: Disassemble,
    dispose: Dispose,
}

/// `$WHICHKERNEL_LIBLLVM`, otherwise the path of Debian's libllvm22.
pub fn path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("WHICHKERNEL_LIBLLVM") {
        return Some(PathBuf::from(path));
    }
    let places = ["/usr/lib/llvm-22/lib/libLLVM.so.22.1", "/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1"];
    places.iter().map(PathBuf::from).find(|path| path.exists())
}

impl Llvm {
    pub fn open() -> anyhow::Result<Self> {
        let path = path().context("libLLVM 22 is not here: install libllvm22, or set WHICHKERNEL_LIBLLVM")?;
        let name = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: the name is a NUL-terminated string; the library stays open for the life of the process.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            bail!("{}: cannot be opened as a library", path.display());
        }
        let symbol = |name: &CStr| {
            // SAFETY: `library` is a live handle.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            if address.is_null() {
                Err(anyhow::anyhow!("libLLVM has no {}", name.to_string_lossy()))
            } else {
                Ok(address)
            }
        };
        for init in
            [c"LLVMInitializeAMDGPUTargetInfo", c"LLVMInitializeAMDGPUTargetMC", c"LLVMInitializeAMDGPUDisassembler"]
        {
            // SAFETY: these functions take and return nothing, and may be called repeatedly.
            unsafe { std::mem::transmute::<*mut c_void, Init>(symbol(init)?)() };
        }
        // SAFETY: the signatures are those of llvm-c/Disassembler.h, stable since LLVM 3.
        unsafe {
            Ok(Llvm {
                create: std::mem::transmute::<*mut c_void, Create>(symbol(c"LLVMCreateDisasmCPUFeatures")?),
                disassemble: std::mem::transmute::<*mut c_void, Disassemble>(symbol(c"LLVMDisasmInstruction")?),
                dispose: std::mem::transmute::<*mut c_void, Dispose>(symbol(c"LLVMDisasmDispose")?),
            })
        }
    }

    fn disassembler(self, cpu: &str, features: &str) -> anyhow::Result<Disassembler> {
        let (name, features) = (CString::new(cpu)?, CString::new(features)?);
        let triple = c"amdgcn-amd-amdhsa";
        // SAFETY: three C strings; no callbacks.
        let handle = unsafe {
            (self.create)(triple.as_ptr(), name.as_ptr(), features.as_ptr(), null_mut(), 0, null_mut(), null_mut())
        };
        if handle.is_null() {
            bail!("LLVM has no disassembler for {cpu}");
        }
        Ok(Disassembler { llvm: self, handle, text: vec![0; 1024] })
    }
}

struct Disassembler {
    llvm: Llvm,
    handle: *mut c_void,
    text: Vec<u8>,
}

impl Disassembler {
    /// Length in bytes and the printed line, or None if LLVM does not decode the bytes.
    fn decode(&mut self, bytes: &[u8]) -> Option<(usize, &str)> {
        // SAFETY: both buffers are ours, with their sizes given; LLVM reads one and writes the other.
        let length = unsafe {
            (self.llvm.disassemble)(
                self.handle,
                bytes.as_ptr(),
                bytes.len() as u64,
                0,
                self.text.as_mut_ptr().cast(),
                self.text.len(),
            )
        };
        let text = CStr::from_bytes_until_nul(&self.text).ok()?.to_str().ok()?;
        (length > 0).then_some((length, text.trim()))
    }
}

impl Drop for Disassembler {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is disposed of once.
        unsafe { (self.llvm.dispose)(self.handle) }
    }
}

/// LLVM's answer for one encoding: the length in bytes and the printed mnemonic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub length: usize,
    pub name: String,
}

/// The first 16 bytes at an instruction.
pub type Words = [u32; 4];

/// One processor with each set of features in turn; the first set that decodes is used.
pub struct Oracle {
    disassemblers: Vec<Disassembler>,
}

/// A slot of the shared page: length, size of the name, name.
const SLOT: usize = 96;
const HEADER: usize = 64;

impl Oracle {
    pub fn new(llvm: Llvm, cpu: &str, features: &[&str]) -> anyhow::Result<Self> {
        let disassemblers =
            features.iter().map(|features| llvm.disassembler(cpu, features)).collect::<Result<_, _>>()?;
        Ok(Oracle { disassemblers })
    }

    /// Asks about each encoding in a child process, because LLVM 22 crashes on some encodings that it should refuse (a
    /// literal where the processor has none: it reads a freed error text). If the child dies, that encoding counts as
    /// refused, and another child continues after it.
    pub fn ask(&mut self, encodings: &[Words]) -> anyhow::Result<Vec<Option<Answer>>> {
        let mut answers = Vec::with_capacity(encodings.len());
        for chunk in encodings.chunks(1 << 18) {
            self.ask_chunk(chunk, &mut answers)?;
        }
        Ok(answers)
    }

    fn ask_chunk(&mut self, encodings: &[Words], answers: &mut Vec<Option<Answer>>) -> anyhow::Result<()> {
        let size = HEADER + SLOT * encodings.len();
        // SAFETY: a fresh anonymous mapping of `size` bytes, shared with the children, unmapped below.
        let shared = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            libc::mmap(null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if shared == libc::MAP_FAILED {
            bail!("no memory for {} answers", encodings.len());
        }
        // SAFETY: the mapping is `size` zeroed bytes; parent and child never use it at the same time.
        let page = unsafe { std::slice::from_raw_parts_mut(shared.cast::<u8>(), size) };
        let mut next = 0;
        while next < encodings.len() {
            // SAFETY: this program has one thread; the child runs only `work` and leaves by _exit.
            match unsafe { libc::fork() } {
                -1 => bail!("fork was refused"),
                0 => {
                    self.work(encodings, next, page);
                    // SAFETY: ends the child without running the parent's destructors.
                    unsafe { libc::_exit(0) }
                }
                child => {
                    let mut status = 0;
                    // SAFETY: waits for the child just made.
                    unsafe { libc::waitpid(child, &mut status, 0) };
                    let done = u64::from_le_bytes(page[..8].try_into()?) as usize;
                    next = if status == 0 { encodings.len() } else { done + 1 };
                    page[..8].copy_from_slice(&(next as u64).to_le_bytes());
                }
            }
        }
        for slot in page[HEADER..].chunks_exact(SLOT) {
            let name = slot.get(2..2 + usize::from(slot[1])).unwrap_or_default();
            let answer = Answer { length: slot[0].into(), name: String::from_utf8_lossy(name).into_owned() };
            answers.push((answer.length > 0).then_some(answer));
        }
        // SAFETY: the mapping made above, no longer referred to.
        unsafe { libc::munmap(shared, size) };
        Ok(())
    }

    fn work(&mut self, encodings: &[Words], from: usize, page: &mut [u8]) {
        // SAFETY: numbers only. Prevents a core file when the child crashes, as expected.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
        let (header, slots) = page.split_at_mut(HEADER);
        for (index, words) in encodings.iter().enumerate().skip(from) {
            header[..8].copy_from_slice(&(index as u64).to_le_bytes());
            let mut bytes = [0u8; 16];
            for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
                chunk.copy_from_slice(&word.to_le_bytes());
            }
            let slot = &mut slots[index * SLOT..][..SLOT];
            for disassembler in &mut self.disassemblers {
                if let Some((length, text)) = disassembler.decode(&bytes) {
                    let name = mnemonic(text);
                    let name = &name.as_bytes()[..name.len().min(SLOT - 2)];
                    (slot[0], slot[1]) = (length as u8, name.len() as u8);
                    slot[2..2 + name.len()].copy_from_slice(name);
                    break;
                }
            }
        }
    }
}

/// The first word of a printed line, or both of a dual instruction's.
pub fn mnemonic(text: &str) -> String {
    let head = |part: &str| part.split_whitespace().next().unwrap_or_default().to_owned();
    match text.split_once(" :: ") {
        Some((x, y)) => format!("{} :: {}", head(x), head(y)),
        None => head(text),
    }
}
