//! bpf(2), which only Linux has.

use super::unix::OwnedFd;
use super::{Never, unsupported};
pub use crate::kernel_types::{MapKind, Use};
use std::ffi::CStr;
use std::io;
use std::process::Command;

#[derive(Debug)]
pub struct Map(Never);

impl Map {
    pub fn new(_: MapKind, _: u32, _: u32, _: u32) -> io::Result<Map> {
        unsupported()
    }

    pub fn fd(&self) -> i32 {
        match self.0 {}
    }

    pub fn enter_before_exec(&self, _: &mut Command) {
        match self.0 {}
    }

    pub fn put(&self, _: &[u8], _: &[u8]) -> io::Result<()> {
        match self.0 {}
    }

    pub fn get(&self, _: &[u8]) -> io::Result<Vec<u8>> {
        match self.0 {}
    }

    pub fn remove(&self, _: &[u8]) -> io::Result<()> {
        match self.0 {}
    }

    pub fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        match self.0 {}
    }
}

pub fn uprobe(_: &OwnedFd, _: &str, _: &[u64], _: bool) -> io::Result<OwnedFd> {
    unsupported()
}

pub fn run(_: &OwnedFd, _: &CStr) -> io::Result<OwnedFd> {
    unsupported()
}

pub fn load(_: &[u64], _: Use) -> io::Result<OwnedFd> {
    unsupported()
}

#[derive(Debug)]
pub struct Ring(Never);

impl Ring {
    pub fn new(_: u32) -> io::Result<Ring> {
        unsupported()
    }

    pub fn map(&self) -> &Map {
        match self.0 {}
    }

    pub fn wait(&self, _: i32) {
        match self.0 {}
    }

    pub fn read(&mut self, _: usize, _: impl FnMut(&[u8])) -> usize {
        match self.0 {}
    }
}
