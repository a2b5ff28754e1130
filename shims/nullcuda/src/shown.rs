//! Which of the machine's devices the program sees, by NVIDIA's variable.

use crate::error::{INVALID_DEVICE, NO_DEVICE, Status};
use crate::nullgpu_input::Device;
use crate::sys;
use crate::visible_devices::{MOST, Visible, cuda, cuda_uuid};
use core::ffi::CStr;

/// The devices that are shown, and the status of calls if there is none.
pub fn devices(all: &[Device]) -> (Visible, Status) {
    let mut uuids = [[0; 32]; MOST];
    for (digits, device) in uuids.iter_mut().zip(all) {
        (_, *digits) = cuda_uuid(device.pci_bus);
    }
    let shown = cuda(uuids.get(..all.len()).unwrap_or(&uuids), sys::env(c"CUDA_VISIBLE_DEVICES").map(CStr::to_bytes));
    (shown, if shown.repeated { INVALID_DEVICE } else { NO_DEVICE })
}
