//! Reads the arguments of a call: registers, stack, and data behind pointers.

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R6, R7, R8, R9, R10};
use crate::bpf::asm::Size;
use crate::bpf::asm::Size::{Half, Long, Word};
use crate::bpf::asm::{Asm, Helper, If};
use crate::bpf::program::frame::{ARGS_AT, Body, EXTRA, KEY, LIST, PAIR, STREAM, TEMP, regs};
use crate::bpf::wire::{ARGS, REACH, event, flag, key};
use crate::probes::entries::{Gemm, List, Shape};

impl Body {
    pub(crate) fn launch_arguments(&mut self, shape: Shape, pushed: i16) {
        let (grid, block) = (KEY + key::GRID, KEY + key::BLOCK);
        match shape {
            Shape::Dim3 => {
                self.register(KEY + key::HANDLE, regs::DI, Long);
                self.register(grid, regs::SI, Word);
                self.high(grid + 4, regs::SI);
                self.register(grid + 8, regs::DX, Word);
                self.register(block, regs::CX, Word);
                self.high(block + 4, regs::CX);
                self.register(block + 8, regs::R8, Word);
                self.register(ARGS_AT, regs::R9, Long);
                self.stack(LIST, 16, 0, pushed);
                self.word_of_list(0, KEY + key::SHARED, Word);
                self.word_of_list(1, STREAM, Long);
            }
            Shape::Flat => {
                self.register(KEY + key::HANDLE, regs::DI, Long);
                self.register(grid, regs::SI, Word);
                self.register(grid + 4, regs::DX, Word);
                self.register(grid + 8, regs::CX, Word);
                self.register(block, regs::R8, Word);
                self.register(block + 4, regs::R9, Word);
                self.stack(LIST, 40, 0, pushed);
                self.word_of_list(0, block + 8, Word);
                self.word_of_list(1, KEY + key::SHARED, Word);
                self.word_of_list(2, STREAM, Long);
                self.word_of_list(3, ARGS_AT, Long);
                self.word_of_list(4, EXTRA, Long);
            }
            Shape::Config => {
                self.register(KEY + key::HANDLE, regs::SI, Long);
                self.register(ARGS_AT, regs::DX, Long);
                // Grid, block and shared memory are in the same order there as in the key.
                self.read_user(grid, 28, |asm| asm.load(Long, R3, R6, regs::DI));
                self.read_user(STREAM, 8, |asm| {
                    asm.load(Long, R3, R6, regs::DI);
                    asm.add_imm(R3, 32);
                });
            }
            Shape::Bare(given) => {
                self.register(KEY + key::HANDLE, regs::DI, Long);
                for place in 0..3 {
                    self.asm.store_imm(Word, R10, grid + 4 * place, 1);
                }
                match given {
                    0 | 1 => self.configured(),
                    _ => {
                        self.register(grid, regs::SI, Word);
                        self.register(grid + 4, regs::DX, Word);
                    }
                }
                if given > 3 {
                    self.register(STREAM, regs::CX, Long);
                }
            }
        }
    }

    /// The n-th of a list of launches.
    pub(crate) fn listed(&mut self, list: List, place: i32) {
        const SIZE: i32 = 56;
        let at = |offset: i32| {
            move |asm: &mut Asm| {
                asm.load(Long, R3, R6, regs::DI);
                asm.add_imm(R3, place * SIZE + offset);
            }
        };
        self.read_user(KEY + key::HANDLE, 8, at(0));
        match list {
            List::Hip => {
                self.read_user(KEY + key::GRID, 24, at(8));
                self.read_user(KEY + key::SHARED, 4, at(40));
                self.read_user(STREAM, 8, at(48));
            }
            List::Cuda => {
                self.read_user(KEY + key::GRID, 28, at(8));
                self.read_user(STREAM, 8, at(40));
            }
        }
    }

    /// One of the words that were read together, because each separate read costs a helper call.
    fn word_of_list(&mut self, place: i16, to: i16, size: Size) {
        self.asm.load(Long, R1, R10, LIST + 8 * place);
        self.asm.store(size, R10, to, R1);
    }

