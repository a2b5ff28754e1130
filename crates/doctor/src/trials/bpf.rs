//! bpf(2): may we load a program of the kind that runs on a uprobe?

#![allow(unsafe_code, reason = "bpf is a raw system call")]

use crate::trials::Trial;
use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

const PROG_LOAD: libc::c_long = 5;
/// BPF_PROG_TYPE_KPROBE, which uprobes use as well.
const KPROBE: u32 = 2;

/// The part of `union bpf_attr` that BPF_PROG_LOAD needs (include/uapi/linux/bpf.h).
#[repr(C)]
struct Load {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
}

/// `r0 = 1; exit`: let the event pass. (A program that returns 0 would filter it, and nothing would be counted.)
const PASS: [u64; 2] = [0x0000_0001_0000_00b7, 0x0000_0000_0000_0095];

pub fn program() -> io::Result<File> {
    let license = c"Dual MIT/GPL";
    let attr = Load {
        prog_type: KPROBE,
        insn_cnt: PASS.len() as u32,
        insns: PASS.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log_buf: 0,
        kern_version: 0,
        prog_flags: 0,
    };
    // SAFETY: the kernel reads `attr`, two instructions and a NUL-terminated string, all alive here.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, PROG_LOAD, &raw const attr, size_of::<Load>()) };
    match i32::try_from(fd) {
        // SAFETY: the kernel just gave us this descriptor, and nobody else has it.
        Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

pub fn load() -> Trial {
    match program() {
        Ok(_) => Trial::worked("BPF_PROG_LOAD"),
        Err(error) => Trial::refused("bpf(BPF_PROG_LOAD)", &error),
    }
}
