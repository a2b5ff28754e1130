//! Addresses of tensors. Every tensor has its own aligned memory here; a view is inside its source.
//!
//! ggml's allocator reuses freed memory for later tensors, which can prevent fusion: a result must not overlap memory
//! that its own fused nodes still read. Which memory is reused depends on the order of all earlier frees.

use super::Graph;

const ALIGNMENT: i64 = 256;

impl Graph {
    /// Gives every tensor an address.
    pub fn lay_out(&mut self) {
        let mut next = 1_i64 << 40;
        for index in 0..self.tensors.len() {
            let Some(tensor) = self.tensors.get(index) else { continue };
            let address = match tensor.view {
                Some((root, offset)) => self.tensors.get(root).map_or(0, |root| root.address + offset),
                None => {
                    let here = next;
                    // Padding after each tensor, as for quantized rows.
                    next += (tensor.bytes() + 4 * ALIGNMENT + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
                    here
                }
            };
            if let Some(tensor) = self.tensors.get_mut(index) {
                tensor.address = address;
            }
        }
    }
}
