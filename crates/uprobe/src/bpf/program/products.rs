//! BLAS calls with extents in opaque descriptors: the arguments of a descriptor's creation are stored under its address.

use crate::bpf::asm::If;
use crate::bpf::asm::Reg::{R0, R1, R2, R3, R6, R9, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::program::frame::{Body, EXTRA, KEY, OUTER, PAIR, TASK, TEMP, regs};
use crate::bpf::wire::{key, kind};
use crate::probes::entries::LayoutFields;

const ANY: i32 = 0;
/// A shape: rows, columns, type, batch, in the layout of a key's grid and the first word of its block.
mod shape {
    pub const ROWS: i16 = 0;
    pub const COLS: i16 = 4;
    pub const TYPE: i16 = 8;
    pub const BATCH: i16 = 12;
}
const SHAPE: i16 = KEY + key::GRID;

impl Body {
    /// `(layout *out, type, rows, cols, ...)`
    pub(crate) fn lt_layout(&mut self, number: i32) {
        self.register(EXTRA, regs::DI, Long);
        self.shape(regs::SI, regs::DX, regs::CX);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    /// `(layout, bytes, type, rows, cols, ...)`
    pub(crate) fn lt_layout_in_place(&mut self) {
        self.register(OUTER, regs::DI, Long);
        self.shape(regs::DX, regs::CX, regs::R8);
        self.keep_shape();
    }

    fn shape(&mut self, kind: i16, rows: i16, cols: i16) {
        self.register(SHAPE + shape::ROWS, rows, Word);
        self.register(SHAPE + shape::COLS, cols, Word);
        self.register(SHAPE + shape::TYPE, kind, Word);
        self.asm.store_imm(Word, R10, SHAPE + shape::BATCH, 1);
    }

    /// The layout in OUTER has the shape in the frame.
    pub(crate) fn keep_shape(&mut self) {
        self.pair(OUTER, None);
        self.update(self.maps.shapes, PAIR, SHAPE, ANY);
    }

    /// `(layout, which field, value *, bytes)`
    pub(crate) fn lt_field(&mut self, fields: LayoutFields) {
        self.register(OUTER, regs::DI, Long);
        self.pair(OUTER, None);
        self.look_up(self.maps.shapes, PAIR);
        self.asm.jump_if(If::Equal, R0, 0, self.out);
        self.asm.mov(R9, R0);
        for (field, at) in [(fields.rows, shape::ROWS), (fields.cols, shape::COLS), (fields.batch, shape::BATCH)] {
            let other = self.asm.label();
            self.asm.load(Word, R1, R6, regs::SI);
            self.asm.jump_if(If::NotEqual, R1, field.into(), other);
            self.read_user(TEMP, 4, |asm| asm.load(Long, R3, R6, regs::DX));
            self.asm.load(Word, R1, R10, TEMP);
            self.asm.store(Word, R9, at, R1);
            self.asm.place(other);
        }
    }

    /// m and n are D's extents. A is m x k or k x m: the extent that is not m is k; if both are m, k is m too. Without
    /// both layouts the call is counted without a shape.
    pub(crate) fn lt_matmul(&mut self, pushed: i16) {
        const LAYOUT_OF_D: i16 = 5;
        let (unknown, known) = (self.asm.label(), self.asm.label());
        self.stack(TEMP, 8, LAYOUT_OF_D, pushed);
        self.pair(TEMP, None);
        self.look_up(self.maps.shapes, PAIR);
        self.asm.jump_if(If::Equal, R0, 0, unknown);
        for (from, to) in [(shape::ROWS, key::GRID), (shape::COLS, key::GRID + 4), (shape::BATCH, key::BLOCK)] {
            self.asm.load(Word, R1, R0, from);
            self.asm.store(Word, R10, KEY + to, R1);
        }
        self.register(TEMP, regs::R8, Long);
        self.pair(TEMP, None);
        self.look_up(self.maps.shapes, PAIR);
        self.asm.jump_if(If::Equal, R0, 0, unknown);
        let taken = self.asm.label();
        let asm = &mut self.asm;
        asm.load(Word, R1, R0, shape::TYPE);
        asm.store(Word, R10, KEY + key::BLOCK + 4, R1);
        asm.load(Word, R1, R0, shape::ROWS);
        asm.load(Word, R2, R0, shape::COLS);
        asm.load(Word, R3, R10, KEY + key::GRID);
        asm.jump_if_not_equal(R1, R3, taken);
        asm.mov(R1, R2);
        asm.place(taken);
        asm.store(Word, R10, KEY + key::GRID + 8, R1);
        asm.jump(known);
        asm.place(unknown);
        for at in [key::GRID, key::GRID + 4, key::GRID + 8, key::BLOCK + 4] {
            asm.store_imm(Word, R10, KEY + at, -1);
        }
        asm.store_imm(Word, R10, KEY + key::BLOCK, 1);
        asm.place(known);
        self.count();
        self.ship(kind::CALL);
    }
}
