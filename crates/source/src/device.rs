//! A GPU as the host code sees it: the platform that builds for it, and the answers of its driver.

use cxx::eval::{Platform, Property};

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Vendor: name {
        Hip = "HIP",
        Cuda = "CUDA",
    }
}

#[derive(Debug, Clone)]
pub struct Device {
    /// The name in answers: `gfx1201`, `sm_90`.
    pub target: String,
    /// The card, if one was named.
    pub card: Option<String>,
    pub vendor: Vendor,
    pub properties: Vec<(String, Property)>,
}

#[derive(Debug)]
pub enum DeviceError {
    Unknown(String),
    /// A GPU of the Metal backend, which has its own rules.
    Apple(String),
}

say::worded! { DeviceError {
    Unknown(name) => "source-device-unknown" (name = format!("{name:?}")),
    Apple(name) => "source-device-apple",
}}

/// The default GPUs of a table, in order.
pub const DEFAULT: &[&str] = &[
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "sm_61",
    "sm_75", "sm_90",
];

/// Every target that a release of ggml builds for, or that its code mentions.
pub const ALL: &[&str] = &[
    "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1012", "gfx1030", "gfx1031",
    "gfx1032", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201", "sm_50",
    "sm_52", "sm_60", "sm_61", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100",
    "sm_103", "sm_110", "sm_120", "sm_121",
];

/// Known facts about one NVIDIA compute capability.
struct Capability {
    number: u32,
    /// The representative card if only the capability is given, in lower case without spaces.
    card: &'static str,
    /// The value of that card only, from its NVIDIA data sheet.
    multiprocessors: i64,
    gibibytes: i64,
    /// The shared memory that a block may opt in to, in KiB (CUDA C++ Programming Guide, table "Technical specifications per
    /// compute capability").
    shared: i64,
}

const fn capability(number: u32, card: &'static str, multiprocessors: i64, shared: i64, gibibytes: i64) -> Capability {
    Capability { number, card, multiprocessors, gibibytes, shared }
}

const NVIDIA: &[Capability] = &[
    capability(50, "gtx750ti", 5, 48, 2),
    capability(52, "gtx980ti", 22, 48, 6),
    capability(60, "p100", 56, 48, 16),
    capability(61, "gtx1080ti", 28, 48, 11),
    capability(70, "v100", 80, 96, 16),
    capability(72, "agxxavier", 8, 96, 16),
    capability(75, "rtx2080ti", 68, 64, 11),
    capability(80, "a100", 108, 163, 40),
    capability(86, "rtx3090", 82, 99, 24),
    capability(87, "agxorin", 16, 163, 32),
    capability(89, "rtx4090", 128, 99, 24),
    capability(90, "h100", 132, 227, 80),
    capability(100, "b200", 148, 227, 180),
    capability(103, "b300", 148, 227, 270),
    capability(110, "agxthor", 20, 227, 128),
    capability(120, "rtx5090", 170, 99, 32),
    capability(121, "gb10", 48, 99, 128),
];

impl Device {
    /// A target or a card.
    pub fn find(name: &str) -> Result<Device, DeviceError> {
        if let Some(device) = nvidia(name) {
            return Ok(device);
        }
        if gpu::apple_gpu(name).is_some() {
            return Err(DeviceError::Apple(name.to_owned()));
        }
        if let Some(mut device) = gpu::nvidia_target(name).and_then(nvidia) {
            // The number of multiprocessors is known only for the representative card of a capability.
            let plain: String =
                name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
            if !NVIDIA.iter().any(|known| plain.ends_with(known.card)) {
                device.properties.retain(|(key, _)| *key != "multiProcessorCount" && *key != "totalGlobalMem");
            }
            device.card = Some(name.to_ascii_lowercase());
            return Ok(device);
        }
        if let Ok(card) = gpu::find(name) {
            let mut device = amd(card.processor()).ok_or_else(|| DeviceError::Unknown(name.to_owned()))?;
            // A bare target means its reference card.
            device.card = Some(card.name.clone());
            for property in card.properties.keys() {
                device.set(property, Property::Int(card.get(property)));
            }
            device.set("name", Property::Text(card.title.clone()));
            device.set("gcnArchName", Property::Text(card.gcn_arch_name.clone()));
            return Ok(device);
        }
        amd(name).ok_or_else(|| DeviceError::Unknown(name.to_owned()))
    }

