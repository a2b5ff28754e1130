//! Reports Vulkan calls one by one; user space reconstructs the content of command buffers.
//!
//! Offsets are those of vulkan_core.h on x86-64. A lost record is counted as breaking the order: the reader then
//! discards the content of command buffers, because a dispatch after a lost bind would be attributed to another
//! pipeline.

use crate::bpf::asm::Reg::{R0, R1, R2, R3, R6, R8, R9, R10};
use crate::bpf::asm::Size::{Long, Word};
use crate::bpf::asm::{Asm, Helper, If, Label};
use crate::bpf::program::frame::{ARGS_AT, Body, EXTRA, KEY, LIST, OUTER, STREAM, TASK, TEMP, regs};
use crate::bpf::wire::{REACH, counter, event, key, kind};
use crate::probes::entries::Vk;

/// A VkSpecializationInfo, below the frame of every program.
const SPEC: i16 = LIST - 32;
/// The first words of a structure in a chain.
const CHAIN: i16 = SPEC - 24;

/// The VkShaderModuleCreateInfo that a stage has in its chain instead of a module.
const INLINE: i16 = CHAIN - 8;

/// Limits: VkSubmitInfo per call, pipelines per call, links of a chain that are examined.
pub const SUBMITS: i32 = 16;
const PIPELINES: i32 = 8;
const LINKS: i32 = 6;
/// Bytes of a module per record, and the maximum number of records per module.
const PIECE: i32 = 2 * REACH;
const PIECES: i32 = 128;
/// The maximum number of specialization constants, and the offset of their data in a record.
pub const CONSTANTS: i32 = 64;
pub const DATA: i32 = 1024;

/// VkSubmitInfo: the offset of the number of command buffers (their pointer follows), its size, bytes of one.
const SUBMIT: (i32, i32, i32) = (40, 72, 3);
/// The same three numbers for VkSubmitInfo2, whose entries are VkCommandBufferSubmitInfo of 32 bytes.
const SUBMIT2: (i32, i32, i32) = (32, 64, 5);
const COMPUTE: i32 = 1;
const REQUIRED_SUBGROUP_SIZE: i32 = 1_000_225_001;
const SHADER_MODULE: i32 = 16;
/// Offsets in a VkShaderModuleCreateInfo: the number of words and their pointer.
const CODE: i32 = 24;

