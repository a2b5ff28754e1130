//! Captures: which one a stream's launches belong to.

use crate::bpf::asm::Reg::{R0, R1, R2, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{If, Label};
use crate::bpf::program::frame::{ARGS_AT, Body, EXTRA, KEY, OUTER, PAIR, STREAM, TASK, TEMP, regs};
use crate::bpf::wire::{counter, key, kind};

const ANY: i32 = 0;

impl Body {
    /// Puts the stream's capture into the key. A capture that has ended does not count, although the streams that
    /// joined it are still in the map.
    pub(crate) fn captured(&mut self) {
        let none = self.asm.label();
        // Nothing is captured before the first capture begins.
        self.asm.map_value(R1, self.maps.counters, 8 * counter::CAPTURES);
        self.asm.load(Long, R1, R1, 0);
        self.asm.jump_if(If::Equal, R1, 0, none);
        self.capture_of(STREAM, self.maps.captures, none);
        self.asm.load(Long, R1, R10, TEMP);
        self.asm.store(Word, R10, KEY + key::GRAPH, R1);
        self.asm.place(none);
    }

    /// Puts the number of an active capture, by stream or event, into TEMP.
    fn capture_of(&mut self, what: i16, map: i32, none: Label) {
        self.pair(what, None);
        self.value_of(map, none);
        self.asm.store(Long, R10, TEMP, R0);
        self.pair(TEMP, None);
        self.value_of(self.maps.active, none);
    }

    /// Every thread has its own stream under the same name (`hipStreamPerThread`, `CU_STREAM_PER_THREAD`: 2). In the
    /// per-thread functions, a null stream also means that stream.
    pub(crate) fn own_stream(&mut self, per_thread: bool) {
        const PER_THREAD: i32 = 2;
        let (own, shared) = (self.asm.label(), self.asm.label());
        self.asm.load(Long, R1, R10, STREAM);
        self.asm.jump_if(If::Equal, R1, PER_THREAD, own);
        if per_thread {
            self.asm.jump_if(If::Equal, R1, 0, own);
        }
        self.asm.jump(shared);
        self.asm.place(own);
        self.asm.load(Long, R1, R10, TASK);
        self.asm.store(Long, R10, STREAM, R1);
        self.asm.place(shared);
    }

    /// `(stream, ...)`, or `(stream, graph, ...)`: then the graph is reported with the capture's number.
    pub(crate) fn begin_capture(&mut self, per_thread: bool, into: bool) {
        self.register(STREAM, regs::DI, Long);
        self.own_stream(per_thread);
        self.asm.map_value(R2, self.maps.counters, 8 * counter::CAPTURES);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_fetch_add(R2, 0, R1);
        self.asm.add_imm(R1, 1);
        self.asm.store(Long, R10, TEMP, R1);
        self.pair(STREAM, None);
        self.keep(self.maps.captures, PAIR, TEMP);
        self.pair(TEMP, None);
        self.keep(self.maps.active, PAIR, TEMP);
        if into {
            self.register(OUTER, regs::SI, Long);
            self.asm.load(Long, R1, R10, TEMP);
            self.asm.store(Long, R10, KEY + key::HANDLE, R1);
            self.ship(kind::ANSWER);
        }
    }

    /// `(stream, graph *out)`: the capture's number is sent as the handle.
    pub(crate) fn end_capture(&mut self, number: i32, per_thread: bool) {
        self.register(STREAM, regs::DI, Long);
        self.own_stream(per_thread);
        self.register(EXTRA, regs::SI, Long);
        self.captured();
        self.asm.load(Word, R1, R10, KEY + key::GRAPH);
        self.asm.store(Long, R10, KEY + key::HANDLE, R1);
        self.pair(KEY + key::HANDLE, None);
        self.delete(self.maps.active);
        self.pair(STREAM, None);
        self.delete(self.maps.captures);
        // If the capture began before the observation, the stream identifies its launches.
        self.asm.load(Long, R1, R10, STREAM);
        self.asm.store(Long, R10, ARGS_AT, R1);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    /// `(event, stream)`: a stream that waits for an event of a captured stream joins the capture.
    pub(crate) fn record_event(&mut self, per_thread: bool) {
        self.register(EXTRA, regs::DI, Long);
        self.register(STREAM, regs::SI, Long);
        self.own_stream(per_thread);
        let none = self.asm.label();
        self.capture_of(STREAM, self.maps.captures, none);
        self.pair(EXTRA, None);
        self.update(self.maps.events, PAIR, TEMP, ANY);
        self.asm.jump(self.out);
        self.asm.place(none);
        // Recorded again, outside any capture.
        self.pair(EXTRA, None);
        self.delete(self.maps.events);
    }

    /// `(stream, event, ...)`
    pub(crate) fn wait_event(&mut self, per_thread: bool) {
        self.register(STREAM, regs::DI, Long);
        self.own_stream(per_thread);
        self.register(EXTRA, regs::SI, Long);
        self.capture_of(EXTRA, self.maps.events, self.out);
        self.pair(STREAM, None);
        self.keep(self.maps.captures, PAIR, TEMP);
    }
}
