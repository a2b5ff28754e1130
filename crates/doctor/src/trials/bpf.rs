//! bpf(2): may we load a program of the kind that runs on a uprobe?

use crate::trials::Trial;
use sys::bpf::{self, Use};

/// `r0 = 1; exit`: let the event pass. (A program that returns 0 would filter it, and nothing would be counted.)
const PASS: [u64; 2] = [0x0000_0001_0000_00b7, 0x0000_0000_0000_0095];

pub fn load() -> Trial {
    match bpf::load(&PASS, Use::Event) {
        Ok(_) => Trial::worked("BPF_PROG_LOAD"),
        Err(error) => Trial::refused("bpf(BPF_PROG_LOAD)", &error),
    }
}