    pub fn set(&mut self, name: &str, value: Property) {
        match self.properties.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.properties.push((name.to_owned(), value)),
        }
    }

    /// A numeric property.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.properties.iter().find(|(known, _)| known == name).and_then(|(_, value)| match value {
            Property::Int(value) => Some(*value),
            Property::Text(_) => None,
        })
    }

    /// The number of threads in a warp.
    pub fn warp(&self) -> Option<i64> {
        self.number("warpSize")
    }

    /// Sets the shared memory per block in bytes, for both properties that code reads.
    pub fn set_shared_memory(&mut self, bytes: i64) {
        self.set("sharedMemPerBlock", Property::Int(bytes));
        self.set("sharedMemPerBlockOptin", Property::Int(bytes));
    }

    /// The card's usual name, or the target if no card was named.
    pub fn title(&self) -> String {
        self.card.as_deref().map_or_else(|| self.target.clone(), gpu::title)
    }

    pub fn platform(&self) -> Platform {
        Platform { properties: self.properties.clone(), ..Platform::default() }
    }
}

/// `sm_90`, `sm90`, `sm_90a`: compute capability 9.0. A capability without an entry takes the shared memory of the
/// nearest lower one. Its multiprocessor count and memory size are unknown.
fn nvidia(name: &str) -> Option<Device> {
    let digits = name.strip_prefix("sm_").or_else(|| name.strip_prefix("sm"))?.trim_end_matches(['a', 'f']);
    let capability: u32 = digits.parse().ok().filter(|capability| (20..=999).contains(capability))?;
    let below = NVIDIA.iter().rev().find(|known| known.number <= capability).or(NVIDIA.first())?;
    let exact = below.number == capability;
    let mut device =
        Device { target: format!("sm_{capability}"), card: None, vendor: Vendor::Cuda, properties: Vec::new() };
    device.common(i64::from(capability / 10), i64::from(capability % 10), 32);
    device.set("name", Property::Text(format!("NVIDIA compute capability {}.{}", capability / 10, capability % 10)));
    device.set("sharedMemPerBlock", Property::Int(48 << 10));
    device.set("sharedMemPerBlockOptin", Property::Int(below.shared << 10));
    if exact {
        device.set("totalGlobalMem", Property::Int(below.gibibytes << 30));
        device.set("multiProcessorCount", Property::Int(below.multiprocessors));
    }
    device.set("virtualMemoryManagementSupported", Property::Int(1));
    Some(device)
}

/// Any `gfx` target, by name alone: version, wave size, and the 64 KiB of LDS that a work-group can have.
fn amd(name: &str) -> Option<Device> {
    let target = gpu::TargetId::named(name).ok()?;
    let (major, minor, _) = target.version().filter(|(major, ..)| (6..=20).contains(major))?;
    let processor = target.processor.as_str();
    let mut device = Device { target: processor.to_owned(), card: None, vendor: Vendor::Hip, properties: Vec::new() };
    device.common(i64::from(major), i64::from(minor), if major >= 10 { 32 } else { 64 });
    device.set("name", Property::Text(format!("AMD {processor}")));
    device.set("gcnArchName", Property::Text(name.to_owned()));
    device.set_shared_memory(64 << 10);
    device.set("totalGlobalMem", Property::Int(16 << 30));
    device.set("virtualMemoryManagementSupported", Property::Int(1));
    Some(device)
}

impl Device {
    fn common(&mut self, major: i64, minor: i64, warp: i64) {
        self.set("major", Property::Int(major));
        self.set("minor", Property::Int(minor));
        self.set("warpSize", Property::Int(warp));
        self.set("integrated", Property::Int(0));
        self.set("cooperativeLaunch", Property::Int(1));
    }
}

#[cfg(test)]
mod tests {
    use super::Device;

    /// A card's name gives its capability, but its multiprocessor count is known only for the card in the table.
    #[test]
    fn a_card_does_not_get_the_size_of_another_one() {
        let size = |name: &str| Device::find(name).unwrap().number("multiProcessorCount");
        assert_eq!(size("rtx-4090"), Some(128));
        assert_eq!(size("NVIDIA H100"), Some(132));
        assert_eq!(size("sm_89"), Some(128), "a bare capability stands for its reference card");
        assert_eq!((size("rtx-4060"), size("l4"), size("sm_88")), (None, None, None));
    }
}
