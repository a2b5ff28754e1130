//! Calls that build, change and launch graphs: their arguments, reported once the call was accepted.
//!
//! In these records, the key's handle is the kernel or graph of a node, the kind of node is in the capture's field, the
//! graph or executable graph is in the stream field, and the node is in the field of the runtime's handle.

use crate::bpf::asm::Reg::{R0, R1, R3, R6, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Asm, If};
use crate::bpf::program::frame::{ARGS_AT, Body, EXTRA, KEY, PAIR, STREAM, TASK, TEMP, regs};
use crate::bpf::wire::{counter, key};
use crate::probes::entries::{At, Flags, Node, Params, node};

impl At {
    fn register(self) -> i16 {
        match self {
            At::Second => regs::SI,
            At::Third => regs::DX,
            At::Fifth => regs::R8,
            At::Sixth => regs::R9,
        }
    }
}

impl Body {
    fn argument(&mut self, at: At) -> impl Fn(&mut Asm) + Copy + use<> {
        let register = at.register();
        move |asm: &mut Asm| asm.load(Long, R3, R6, register)
    }

    /// Reads the parameters of a node into the key; `base` leaves their address in R3.
    fn node(&mut self, params: Params, base: impl Fn(&mut Asm) + Copy) {
        const UNION: i32 = 16;
        let part = |body: &mut Body, to: i16, len: i32, offset: i32| {
            body.read_user(to, len, |asm| {
                base(asm);
                asm.add_imm(R3, offset);
            });
        };
        let (other, done) = (self.asm.label(), self.asm.label());
        let start = if params.any { UNION } else { 0 };
        if params.any {
            part(self, KEY + key::GRAPH, 4, 0);
            self.asm.load(Word, R1, R10, KEY + key::GRAPH);
            self.asm.jump_if(If::NotEqual, R1, node::KERNEL.cast_signed(), other);
        }
        match params.node {
            Node::Hip => {
                part(self, KEY + key::HANDLE, 8, start + 24);
                part(self, KEY + key::BLOCK, 12, start);
                part(self, KEY + key::GRID, 12, start + 32);
                part(self, KEY + key::SHARED, 4, start + 56);
            }
            // Grid, block and shared memory are in the same order there as in the key. Since CUDA 12 the function may
            // be null, followed by a kernel.
            Node::Cuda => {
                part(self, KEY + key::HANDLE, 8, start);
                part(self, KEY + key::GRID, 28, start + 8);
                let function = self.asm.label();
                self.asm.load(Long, R1, R10, KEY + key::HANDLE);
                self.asm.jump_if(If::NotEqual, R1, 0, function);
                part(self, KEY + key::HANDLE, 8, start + 56);
                self.asm.place(function);
            }
        }
        if params.any {
            self.asm.jump(done);
            self.asm.place(other);
            part(self, KEY + key::HANDLE, 8, UNION);
            self.asm.place(done);
        }
    }

    fn kind_of_node(&mut self, kind: u32) {
        self.asm.store_imm(Word, R10, KEY + key::GRAPH, kind.cast_signed());
    }

    /// A call that began earlier and never returned was left by an exception: its effect is unknown.
    fn until_it_returns(&mut self, number: i32) {
        self.pair(TASK, Some(number));
        let none = self.asm.label();
        self.look_up(self.maps.calls, PAIR);
        self.asm.jump_if(If::Equal, R0, 0, none);
        self.bump(counter::LEFT);
        self.asm.place(none);
        self.keep_call();
    }

    /// Reports the call with these arguments after its return.
    fn with(&mut self, arguments: &[(i16, i16)], number: i32) {
        arguments.iter().for_each(|(to, register)| self.register(*to, *register, Long));
        self.until_it_returns(number);
    }

    fn kernel_node(&mut self, params: Params) {
        let base = self.argument(params.at);
        self.node(params, base);
    }

    fn child_node(&mut self, register: i16) {
        self.register(KEY + key::HANDLE, register, Long);
        self.kind_of_node(node::CHILD);
    }

    /// `(node *out, graph, after *, how many, parameters *)`
    pub(crate) fn add_node(&mut self, params: Params, number: i32) {
        self.kernel_node(params);
        self.with(&[(EXTRA, regs::DI), (ARGS_AT, regs::SI)], number);
    }

    /// `(node *out, graph, after *, how many, child graph)`
    pub(crate) fn add_child(&mut self, number: i32) {
        self.child_node(regs::R8);
        self.with(&[(EXTRA, regs::DI), (ARGS_AT, regs::SI)], number);
    }

    /// `(exec, node, parameters *)`
    pub(crate) fn set_node(&mut self, params: Params, number: i32) {
        self.kernel_node(params);
        self.with(&[(ARGS_AT, regs::DI), (EXTRA, regs::SI)], number);
    }

    /// `(exec, node, graph)`
    pub(crate) fn set_child(&mut self, number: i32) {
        self.child_node(regs::DX);
        self.with(&[(ARGS_AT, regs::DI), (EXTRA, regs::SI)], number);
    }

    /// `(node, parameters *)`
    pub(crate) fn change_node(&mut self, params: Params, number: i32) {
        self.kernel_node(params);
        self.with(&[(EXTRA, regs::DI)], number);
    }

    /// `(node, parameters *out)`: they are available when the call returns.
    pub(crate) fn ask_node(&mut self, number: i32) {
        self.with(&[(EXTRA, regs::DI), (ARGS_AT, regs::SI)], number);
    }

    pub(crate) fn node_was_told(&mut self, params: Params) {
        self.node(params, |asm| asm.load(Long, R3, R10, ARGS_AT));
        self.asm.store_imm(Long, R10, ARGS_AT, 0);
    }

    /// `(exec, node, on)`
    pub(crate) fn enable_node(&mut self, number: i32) {
        self.register(KEY + key::HANDLE, regs::DI, Long);
        self.register(EXTRA, regs::SI, Long);
        self.register(KEY + key::GRID, regs::DX, Word);
        self.until_it_returns(number);
    }

    /// `(exec *out, graph, ...)`
    pub(crate) fn instantiate(&mut self, flags: Flags, number: i32) {
        match flags {
            Flags::None => {}
            Flags::Third => self.register(KEY + key::GRID, regs::DX, Word),
            Flags::Behind => {
                self.read_user(TEMP, 8, |asm| asm.load(Long, R3, R6, regs::DX));
                self.asm.load(Long, R1, R10, TEMP);
                self.asm.store(Word, R10, KEY + key::GRID, R1);
            }
        }
        self.remember_call(number);
    }

    /// `(exec, graph, ...)`, `(graph)`, `(exec)`, `(node)`, `(node, graph *out)`
    pub(crate) fn one_or_two(&mut self, number: i32) {
        self.with(&[(KEY + key::HANDLE, regs::DI), (EXTRA, regs::SI)], number);
    }

    /// `(exec, stream)`: on a captured stream it becomes part of the capture.
    pub(crate) fn replay(&mut self, number: i32, per_thread: bool) {
        self.register(KEY + key::HANDLE, regs::DI, Long);
        self.register(STREAM, regs::SI, Long);
        self.own_stream(per_thread);
        self.captured();
        self.asm.load(Long, R1, R10, STREAM);
        self.asm.store(Long, R10, ARGS_AT, R1);
        self.until_it_returns(number);
    }
}
