//! The caller's variables that hide devices from the program. The stand-in reads them as the real runtime does.

use crate::device::PCI_BUS;
use launch::visible_devices::{cuda, cuda_uuid, hip, unique_id};
use std::ffi::OsString;

pub(crate) const AMD: [&str; 3] = ["ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];

/// Variables that hide devices, and the numbers of the devices that are left, in the program's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleDevices {
    /// `HIP_VISIBLE_DEVICES=1`
    pub variables: Vec<String>,
    pub numbers: Vec<u8>,
}

/// A program before its start: the API, the number of devices, and the variables that the request sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started<'a> {
    pub cuda: bool,
    pub devices: usize,
    pub variables: &'a [(String, String)],
}

impl Started<'_> {
    /// None if the program is started without such a variable. A program that sets one itself is not seen here.
    pub(crate) fn visible_devices(&self, get: impl Fn(&str) -> Option<OsString>) -> Option<VisibleDevices> {
        let own = |name: &str| self.variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.into());
        let [rocr, hips, cudas] = AMD.map(|name| (name, own(name).or_else(|| get(name))));
        let slots = (PCI_BUS.unsigned_abs()..).take(self.devices);
        let named = if self.cuda { vec![&cudas] } else { vec![&rocr, &hips, &cudas] };
        let named = named.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?.display())));
        let variables: Vec<String> = named.collect();
        let bytes = |value: &'_ Option<OsString>| value.as_deref().map(|text| text.as_encoded_bytes().to_vec());
        let (rocr, hips, cudas) = (bytes(&rocr.1), bytes(&hips.1), bytes(&cudas.1));
        let shown = if self.cuda {
            let ids: Vec<_> = slots.map(|slot| cuda_uuid(slot).1).collect();
            cuda(&ids, cudas.as_deref())
        } else {
            let ids: Vec<_> = slots.map(unique_id).collect();
            hip(&ids, rocr.as_deref(), hips.as_deref(), cudas.as_deref())
        };
        (!variables.is_empty()).then(|| VisibleDevices { variables, numbers: shown.numbers().to_vec() })
    }
}
