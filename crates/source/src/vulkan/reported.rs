//! A user's own card, from the output of `vulkaninfo --json`.
//!
//! The extensions, features and properties of the file are the driver's answers. The file does not list every answer: the
//! rest comes from the stored card with the same chip. Without such a card it is unknown, and so is every cell that
//! depends on it. Other drivers than RADV are rejected, because no stored card has their answers.

use super::VulkanProfile;
use super::profile::Fact;
use say::{Message, Say, key, say};
use serde_json::Value;

/// The maximum file size; vulkaninfo writes about a third of a megabyte.
const LARGEST: usize = 16 << 20;
const AMD: i64 = 0x1002;
const RADV: &str = "VK_DRIVER_ID_MESA_RADV";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportedError {
    TooLarge,
    NotJson(String),
    Lacks(String),
    OtherVendor { name: String, vendor: i64 },
    OtherDriver { name: String, driver: String },
    NotPlayed { name: String },
    OtherProperties { name: String, card: String, what: Message },
}

say::worded! { ReportedError {
    TooLarge => "source-reported-too-large",
    NotJson(why) => "source-reported-not-json",
    Lacks(field) => "source-reported-lacks",
    OtherVendor { name, vendor } => "source-reported-vendor" (name, vendor = format!("{vendor:#x}")),
    OtherDriver { name, driver } => "source-reported-driver",
    NotPlayed { name } => "source-reported-not-played",
    OtherProperties { name, card, what } => "source-reported-properties",
}}

/// Names that vulkaninfo writes instead of numbers.
const NAMES: &[(&str, i64)] = &[
    (RADV, 3),
    ("VK_PHYSICAL_DEVICE_TYPE_OTHER", 0),
    ("VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU", 1),
    ("VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU", 2),
    ("VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU", 3),
    ("VK_PHYSICAL_DEVICE_TYPE_CPU", 4),
    ("VK_SHADER_STAGE_VERTEX_BIT", 0x1),
    ("VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT", 0x2),
    ("VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT", 0x4),
    ("VK_SHADER_STAGE_GEOMETRY_BIT", 0x8),
    ("VK_SHADER_STAGE_FRAGMENT_BIT", 0x10),
    ("VK_SHADER_STAGE_COMPUTE_BIT", 0x20),
    ("VK_SHADER_STAGE_TASK_BIT_EXT", 0x40),
    ("VK_SHADER_STAGE_TASK_BIT_NV", 0x40),
    ("VK_SHADER_STAGE_MESH_BIT_EXT", 0x80),
    ("VK_SHADER_STAGE_MESH_BIT_NV", 0x80),
    ("VK_SHADER_STAGE_RAYGEN_BIT_KHR", 0x100),
    ("VK_SHADER_STAGE_ANY_HIT_BIT_KHR", 0x200),
    ("VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR", 0x400),
    ("VK_SHADER_STAGE_MISS_BIT_KHR", 0x800),
    ("VK_SHADER_STAGE_INTERSECTION_BIT_KHR", 0x1000),
    ("VK_SHADER_STAGE_CALLABLE_BIT_KHR", 0x2000),
    ("VK_SUBGROUP_FEATURE_BASIC_BIT", 0x1),
    ("VK_SUBGROUP_FEATURE_VOTE_BIT", 0x2),
    ("VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", 0x4),
    ("VK_SUBGROUP_FEATURE_BALLOT_BIT", 0x8),
    ("VK_SUBGROUP_FEATURE_SHUFFLE_BIT", 0x10),
    ("VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT", 0x20),
    ("VK_SUBGROUP_FEATURE_CLUSTERED_BIT", 0x40),
    ("VK_SUBGROUP_FEATURE_QUAD_BIT", 0x80),
    ("VK_SUBGROUP_FEATURE_ROTATE_BIT", 0x200),
    ("VK_SUBGROUP_FEATURE_ROTATE_CLUSTERED_BIT", 0x400),
];