    pub(crate) fn gemm_arguments(&mut self, gemm: Gemm, pushed: i16) {
        self.register(KEY + key::GRID, regs::CX, Word);
        self.register(KEY + key::GRID + 4, regs::R8, Word);
        self.register(KEY + key::GRID + 8, regs::R9, Word);
        self.asm.store_imm(Word, R10, KEY + key::BLOCK, 1);
        self.asm.store_imm(Word, R10, KEY + key::BLOCK + 4, -1);
        if let Some(place) = gemm.type_a {
            self.stack(KEY + key::BLOCK + 4, 4, place.into(), pushed);
        }
        if let Some(place) = gemm.batch {
            self.stack(KEY + key::BLOCK, 4, place.into(), pushed);
        }
    }

    /// Leaves the kernel's layout or 0 in R9, and the column count in the key.
    pub(crate) fn layout(&mut self) {
        let none = self.asm.label();
        self.asm.mov_imm(R9, 0);
        self.unless(flag::LAYOUTS, none);
        self.pair(KEY + key::HANDLE, None);
        self.look_up(self.maps.layouts, PAIR);
        self.asm.mov(R9, R0);
        self.asm.jump_if(If::Equal, R9, 0, none);
        self.asm.load(Word, R8, R9, 4);
        self.asm.jump_if(If::Greater, R8, ARGS as i32 - 1, none);
        self.asm.shl(R8, 3);
        self.read_user(TEMP, 8, |asm| {
            asm.load(Long, R3, R10, ARGS_AT);
            asm.add(R3, R8);
        });
        self.read_user(KEY + key::COLUMNS, 4, |asm| asm.load(Long, R3, R10, TEMP));
        self.asm.place(none);
    }

    /// Copies each argument, according to the layout in R9, to its place in the record in R8; or the single buffer that
    /// `extra` names.
    pub(crate) fn argument_bytes(&mut self) {
        let (buffer, done) = (self.asm.label(), self.asm.label());
        self.asm.load(Long, R1, R10, ARGS_AT);
        self.asm.jump_if(If::Equal, R1, 0, buffer);
        self.asm.jump_if(If::Equal, R9, 0, done);
        let copied = self.asm.label();
        for place in 0..ARGS as i16 {
            let asm = &mut self.asm;
            asm.load(Word, R1, R9, 0);
            asm.jump_if(If::LessEqual, R1, place.into(), copied);
            self.read_user(TEMP, 8, |asm| {
                asm.load(Long, R3, R10, ARGS_AT);
                asm.add_imm(R3, i32::from(8 * place));
            });
            let asm = &mut self.asm;
            asm.load(Half, R7, R9, 16 + 4 * place);
            asm.jump_if(If::Greater, R7, REACH - 1, copied);
            asm.load(Half, R2, R9, 18 + 4 * place);
            asm.jump_if(If::Greater, R2, REACH, copied);
            asm.mov(R1, R8);
            asm.add_imm(R1, event::BYTES.into());
            asm.add(R1, R7);
            asm.load(Long, R3, R10, TEMP);
            asm.call(Helper::ProbeReadUser);
        }
        let asm = &mut self.asm;
        asm.place(copied);
        asm.load(Word, R1, R9, 8);
        asm.store(Word, R8, event::LEN, R1);
        asm.jump(done);
        // HIP_LAUNCH_PARAM_BUFFER_POINTER (1), buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE (2), size *, END (3).
        asm.place(buffer);
        asm.load(Long, R1, R10, EXTRA);
        asm.jump_if(If::Equal, R1, 0, done);
        self.read_user(LIST, 40, |asm| asm.load(Long, R3, R10, EXTRA));
        self.read_user(TEMP, 8, |asm| asm.load(Long, R3, R10, LIST + 24));
        let asm = &mut self.asm;
        for (place, tag) in [(0, 1), (16, 2)] {
            asm.load(Long, R1, R10, LIST + place);
            asm.jump_if(If::NotEqual, R1, tag, done);
        }
        asm.load(Long, R2, R10, TEMP);
        asm.jump_if(If::Greater, R2, 2 * REACH, done);
        asm.store(Word, R8, event::LEN, R2);
        asm.mov(R1, R8);
        asm.add_imm(R1, event::BYTES.into());
        asm.load(Long, R3, R10, LIST + 8);
        asm.call(Helper::ProbeReadUser);
        asm.place(done);
    }
}