impl Body {
    pub(crate) fn vulkan(&mut self, of: Vk, number: i32, pushed: i16) {
        let (grid, handle) = (KEY + key::GRID, KEY + key::HANDLE);
        match of {
            Vk::Begin | Vk::Reset => {
                self.register(handle, regs::DI, Long);
                self.tell(kind::CALL);
            }
            Vk::Bind => {
                self.asm.load(Word, R1, R6, regs::SI);
                self.asm.jump_if(If::NotEqual, R1, COMPUTE, self.out);
                self.register(handle, regs::DI, Long);
                self.register(OUTER, regs::DX, Long);
                self.tell(kind::CALL);
            }
            Vk::Push => {
                self.register(handle, regs::DI, Long);
                self.register(grid, regs::CX, Word);
                self.register(grid + 4, regs::R8, Word);
                self.register(ARGS_AT, regs::R9, Long);
                self.size_of(grid + 4, 0);
                self.tell_bytes(kind::CALL);
            }
            Vk::PushInfo => {
                self.register(handle, regs::DI, Long);
                // VkPushConstantsInfo: layout, stages, offset, size, values.
                self.read_user(LIST, 32, |asm| {
                    asm.load(Long, R3, R6, regs::SI);
                    asm.add_imm(R3, 16);
                });
                for (from, to) in [(12, grid), (16, grid + 4)] {
                    self.asm.load(Word, R1, R10, LIST + from);
                    self.asm.store(Word, R10, to, R1);
                }
                self.asm.load(Long, R1, R10, LIST + 24);
                self.asm.store(Long, R10, ARGS_AT, R1);
                self.size_of(grid + 4, 0);
                self.tell_bytes(kind::CALL);
            }
            Vk::Dispatch | Vk::DispatchBase | Vk::DispatchIndirect => {
                self.count();
                self.bump(counter::LAUNCHES);
                self.register(handle, regs::DI, Long);
                let words = match of {
                    Vk::Dispatch => [Some(regs::SI), Some(regs::DX), Some(regs::CX)],
                    Vk::DispatchBase => [Some(regs::R8), Some(regs::R9), None],
                    _ => [None; 3],
                };
                for (place, from) in (0..).zip(words) {
                    if let Some(from) = from {
                        self.register(grid + 4 * place, from, Word);
                    }
                }
                if of == Vk::DispatchBase {
                    self.stack(grid + 8, 4, 0, pushed);
                }
                self.tell(kind::CALL);
            }
            Vk::Free => self.handles(regs::DI, regs::DX, regs::CX),
            Vk::Execute => self.handles(regs::DI, regs::SI, regs::DX),
            Vk::Submit => self.submission(SUBMIT, number),
            Vk::Submit2 => self.submission(SUBMIT2, number),
            Vk::MakeModule => self.until_return(number, regs::SI, regs::CX),
            Vk::MakePipelines => {
                self.register(grid, regs::DX, Word);
                self.until_return(number, regs::CX, regs::R9);
            }
            Vk::WaitFences => {
                // If any one of several fences may end the wait, it is unknown which one did.
                let known = self.asm.label();
                self.asm.load(Word, R1, R6, regs::SI);
                self.asm.jump_if(If::LessEqual, R1, 1, known);
                self.asm.load(Word, R1, R6, regs::CX);
                self.asm.jump_if(If::Equal, R1, 0, self.out);
                self.asm.place(known);
                self.register(grid, regs::SI, Word);
                self.until_return(number, regs::DX, regs::SI);
            }
            Vk::FenceStatus => self.until_return(number, regs::SI, regs::SI),
            Vk::QueueIdle => self.until_return(number, regs::DI, regs::DI),
            Vk::AskDevice => self.asked_device(),
        }
    }

    /// At the return: the values kept at the entry are in the frame.
    pub(crate) fn vulkan_answer(&mut self, of: Vk) {
        self.asm.load(Long, R1, R6, regs::AX);
        self.asm.store(Word, R10, KEY + key::BLOCK, R1);
        match of {
            Vk::Submit | Vk::Submit2 => {
                self.extra_goes_along();
                self.tell(kind::ANSWER);
            }
            Vk::FenceStatus | Vk::QueueIdle => {
                self.ended_or_lost();
                self.extra_goes_along();
                self.tell(kind::ANSWER);
            }
            Vk::WaitFences => {
                self.ended_or_lost();
                self.size_of(KEY + key::GRID, 3);
                self.tell_bytes(kind::ANSWER);
            }
            Vk::MakeModule => {
                self.succeeded();
                self.module();
            }
            Vk::MakePipelines => {
                self.succeeded();
                self.pipelines();
            }
            _ => {}
        }
    }

    fn extra_goes_along(&mut self) {
        self.asm.load(Long, R1, R10, EXTRA);
        self.asm.store(Long, R10, OUTER, R1);
    }

    fn succeeded(&mut self) {
        self.asm.load(Word, R1, R6, regs::AX);
        self.asm.jump_if(If::NotEqual, R1, 0, self.out);
    }

    /// VK_SUCCESS or VK_ERROR_DEVICE_LOST; a wait that timed out shows nothing.
    fn ended_or_lost(&mut self) {
        const LOST: i32 = -4;
        let told = self.asm.label();
        self.asm.load(Word, R1, R6, regs::AX);
        self.asm.jump_if(If::Equal, R1, 0, told);
        self.asm.add_imm(R1, -LOST);
        self.asm.shl(R1, 32);
        self.asm.jump_if(If::NotEqual, R1, 0, self.out);
        self.asm.place(told);
    }

    fn tell(&mut self, kind: i32) {
        self.reserve(event::SHORT, counter::TORN);
        self.head(kind);
        self.asm.store_imm(Word, R8, event::LEN, 0);
        self.submit();
    }