impl VulkanProfile {
    /// Reads a profile from the bytes of such a file.
    pub fn reported(bytes: &[u8]) -> Result<VulkanProfile, ReportedError> {
        if bytes.len() > LARGEST {
            return Err(ReportedError::TooLarge);
        }
        let file: Value = serde_json::from_slice(bytes).map_err(|error| ReportedError::NotJson(error.to_string()))?;
        profile(&file)
    }

    /// The stored card that matches a reported one: the same chip with the same properties.
    pub fn played(&self) -> Result<VulkanProfile, ReportedError> {
        let name = self.card.clone();
        let Some(kept) = stored_chip(&name) else { return Err(ReportedError::NotPlayed { name }) };
        let dot = "integerDotProduct4x8BitPackedSignedAccelerated";
        let number = |of: &VulkanProfile, field: &str| of.number("", field);
        // ggml uses a property only if the driver offers its extension too.
        let dots = |of: &VulkanProfile| of.has("VK_KHR_shader_integer_dot_product") && number(of, dot) == Some(1);
        let halves = |of: &VulkanProfile| {
            let offered = of.has("VK_KHR_16bit_storage") && of.has("VK_KHR_shader_float16_int8");
            offered && number(of, "shaderFloat16") == Some(1)
        };
        let flags = [
            (key!("source-property-integer-dot"), dots(self), dots(&kept)),
            (key!("source-property-halves"), halves(self), halves(&kept)),
            (key!("source-property-half-dot"), self.has(HALF_DOT), kept.has(HALF_DOT)),
            (key!("source-property-matrices"), self.has(MATRICES), kept.has(MATRICES)),
            (key!("source-property-bf16-matrices"), self.has(BF16), kept.has(BF16)),
        ];
        let mut other: Vec<Message> = flags
            .into_iter()
            .filter(|(_, own, kept)| own != kept)
            .map(|(what, own, _)| if own { what.message() } else { say!("source-property-without", what) })
            .collect();
        let shared = "limits.maxComputeSharedMemorySize";
        let numbers = [
            (key!("source-property-subgroup"), number(self, "subgroupSize"), number(&kept, "subgroupSize")),
            (key!("source-property-shared-memory"), number(self, shared), number(&kept, shared)),
        ];
        let differ = numbers.into_iter().filter(|(_, own, kept)| own != kept);
        other.extend(differ.map(|(what, own, _)| say!("source-property-of", what, own = own.unwrap_or(-1))));
        match other.into_iter().reduce(|list, next| say!("source-property-list", list, next)) {
            None => Ok(kept),
            Some(what) => Err(ReportedError::OtherProperties { name, card: kept.card, what }),
        }
    }
}

/// VK_SUBGROUP_FEATURE_ROTATE_BIT and VK_SUBGROUP_FEATURE_ROTATE_CLUSTERED_BIT.
const ROTATIONS: i64 = 0x600;
const HALF_DOT: &str = "VK_VALVE_shader_mixed_float_dot_product";
const MATRICES: &str = "VK_KHR_cooperative_matrix";
const BF16: &str = "VK_KHR_shader_bfloat16";

