//! Devices and pipelines that a program asked its driver to create.

use crate::fields::Fields;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A device that the program opened, with the driver's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub handle: u64,
    pub vendor: u32,
    pub device: u32,
    pub device_type: u32,
    pub name: String,
    /// The driver's name: `radv`, `llvmpipe`, `NVIDIA`.
    pub driver: String,
    /// The driver's version text: `Mesa 26.2.6-1`.
    pub driver_info: String,
}

/// VK_PHYSICAL_DEVICE_TYPE_CPU
const PROCESSOR: u32 = 4;

impl Device {
    pub(crate) fn read(body: &mut Fields<'_>) -> Device {
        let handle = body.u64();
        let (vendor, device, device_type) = (body.u32(), body.u32(), body.u32());
        let (_api, _driver, _id) = (body.u32(), body.u32(), body.u32());
        let (name, driver, info) = (body.u32(), body.u32(), body.u32());
        body.u32();
        let (name, driver, driver_info) = (body.text(name), body.text(driver), body.text(info));
        Device { handle, vendor, device, device_type, name, driver, driver_info }
    }

    /// Whether the driver computes on the CPU (lavapipe).
    pub fn is_processor(&self) -> bool {
        self.device_type == PROCESSOR
    }
}

/// A shader module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub size: u64,
    /// The identity of the module, which ignores added float controls: see `spirv_modules::identity`. None if it was
    /// too long to record.
    pub identity: Option<String>,
    /// The GPU features that the module requires: `matrix`, `dot`, ...
    pub features: Vec<&'static str>,
}

impl Module {
    pub(crate) fn read(body: &mut Fields<'_>) -> (u64, Module) {
        let (handle, size, _hash) = (body.u64(), body.u64(), body.u64());
        let (len, _) = (body.u32(), body.u32());
        (handle, Module::of(body.bytes(len), size))
    }

    /// `size`: the size of the whole module, of which `words` may be only the beginning.
    pub(crate) fn of(words: &[u8], size: u64) -> Module {
        let whole = words.len() as u64 == size && size > 0;
        let features = if whole { spirv_modules::Module::read(words).features() } else { Vec::new() };
        Module { size, identity: whole.then(|| spirv_modules::identity(words)), features }
    }
}

/// The parameters of a pipeline, from the observed call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    pub device: u64,
    /// The handle of the pipeline's module.
    pub module: u64,
    pub constants: BTreeMap<u32, u32>,
    pub subgroup: u32,
}

/// A compute pipeline. Its name does not identify it: several share one. Module, constants and subgroup size together do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// The handle in the program.
    pub handle: u64,
    /// The creation of the pipeline was not observed: module, constants and subgroup size are unknown.
    pub unseen: bool,
    pub device: u64,
    /// The name that the program gave the pipeline, if any.
    pub name: Option<String>,
    pub module: Option<Arc<Module>>,
    /// Specialization constants by id; those of other sizes are truncated to four bytes.
    pub constants: BTreeMap<u32, u32>,
    /// The required subgroup size; 0: the driver chose.
    pub subgroup: u32,
    pub entry: String,
    /// The driver compiler's statistics, if requested.
    pub statistics: BTreeMap<String, u64>,
    pub assembly: String,
}

impl Pipeline {
    /// Returns the pipeline with its handle and the handle of its module.
    pub(crate) fn read(body: &mut Fields<'_>) -> (u64, u64, Pipeline) {
        let (handle, device, module, inline) = (body.u64(), body.u64(), body.u64(), body.u64());
        let (subgroup, _flags, count, data_len) = (body.u32(), body.u32(), body.u32(), body.u32());
        let (entry_len, _) = (body.u32(), body.u32());
        let places: Vec<(u32, u32)> = (0..count.min(64))
            .map(|_| {
                let (id, offset, _size, _) = (body.u32(), body.u32(), body.u32(), body.u32());
                (id, offset)
            })
            .collect();
        let data = body.bytes(data_len);
        let value = |offset: u32| Fields::new(data.get(offset as usize..).unwrap_or_default()).u32();
        let constants = places.into_iter().map(|(id, offset)| (id, value(offset))).collect();
        let entry = body.text(entry_len);
        let made = Made { device, module, constants, subgroup };
        let pipeline = Pipeline { entry, ..Pipeline::of(handle, made) };
        (handle, if module == 0 { inline } else { module }, pipeline)
    }

    pub(crate) fn of(handle: u64, made: Made) -> Pipeline {
        Pipeline {
            handle,
            unseen: false,
            device: made.device,
            name: None,
            module: None,
            constants: made.constants,
            subgroup: made.subgroup,
            entry: String::new(),
            statistics: BTreeMap::new(),
            assembly: String::new(),
        }
    }

    pub(crate) fn unseen(handle: u64) -> Pipeline {
        Pipeline { unseen: true, ..Pipeline::of(handle, Made::default()) }
    }

    /// Identifies the pipeline within the same build; if its creation was not observed, only within the same process.
    pub fn identity(&self) -> String {
        if self.unseen {
            return format!("made before the attach: {:#x}", self.handle);
        }
        let module = self.module.as_deref().and_then(|module| module.identity.as_deref()).unwrap_or("?");
        let constants: Vec<String> = self.constants.iter().map(|(id, value)| format!("{id}={value}")).collect();
        format!("{module}/{}/{}", constants.join(","), self.subgroup)
    }

    pub fn features(&self) -> &[&'static str] {
        self.module.as_deref().map_or(&[], |module| &module.features)
    }
}