    /// Computes a size in bytes from a number of items of `1 << shift` bytes.
    fn size_of(&mut self, number: i16, shift: i32) {
        self.asm.load(Word, R1, R10, number);
        if shift > 0 {
            self.asm.shl(R1, shift);
        }
        self.asm.store(Long, R10, TEMP, R1);
    }

    /// Sends a record with TEMP bytes from ARGS_AT on. If they are too many or unreadable, it has status 1 and no
    /// bytes.
    fn tell_bytes(&mut self, kind: i32) {
        let (big, cut, done) = (self.asm.label(), self.asm.label(), self.asm.label());
        self.asm.load(Long, R9, R10, TEMP);
        self.asm.jump_if(If::Greater, R9, event::MIDDLE_BYTES, big);
        self.reserve(event::MIDDLE, counter::TORN);
        self.head(kind);
        self.fill(|asm| asm.load(Long, R3, R10, ARGS_AT));
        self.submit();
        self.asm.jump(done);
        self.asm.place(big);
        self.asm.jump_if(If::Greater, R9, 2 * REACH, cut);
        self.reserve(event::LONG, counter::TORN);
        self.head(kind);
        self.fill(|asm| asm.load(Long, R3, R10, ARGS_AT));
        self.submit();
        self.asm.jump(done);
        self.asm.place(cut);
        self.reserve(event::SHORT, counter::TORN);
        self.head(kind);
        self.asm.store_imm(Word, R8, event::LEN, 0);
        self.asm.store_imm(Word, R8, event::STATUS, 1);
        self.submit();
        self.asm.place(done);
    }

    /// Copies R9 bytes into the record in R8; `address` leaves their address in R3.
    fn fill(&mut self, address: impl FnOnce(&mut Asm)) {
        let filled = self.asm.label();
        let asm = &mut self.asm;
        asm.store_imm(Word, R8, event::LEN, 0);
        asm.store_imm(Word, R8, event::STATUS, 1);
        asm.mov(R1, R8);
        asm.add_imm(R1, event::BYTES.into());
        asm.mov(R2, R9);
        address(asm);
        asm.call(Helper::ProbeReadUser);
        asm.jump_if(If::NotEqual, R0, 0, filled);
        asm.store(Word, R8, event::LEN, R9);
        asm.store_imm(Word, R8, event::STATUS, 0);
        asm.place(filled);
    }

    /// Reports a list of handles.
    fn handles(&mut self, whose: i16, count: i16, list: i16) {
        self.register(KEY + key::HANDLE, whose, Long);
        self.register(KEY + key::GRID, count, Word);
        self.register(ARGS_AT, list, Long);
        self.size_of(KEY + key::GRID, 3);
        self.tell_bytes(kind::CALL);
    }