fn profile(file: &Value) -> Result<VulkanProfile, ReportedError> {
    let lacks = |field: &str| ReportedError::Lacks(field.to_owned());
    let device = file.get("capabilities").and_then(|of| of.get("device"));
    let part = |name: &str| device.and_then(|of| of.get(name)).and_then(Value::as_object).ok_or_else(|| lacks(name));
    let (extensions, features, properties) = (part("extensions")?, part("features")?, part("properties")?);
    let mut own = VulkanProfile::empty("", "?");
    own.extensions = extensions.keys().cloned().collect();
    for (structure, fields) in features.iter().chain(properties) {
        take(&mut own, structure, fields);
    }
    let Some(Fact::Text(name)) = own.fact("VkPhysicalDeviceProperties", "deviceName").cloned() else {
        return Err(lacks("VkPhysicalDeviceProperties.deviceName"));
    };
    let vendor = own.number("VkPhysicalDeviceProperties", "vendorID").ok_or_else(|| lacks("vendorID"))?;
    if vendor != AMD {
        return Err(ReportedError::OtherVendor { name, vendor });
    }
    match own.fact("VkPhysicalDeviceDriverProperties", "driverID") {
        Some(Fact::Number(3)) => {}
        Some(Fact::Text(driver)) => return Err(ReportedError::OtherDriver { name, driver: driver.clone() }),
        Some(Fact::Number(driver)) => {
            return Err(ReportedError::OtherDriver { name, driver: driver.to_string() });
        }
        None => return Err(lacks("driverID")),
    }
    for field in ["minSubgroupSize", "maxSubgroupSize", "limits.maxComputeSharedMemorySize", "subgroupSize"] {
        if own.number("VkPhysicalDeviceProperties", field).is_none() {
            return Err(lacks(field));
        }
    }
    own.target = target(&name);
    if let Some(kept) = stored_chip(&name) {
        for (key, fact) in kept.fields {
            // An older vulkaninfo has no names for the newest operations and does not list them.
            if let (Some(Fact::Number(own)), Fact::Number(kept)) = (own.fields.get_mut(&key), &fact)
                && key.ends_with("upportedOperations")
            {
                *own |= kept & ROTATIONS;
            }
            let known = key.split_once('.').is_some_and(|(of, field)| own.fact(of, field).is_some());
            if !known {
                own.fields.insert(key, fact);
            }
        }
        own.unfilled = kept.unfilled;
        own.queues = kept.queues;
        own.memory = kept.memory;
        own.matrices = kept.matrices;
    }
    if !own.has(MATRICES) {
        own.matrices = Some(Vec::new());
    }
    own.card = name;
    Ok(own)
}

/// The fields of a structure. A name or a flag that is not known leaves its field unknown.
fn take(profile: &mut VulkanProfile, path: &str, value: &Value) {
    let name = |text: &str| NAMES.iter().find(|(known, _)| *known == text).map(|(_, number)| *number);
    let fact = match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| take(profile, &format!("{path}.{field}"), value));
            return;
        }
        Value::Bool(truth) => Fact::Number(i64::from(*truth)),
        Value::Number(number) => match number.as_i64().or_else(|| number.as_u64().map(|number| number as i64)) {
            Some(number) => Fact::Number(number),
            None => return,
        },
        Value::String(text) => name(text).map_or_else(|| Fact::Text(text.clone()), Fact::Number),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let bits: Option<Vec<i64>> = items.iter().map(|item| name(item.as_str()?)).collect();
            match bits {
                Some(bits) => Fact::Number(bits.into_iter().fold(0, |all, bit| all | bit)),
                None => return,
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                take(profile, &format!("{path}[{index}]"), item);
            }
            return;
        }
        Value::Null => return,
    };
    profile.fields.insert(path.to_owned(), fact);
}

/// The chip in a RADV device name: `NAVI21` in `AMD Radeon RX 6800 (RADV NAVI21)`.
fn chip(name: &str) -> Option<&str> {
    name.rsplit_once("(RADV ")?.1.strip_suffix(')')
}

fn stored_chip(name: &str) -> Option<VulkanProfile> {
    let chip = chip(name)?;
    let (card, _) = VulkanProfile::known().find(|(card, _)| card.eq_ignore_ascii_case(chip))?;
    VulkanProfile::find(card)
}

