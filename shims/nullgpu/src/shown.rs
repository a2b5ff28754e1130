//! Which of the machine's devices the program sees, by AMD's variables.

use crate::error::{NO_DEVICE, Status};
use crate::nullgpu_input::Device;
use crate::sys;
use crate::visible_devices::{MOST, Visible, hip, unique_id};
use core::ffi::CStr;

/// The devices that are shown, and the status of calls if there is none.
pub fn devices(all: &[Device]) -> (Visible, Status) {
    let mut ids = [[0; 16]; MOST];
    for (id, device) in ids.iter_mut().zip(all) {
        *id = unique_id(device.pci_bus);
    }
    let list = |name: &CStr| sys::env(name).map(CStr::to_bytes);
    let ids = ids.get(..all.len()).unwrap_or(&ids);
    (hip(ids, list(c"ROCR_VISIBLE_DEVICES"), list(c"HIP_VISIBLE_DEVICES"), list(c"CUDA_VISIBLE_DEVICES")), NO_DEVICE)
}
