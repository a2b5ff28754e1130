//! perf_event_open(2), which only Linux has.

use super::unix::AsRawFd;
use super::{Never, unsupported};
pub use crate::kernel_types::{Attr, UprobePlace, bit, sample};
use std::io;

#[derive(Debug)]
pub struct Event(Never);

impl Event {
    pub fn open(_: &Attr, _: i32, _: i32) -> io::Result<Event> {
        unsupported()
    }

    pub fn uprobe(_: &UprobePlace<'_>, _: &Attr, _: i32, _: i32) -> io::Result<Event> {
        unsupported()
    }

    pub fn attach(&self, _: &impl AsRawFd) -> io::Result<()> {
        match self.0 {}
    }

    pub fn enable(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn redirect(&self, _: &Buffer) -> io::Result<()> {
        match self.0 {}
    }

    pub fn id(&self) -> io::Result<u64> {
        match self.0 {}
    }

    pub fn hits(&self) -> io::Result<u64> {
        match self.0 {}
    }
}

#[derive(Debug)]
pub struct Buffer(Never);

impl Buffer {
    pub fn new(_: Event, _: usize) -> io::Result<Buffer> {
        unsupported()
    }

    pub fn read(&mut self, _: impl FnMut(u32, u16, &[u8])) -> usize {
        match self.0 {}
    }
}

pub fn process_buffers(_: i32, _: u64, _: usize) -> io::Result<Vec<Buffer>> {
    unsupported()
}

pub fn release<T: Send>(events: Vec<T>) {
    drop(events);
}

pub fn release_later<T: Send + 'static>(events: Vec<T>) {
    drop(events);
}

pub fn pmu() -> Option<u32> {
    None
}

pub fn processors() -> Vec<i32> {
    vec![0]
}

pub fn wait(_: &[Buffer], _: i32) {}
