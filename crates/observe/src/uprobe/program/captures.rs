//! Captures and graphs that are built by hand: under which capture a stream launches, what a node is made of.

use super::super::asm::Reg::{R0, R1, R3, R6, R10};
use super::super::asm::Size::{Long, Word};
use super::super::asm::{If, Label};
use super::super::entries::Node;
use super::super::wire::{counter, key, kind};
use super::frame::{ARGS_AT, Body, COUNTER, EXTRA, KEY, OUTER, PAIR, STREAM, TASK, TEMP, regs};

const ANY: i32 = 0;

impl Body {
    /// The capture that the stream is part of, into the key. One that has ended is none: streams that had joined it are not told.
    pub(super) fn captured(&mut self) {
        let none = self.asm.label();
        self.capture_of(STREAM, self.maps.captures, none);
        self.asm.load(Long, R1, R10, TEMP);
        self.asm.store(Word, R10, KEY + key::GRAPH, R1);
        self.asm.place(none);
    }

    /// The number of a capture that goes on, by a stream or event, into TEMP.
    fn capture_of(&mut self, what: i16, map: i32, none: Label) {
        self.pair(what, None);
        self.value_of(map, none);
        self.asm.store(Long, R10, TEMP, R0);
        self.pair(TEMP, None);
        self.value_of(self.maps.active, none);
    }

    pub(super) fn begin_capture(&mut self) {
        self.register(STREAM, regs::DI, Long);
        self.asm.store_imm(Word, R10, COUNTER, counter::CAPTURES);
        self.look_up(self.maps.counters, COUNTER);
        self.asm.jump_if(If::Equal, R0, 0, self.out);
        self.asm.mov_imm(R1, 1);
        self.asm.atomic_fetch_add(R0, 0, R1);
        self.asm.add_imm(R1, 1);
        self.asm.store(Long, R10, TEMP, R1);
        self.pair(STREAM, None);
        self.update(self.maps.captures, PAIR, TEMP, ANY);
        self.pair(TEMP, None);
        self.update(self.maps.active, PAIR, TEMP, ANY);
    }

    /// `(stream, graph *out)`: the capture's number goes along as the handle.
    pub(super) fn end_capture(&mut self, number: i32) {
        self.register(STREAM, regs::DI, Long);
        self.register(EXTRA, regs::SI, Long);
        self.captured();
        self.asm.load(Word, R1, R10, KEY + key::GRAPH);
        self.asm.store(Long, R10, KEY + key::HANDLE, R1);
        self.pair(KEY + key::HANDLE, None);
        self.delete(self.maps.active);
        self.pair(STREAM, None);
        self.delete(self.maps.captures);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    /// `(event, stream)`: whoever waits for an event of a captured stream joins the capture.
    pub(super) fn record_event(&mut self) {
        self.register(EXTRA, regs::DI, Long);
        self.register(STREAM, regs::SI, Long);
        let none = self.asm.label();
        self.capture_of(STREAM, self.maps.captures, none);
        self.pair(EXTRA, None);
        self.update(self.maps.events, PAIR, TEMP, ANY);
        self.asm.jump(self.out);
        self.asm.place(none);
        // Recorded anew, outside of any capture.
        self.pair(EXTRA, None);
        self.delete(self.maps.events);
    }

    /// `(stream, event, ...)`
    pub(super) fn wait_event(&mut self) {
        self.register(STREAM, regs::DI, Long);
        self.register(EXTRA, regs::SI, Long);
        self.capture_of(EXTRA, self.maps.events, self.out);
        self.pair(STREAM, None);
        self.update(self.maps.captures, PAIR, TEMP, ANY);
    }

    /// The parameters of a kernel node, `at` the register that points at them, into the key.
    fn node(&mut self, node: Node, at: i16) {
        let part = |body: &mut Body, to: i16, len: i32, offset: i32| {
            body.read_user(to, len, |asm| {
                asm.load(Long, R3, R6, at);
                asm.add_imm(R3, offset);
            });
        };
        match node {
            Node::Hip => {
                part(self, KEY + key::HANDLE, 8, 24);
                part(self, KEY + key::BLOCK, 12, 0);
                part(self, KEY + key::GRID, 12, 32);
                part(self, KEY + key::SHARED, 4, 56);
            }
            // Grid, block and shared memory follow each other there as in the key. Since CUDA 12 the function may be null, and
            // a kernel stands behind.
            Node::Cuda => {
                part(self, KEY + key::HANDLE, 8, 0);
                part(self, KEY + key::GRID, 28, 8);
                let function = self.asm.label();
                self.asm.load(Long, R1, R10, KEY + key::HANDLE);
                self.asm.jump_if(If::NotEqual, R1, 0, function);
                part(self, KEY + key::HANDLE, 8, 56);
                self.asm.place(function);
            }
        }
    }

    /// `(node *out, graph, after *, how many, parameters *)`: told when it has returned, with the graph beside it.
    pub(super) fn add_node(&mut self, node: Node, number: i32) {
        self.node(node, regs::R8);
        self.register(EXTRA, regs::DI, Long);
        self.register(ARGS_AT, regs::SI, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    /// `(exec, node, parameters *)`
    pub(super) fn set_node(&mut self, node: Node) {
        self.node(node, regs::DX);
        self.register(STREAM, regs::DI, Long);
        self.register(OUTER, regs::SI, Long);
        self.ship(kind::CALL);
    }

    /// `(node *out, graph, after *, how many, child graph)`
    pub(super) fn add_child(&mut self) {
        self.register(KEY + key::HANDLE, regs::SI, Long);
        self.register(STREAM, regs::R8, Long);
        self.ship(kind::CALL);
    }
}