/// The target of a known chip, or of one that is named after its target.
fn target(name: &str) -> String {
    let Some(chip) = chip(name) else { return "?".to_owned() };
    let kept = VulkanProfile::known().find(|(card, _)| card.eq_ignore_ascii_case(chip)).map(|(_, target)| target);
    let own = || chip.starts_with("GFX").then(|| chip.to_ascii_lowercase());
    kept.map(str::to_owned).or_else(own).unwrap_or_else(|| "?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real files of vulkaninfo 1.3.239 on RADV 26.2.6 with Mesa's stand-in, without the parts that are not read.
    const FILES: [(&str, &str); 4] = [
        ("gfx1201", include_str!("../../tests/data/vulkaninfo/gfx1201.json")),
        ("navi21", include_str!("../../tests/data/vulkaninfo/navi21.json")),
        ("navi10", include_str!("../../tests/data/vulkaninfo/navi10.json")),
        ("polaris10", include_str!("../../tests/data/vulkaninfo/polaris10.json")),
    ];

    #[test]
    fn what_vulkaninfo_says_is_what_is_kept_of_the_card() {
        for (card, text) in FILES {
            let own = VulkanProfile::reported(text.as_bytes()).expect(card);
            let kept = VulkanProfile::find(card).expect("kept");
            assert_eq!(own.target, kept.target);
            let (mut compared, mut different) = (0, Vec::new());
            for (key, fact) in &kept.fields {
                let (of, field) = key.split_once('.').expect("a field");
                compared += 1;
                // vulkaninfo asks for another version of Vulkan, and Mesa names the GPU by the installed table.
                if own.fact(of, field) != Some(fact) && !matches!(field, "deviceName" | "apiVersion" | "driverVersion")
                {
                    different.push(key);
                }
            }
            assert!(compared > 150 && different.is_empty(), "{card}: {different:?}");
        }
    }

    #[test]
    fn other_files_are_refused_with_what_they_lack() {
        let refused = |bytes: &[u8]| VulkanProfile::reported(bytes).expect_err("refused").to_string();
        assert!(refused(b"").starts_with("this is not JSON"));
        assert!(refused(b"{\"capabilities\": {\"device\": ").starts_with("this is not JSON"));
        assert!(refused(b"[1, 2]").contains("extensions"), "{}", refused(b"[1, 2]"));
        assert!(refused(b"{}").contains("vulkaninfo --json"));
        let (_, text) = FILES[0];
        let with = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            refused(text.replace(from, to).as_bytes())
        };
        assert!(with("\"vendorID\":4098", "\"vendorID\":4318").contains("0x10de"));
        assert!(with(RADV, "VK_DRIVER_ID_AMD_PROPRIETARY").contains("VK_DRIVER_ID_AMD_PROPRIETARY"));
        assert!(with("minSubgroupSize", "someSubgroupSize").contains("minSubgroupSize"));
        assert!(with("maxComputeSharedMemorySize", "other").contains("maxComputeSharedMemorySize"));
        let deep = "[".repeat(100_000);
        assert!(refused(deep.as_bytes()).starts_with("this is not JSON"));
    }

    #[test]
    fn a_reported_card_is_played_only_by_one_that_is_the_same() {
        for (card, text) in FILES {
            let own = VulkanProfile::reported(text.as_bytes()).expect(card);
            assert_eq!(own.played().map(|kept| kept.card), Ok(card.to_owned()));
            let strange = VulkanProfile { card: own.card.replace("RADV", "AMDVLK"), ..own.clone() };
            assert!(matches!(strange.played(), Err(ReportedError::NotPlayed { .. })));
            let mut less = own.clone();
            for (key, fact) in &mut less.fields {
                if key.ends_with("maxComputeSharedMemorySize") {
                    *fact = Fact::Number(1);
                }
            }
            match less.has(MATRICES) {
                true => less.extensions.retain(|name| name != MATRICES),
                false => less.extensions.push(MATRICES.to_owned()),
            }
            let refused = less.played().expect_err("another card").to_string();
            assert!(refused.contains("cooperative matrices") && refused.contains("shared memory of 1"), "{refused}");
        }
    }

    /// A chip that is not stored has only the answers of its file.
    #[test]
    fn answers_that_a_file_lacks_are_not_guessed() {
        let (_, text) = FILES[0];
        let strange = VulkanProfile::reported(text.replace("GFX1201", "GFX1299").as_bytes()).expect("read");
        assert_eq!((strange.target.as_str(), strange.matrices), ("gfx1299", None));
        assert_eq!(strange.fields.get("VkPhysicalDeviceShaderCorePropertiesAMD.wavefrontsPerSimd"), None);
    }
}
