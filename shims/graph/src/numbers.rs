//! The number of each tensor in the current graph. A table with open addressing, cleared by a generation counter.

use crate::ggml::Tensor;

const SLOTS: usize = 1 << 16;

#[derive(Clone, Copy)]
struct Slot {
    tensor: usize,
    generation: u32,
    /// Numbers start at 1; 0 marks a node whose line follows later.
    number: u32,
}

pub struct Numbers {
    slots: [Slot; SLOTS],
    generation: u32,
    held: usize,
    last: u32,
}

impl Numbers {
    pub const fn new() -> Numbers {
        Numbers { slots: [Slot { tensor: 0, generation: 0, number: 0 }; SLOTS], generation: 0, held: 0, last: 0 }
    }

    pub fn forget(&mut self) {
        (self.generation, self.held, self.last) = (self.generation + 1, 0, 0);
    }

    fn slot(&mut self, tensor: *const Tensor) -> Option<&mut Slot> {
        // The table never fills up: beyond half of its slots, a tensor gets no number.
        if self.held >= SLOTS / 2 {
            return None;
        }
        let address = tensor as usize;
        let start = (address >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        let at = (0..SLOTS).map(|step| (start + step) % SLOTS).find(|&at| {
            self.slots.get(at).is_some_and(|slot| slot.generation != self.generation || slot.tensor == address)
        })?;
        let slot = self.slots.get_mut(at)?;
        if slot.generation != self.generation {
            *slot = Slot { tensor: address, generation: self.generation, number: u32::MAX };
            self.held += 1;
        }
        Some(slot)
    }

    /// Registers a node whose line follows later.
    pub fn promise(&mut self, tensor: *const Tensor) {
        if let Some(slot) = self.slot(tensor) {
            slot.number = 0;
        }
    }

    /// The number of a tensor, if it has one.
    pub fn of(&mut self, tensor: *const Tensor) -> Option<u32> {
        self.slot(tensor).map(|slot| slot.number).filter(|number| *number != 0 && *number != u32::MAX)
    }

    /// Whether it is a node of this graph, written or not.
    pub fn is_node(&mut self, tensor: *const Tensor) -> bool {
        self.slot(tensor).is_some_and(|slot| slot.number == 0)
    }

    pub fn give(&mut self, tensor: *const Tensor) -> u32 {
        let number = self.last + 1;
        self.last = number;
        if let Some(slot) = self.slot(tensor) {
            slot.number = number;
        }
        number
    }
}