    /// Reports the submission first, then the command buffers of each part. The return of the call shows whether it was
    /// accepted.
    fn submission(&mut self, (buffers, size, shift): (i32, i32, i32), number: i32) {
        self.count();
        self.register(KEY + key::HANDLE, regs::DI, Long);
        self.register(KEY + key::GRID, regs::SI, Word);
        self.register(EXTRA, regs::CX, Long);
        self.register(OUTER, regs::CX, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
        self.tell(kind::CALL);
        let all = self.asm.label();
        for place in 0..SUBMITS {
            self.asm.load(Word, R1, R10, KEY + key::GRID);
            self.asm.jump_if(If::LessEqual, R1, place, all);
            self.read_user(LIST, 16, |asm| {
                asm.load(Long, R3, R6, regs::DX);
                asm.add_imm(R3, place * size + buffers);
            });
            self.asm.load(Long, R1, R10, LIST + 8);
            self.asm.store(Long, R10, ARGS_AT, R1);
            self.size_of(LIST, shift);
            self.tell_bytes(kind::PART);
        }
        self.asm.place(all);
    }

    fn until_return(&mut self, number: i32, what: i16, extra: i16) {
        self.register(KEY + key::HANDLE, regs::DI, Long);
        self.register(ARGS_AT, what, Long);
        self.register(EXTRA, extra, Long);
        self.pair(TASK, Some(number));
        self.keep_call();
    }

    /// A VkShaderModuleCreateInfo at ARGS_AT, the handle at EXTRA: sends its words in pieces.
    fn module(&mut self) {
        self.read_user(OUTER, 8, |asm| asm.load(Long, R3, R10, EXTRA));
        self.read_user(LIST, 16, |asm| {
            asm.load(Long, R3, R10, ARGS_AT);
            asm.add_imm(R3, CODE);
        });
        self.asm.load(Long, R1, R10, LIST);
        self.asm.store(Word, R10, KEY + key::GRID, R1);
        self.asm.load(Long, R1, R10, LIST + 8);
        self.asm.store(Long, R10, STREAM, R1);
        self.pieces(LIST, kind::ANSWER, self.out);
    }

    /// Sends `size` bytes from where STREAM points, in pieces.
    fn pieces(&mut self, size: i16, kind: i32, end: Label) {
        for piece in 0..PIECES {
            let (from, rest) = (piece * PIECE, self.asm.label());
            self.asm.load(Long, R9, R10, size);
            self.asm.jump_if(If::LessEqual, R9, from, end);
            self.asm.add_imm(R9, -from);
            self.asm.jump_if(If::LessEqual, R9, PIECE, rest);
            self.asm.mov_imm(R9, PIECE);
            self.asm.place(rest);
            self.asm.store_imm(Word, R10, KEY + key::SHARED, from);
            self.reserve(event::LONG, counter::TORN);
            self.head(kind);
            self.fill(|asm| {
                asm.load(Long, R3, R10, STREAM);
                asm.add_imm(R3, from);
            });
            self.submit();
        }
    }

    /// A module in the `pNext` chain of the stage in LIST (maintenance5): its words, sent before the pipeline itself.
    fn inline_module(&mut self) {
        let (none, end) = (self.asm.label(), self.asm.label());
        for (at, other) in [(LIST + 16, If::NotEqual), (INLINE, If::Equal)] {
            self.asm.load(Long, R1, R10, at);
            self.asm.jump_if(other, R1, 0, none);
        }
        self.read_user(CHAIN, 16, |asm| {
            asm.load(Long, R3, R10, INLINE);
            asm.add_imm(R3, CODE);
        });
        self.asm.load(Long, R1, R10, CHAIN);
        self.asm.store(Word, R10, KEY + key::BLOCK, R1);
        self.asm.load(Long, R1, R10, CHAIN + 8);
        self.asm.store(Long, R10, STREAM, R1);
        self.pieces(CHAIN, kind::PART, end);
        self.asm.place(end);
        self.asm.store_imm(Long, R10, STREAM, 0);
        for at in [KEY + key::BLOCK, KEY + key::SHARED] {
            self.asm.store_imm(Word, R10, at, 0);
        }
        self.asm.place(none);
    }

    /// VkComputePipelineCreateInfo at ARGS_AT, the handles at EXTRA.
    fn pipelines(&mut self) {
        const SIZE: i32 = 96;
        /// The offset of the stage's `pNext`; flags, stage, module, name and specialization follow.
        const STAGE: i32 = 32;
        for at in (INLINE..LIST).step_by(8) {
            self.asm.store_imm(Long, R10, at, 0);
        }
        for place in 0..PIPELINES {
            self.asm.load(Word, R1, R10, KEY + key::GRID);
            self.asm.jump_if(If::LessEqual, R1, place, self.out);
            self.read_user(OUTER, 8, |asm| {
                asm.load(Long, R3, R10, EXTRA);
                asm.add_imm(R3, 8 * place);
            });
            self.read_user(LIST, 40, |asm| {
                asm.load(Long, R3, R10, ARGS_AT);
                asm.add_imm(R3, SIZE * place + STAGE);
            });
            self.asm.load(Long, R1, R10, LIST + 16);
            self.asm.store(Long, R10, STREAM, R1);
            for at in [KEY + key::GRID + 4, KEY + key::GRID + 8, KEY + key::BLOCK] {
                self.asm.store_imm(Word, R10, at, 0);
            }
            self.subgroup();
            // If several are created at once, only the first one's module is reported; the others have no known module.
            if place == 0 {
                self.inline_module();
            }
            let plain = self.asm.label();
            self.asm.load(Long, R1, R10, LIST + 32);
            self.asm.jump_if(If::Equal, R1, 0, plain);
            self.read_user(SPEC, 32, |asm| asm.load(Long, R3, R10, LIST + 32));
            for (from, to) in [(SPEC, KEY + key::GRID + 4), (SPEC + 16, KEY + key::BLOCK)] {
                self.asm.load(Word, R1, R10, from);
                self.asm.store(Word, R10, to, R1);
            }
            self.asm.place(plain);
            self.reserve(event::LONG, counter::TORN);
            self.head(kind::ANSWER);
            self.constants();
            self.submit();
        }
    }

    /// Reads the subgroup size requested in the chain in LIST into the key.
    fn subgroup(&mut self) {
        let end = self.asm.label();
        self.asm.load(Long, R1, R10, LIST);
        self.asm.store(Long, R10, TEMP, R1);
        for _ in 0..LINKS {
            let other = self.asm.label();
            self.asm.load(Long, R1, R10, TEMP);
            self.asm.jump_if(If::Equal, R1, 0, end);
            self.read_user(CHAIN, 24, |asm| asm.load(Long, R3, R10, TEMP));
            let size = self.asm.label();
            self.asm.load(Word, R1, R10, CHAIN);
            self.asm.jump_if(If::NotEqual, R1, SHADER_MODULE, size);
            self.asm.load(Long, R1, R10, TEMP);
            self.asm.store(Long, R10, INLINE, R1);
            self.asm.jump(other);
            self.asm.place(size);
            self.asm.jump_if(If::NotEqual, R1, REQUIRED_SUBGROUP_SIZE, other);
            self.asm.load(Word, R1, R10, CHAIN + 16);
            self.asm.store(Word, R10, KEY + key::GRID + 8, R1);
            self.asm.place(other);
            self.asm.load(Long, R1, R10, CHAIN + 8);
            self.asm.store(Long, R10, TEMP, R1);
        }
        self.asm.place(end);
    }

    /// Positions and data of the specialization constants, at fixed offsets of the record in R8; status 1 if they are
    /// incomplete.
    fn constants(&mut self) {
        const SHIFT: i32 = 4;
        let done = self.asm.label();
        let asm = &mut self.asm;
        asm.store_imm(Word, R8, event::LEN, 0);
        asm.load(Word, R9, R10, KEY + key::GRID + 4);
        asm.jump_if(If::Equal, R9, 0, done);
        asm.store_imm(Word, R8, event::STATUS, 1);
        asm.jump_if(If::Greater, R9, CONSTANTS, done);
        asm.shl(R9, SHIFT);
        for (at, from) in [(0, SPEC + 8), (DATA, SPEC + 24)] {
            if at > 0 {
                asm.load(Word, R9, R10, KEY + key::BLOCK);
                asm.jump_if(If::Greater, R9, DATA, done);
            }
            asm.mov(R1, R8);
            asm.add_imm(R1, i32::from(event::BYTES) + at);
            asm.mov(R2, R9);
            asm.load(Long, R3, R10, from);
            asm.call(Helper::ProbeReadUser);
            asm.jump_if(If::NotEqual, R0, 0, done);
        }
        asm.store_imm(Word, R8, event::LEN, 2 * DATA);
        asm.store_imm(Word, R8, event::STATUS, 0);
        asm.place(done);
    }

    /// Reports which device function was requested.
    fn asked_device(&mut self) {
        self.register(KEY + key::HANDLE, regs::DI, Long);
        self.reserve(event::MIDDLE, counter::TORN);
        self.head(kind::CALL);
        let asm = &mut self.asm;
        asm.store_imm(Word, R8, event::LEN, 0);
        asm.mov(R1, R8);
        asm.add_imm(R1, event::BYTES.into());
        asm.mov_imm(R2, event::MIDDLE_BYTES);
        asm.load(Long, R3, R6, regs::SI);
        asm.call(Helper::ProbeReadUserStr);
        let unread = asm.label();
        asm.jump_if(If::Greater, R0, event::MIDDLE_BYTES, unread);
        asm.store(Word, R8, event::LEN, R0);
        asm.place(unread);
        self.submit();
    }
}
