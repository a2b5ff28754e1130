//! A user's own card, from the output of `vulkaninfo --json`.
//!
//! Extensions, features and limits are read as ggml queries them (`ggml_vk_get_device`, `get_device_architecture`). The
//! file does not say which matrices a driver multiplies: RADV supports all of one size or none, other drivers are
//! rejected. For the twenty cards of the stand-in, the same queries gave the values in `cards.tsv`.

use super::VulkanProfile;
use say::{Message, Say, key, say};
use serde_json::Value;

/// The maximum file size; vulkaninfo writes about a third of a megabyte.
const LARGEST: usize = 16 << 20;
const AMD: u64 = 0x1002;
const RADV: &str = "VK_DRIVER_ID_MESA_RADV";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportedError {
    TooLarge,
    NotJson(String),
    Lacks(String),
    OtherVendor { name: String, vendor: u64 },
    OtherDriver { name: String, driver: String },
    NoArchitecture { name: String },
    NotPlayed { name: String },
    OtherProperties { name: String, card: String, what: Message },
}

say::worded! { ReportedError {
    TooLarge => "source-reported-too-large",
    NotJson(why) => "source-reported-not-json",
    Lacks(field) => "source-reported-lacks",
    OtherVendor { name, vendor } => "source-reported-vendor" (name, vendor = format!("{vendor:#x}")),
    OtherDriver { name, driver } => "source-reported-driver",
    NoArchitecture { name } => "source-reported-architecture",
    NotPlayed { name } => "source-reported-not-played",
    OtherProperties { name, card, what } => "source-reported-properties",
}}

impl VulkanProfile {
    /// Reads a profile from the bytes of such a file.
    pub fn reported(bytes: &[u8]) -> Result<VulkanProfile, ReportedError> {
        if bytes.len() > LARGEST {
            return Err(ReportedError::TooLarge);
        }
        let file: Value = serde_json::from_slice(bytes).map_err(|error| ReportedError::NotJson(error.to_string()))?;
        Report { file: &file }.profile()
    }
}

impl VulkanProfile {
    /// The stored card that matches a reported one: the same chip with the same properties.
    pub fn played(&self) -> Result<VulkanProfile, ReportedError> {
        let name = self.card.clone();
        let kept = chip(&name).and_then(|chip| VulkanProfile::all().find(|of| of.card.eq_ignore_ascii_case(chip)));
        let Some(kept) = kept else { return Err(ReportedError::NotPlayed { name }) };
        let flags = [
            (key!("source-property-integer-dot"), self.integer_dot_product, kept.integer_dot_product),
            (key!("source-property-halves"), self.fp16, kept.fp16),
            (key!("source-property-half-dot"), self.dot2, kept.dot2),
            (key!("source-property-matrices"), self.coopmat, kept.coopmat),
            (key!("source-property-bf16-matrices"), self.bf16, kept.bf16),
        ];
        let mut other: Vec<Message> = flags
            .into_iter()
            .filter(|(_, own, kept)| own != kept)
            .map(|(what, own, _)| if own { what.message() } else { say!("source-property-without", what) })
            .collect();
        let numbers = [
            (key!("source-property-subgroup"), self.subgroup_size, kept.subgroup_size),
            (key!("source-property-shared-memory"), self.shared_memory, kept.shared_memory),
        ];
        let differ = numbers.into_iter().filter(|(_, own, kept)| own != kept);
        other.extend(differ.map(|(what, own, _)| say!("source-property-of", what, own)));
        if self.architecture != kept.architecture {
            other.push(Message::verbatim(&self.architecture));
        }
        match other.into_iter().reduce(|list, next| say!("source-property-list", list, next)) {
            None => Ok(kept),
            Some(what) => Err(ReportedError::OtherProperties { name, card: kept.card, what }),
        }
    }
}

struct Report<'f> {
    file: &'f Value,
}

impl Report<'_> {
    /// A value below `capabilities.device`.
    fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self.file.get("capabilities")?.get("device")?, |value, key| value.get(key))
    }

    fn must(&self, path: &[&str]) -> Result<&Value, ReportedError> {
        self.at(path).ok_or_else(|| ReportedError::Lacks(path.join(".")))
    }

    fn number(&self, path: &[&str]) -> Result<u64, ReportedError> {
        self.must(path)?.as_u64().ok_or_else(|| ReportedError::Lacks(path.join(".")))
    }

    fn text(&self, path: &[&str]) -> Result<String, ReportedError> {
        self.must(path)?.as_str().map(str::to_owned).ok_or_else(|| ReportedError::Lacks(path.join(".")))
    }

    fn has(&self, extension: &str) -> bool {
        self.at(&["extensions", extension]).is_some()
    }

    /// A value from one of several structures that contain the same field.
    fn either(&self, part: &str, structures: &[&str], field: &str) -> Option<&Value> {
        structures.iter().find_map(|of| self.at(&[part, of, field]))
    }

    fn yes(&self, part: &str, structures: &[&str], field: &str) -> bool {
        self.either(part, structures, field).and_then(Value::as_bool).unwrap_or(false)
    }

    fn profile(&self) -> Result<VulkanProfile, ReportedError> {
        const DEVICE: [&str; 2] = ["properties", "VkPhysicalDeviceProperties"];
        let of = |field: &'static str| [DEVICE[0], DEVICE[1], field];
        self.must(&["extensions"])?;
        self.must(&["features"])?;
        let (name, vendor) = (self.text(&of("deviceName"))?, self.number(&of("vendorID"))?);
        if vendor != AMD {
            return Err(ReportedError::OtherVendor { name, vendor });
        }
        let driver = self.either(
            "properties",
            &["VkPhysicalDeviceDriverProperties", "VkPhysicalDeviceVulkan12Properties"],
            "driverID",
        );
        let driver = driver.and_then(Value::as_str).ok_or_else(|| ReportedError::Lacks("driverID".to_owned()))?;
        if driver != RADV {
            return Err(ReportedError::OtherDriver { name, driver: driver.to_owned() });
        }
        let (architecture, smallest) = self.architecture(&name)?;
        let dot = ["VkPhysicalDeviceShaderIntegerDotProductProperties", "VkPhysicalDeviceVulkan13Properties"];
        let half = ["VkPhysicalDeviceShaderFloat16Int8Features", "VkPhysicalDeviceVulkan12Features"];
        let matrices = self.has("VK_KHR_cooperative_matrix") && matches!(architecture, "AMD_RDNA3" | "AMD_RDNA4");
        let [_, _, limits] = of("limits");
        let shared = self.number(&[DEVICE[0], DEVICE[1], limits, "maxComputeSharedMemorySize"])?;
        let subgroups = ["VkPhysicalDeviceSubgroupProperties", "VkPhysicalDeviceVulkan11Properties"];
        let subgroup = self.either("properties", &subgroups, "subgroupSize").and_then(Value::as_i64);
        Ok(VulkanProfile {
            target: target(&name),
            card: name,
            architecture: architecture.to_owned(),
            integer_dot_product: self.has("VK_KHR_shader_integer_dot_product")
                && self.yes("properties", &dot, "integerDotProduct4x8BitPackedSignedAccelerated"),
            fp16: self.has("VK_KHR_16bit_storage")
                && self.has("VK_KHR_shader_float16_int8")
                && self.yes("features", &half, "shaderFloat16"),
            dot2: self.has("VK_VALVE_shader_mixed_float_dot_product"),
            subgroup_size: subgroup.or(smallest).ok_or_else(|| ReportedError::Lacks("subgroupSize".to_owned()))?,
            shared_memory: i64::try_from(shared)
                .map_err(|_| ReportedError::Lacks("maxComputeSharedMemorySize".to_owned()))?,
            coopmat: matrices,
            bf16: matrices && self.has("VK_KHR_shader_bfloat16"),
            mmvq_mode: 0,
        })
    }

    /// Follows `get_device_architecture` of ggml 0.27; also returns the smallest subgroup size.
    fn architecture(&self, name: &str) -> Result<(&'static str, Option<i64>), ReportedError> {
        const NEEDED: [&str; 3] =
            ["VK_AMD_shader_core_properties", "VK_KHR_shader_integer_dot_product", "VK_EXT_subgroup_size_control"];
        const FIRST: [&str; 3] = ["NAVI10", "NAVI12", "NAVI14"];
        const RDNA1_WAVES: u64 = 20;
        let sizes = ["VkPhysicalDeviceSubgroupSizeControlProperties", "VkPhysicalDeviceVulkan13Properties"];
        let size = |field: &str| {
            let value = self.either("properties", &sizes, field).and_then(Value::as_i64);
            value.ok_or_else(|| ReportedError::Lacks(field.to_owned()))
        };
        let (smallest, largest) = (size("minSubgroupSize")?, size("maxSubgroupSize")?);
        if !NEEDED.iter().all(|extension| self.has(extension)) {
            return Ok(("OTHER", Some(smallest)));
        }
        let dot = ["VkPhysicalDeviceShaderIntegerDotProductProperties", "VkPhysicalDeviceVulkan13Properties"];
        let mixed = self.yes("properties", &dot, "integerDotProduct4x8BitPackedMixedSignednessAccelerated");
        let waves = self.either("properties", &["VkPhysicalDeviceShaderCorePropertiesAMD"], "wavefrontsPerSimd");
        let first = match (waves.and_then(Value::as_u64), chip(name)) {
            (Some(waves), _) => waves == RDNA1_WAVES,
            // If vulkaninfo does not report it: later generations have features that the first lacks, or are known
            // chips.
            (None, _) if mixed || self.has("VK_EXT_shader_float8") => false,
            (None, Some(chip)) if FIRST.contains(&chip) => true,
            (None, Some(chip)) if VulkanProfile::all().any(|of| of.card.eq_ignore_ascii_case(chip)) => false,
            _ if (smallest, largest) == (64, 64) => false,
            _ => return Err(ReportedError::NoArchitecture { name: name.to_owned() }),
        };
        let architecture = match (smallest, largest) {
            (64, 64) => "AMD_GCN",
            (32, 64) if first => "AMD_RDNA1",
            (32, 64) if self.has("VK_EXT_shader_float8") => "AMD_RDNA4",
            (32, 64) if mixed => "AMD_RDNA3",
            (32, 64) => "AMD_RDNA2",
            _ => "OTHER",
        };
        Ok((architecture, Some(smallest)))
    }
}

/// The chip in a RADV device name: `NAVI21` in `AMD Radeon RX 6800 (RADV NAVI21)`.
fn chip(name: &str) -> Option<&str> {
    name.rsplit_once("(RADV ")?.1.strip_suffix(')')
}

/// The target of a known chip, or of one that is named after its target.
fn target(name: &str) -> String {
    let Some(chip) = chip(name) else { return "?".to_owned() };
    let kept = VulkanProfile::all().find(|of| of.card.eq_ignore_ascii_case(chip)).map(|of| of.target);
    let own = || chip.starts_with("GFX").then(|| chip.to_ascii_lowercase());
    kept.or_else(own).unwrap_or_else(|| "?".to_owned())
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
            assert_eq!(VulkanProfile { card: kept.card.clone(), ..own }, kept);
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
            let less = VulkanProfile { shared_memory: 1, coopmat: !own.coopmat, ..own };
            let refused = less.played().expect_err("another card").to_string();
            assert!(refused.contains("cooperative matrices") && refused.contains("shared memory of 1"), "{refused}");
        }
    }

    /// Without the number of waves and without a known chip, there is no answer.
    #[test]
    fn a_generation_that_cannot_be_told_is_not_guessed() {
        let (_, text) = FILES[2];
        let strange = text.replace("NAVI10", "NAVI99");
        let refused = VulkanProfile::reported(strange.as_bytes()).expect_err("unknown");
        assert!(matches!(refused, ReportedError::NoArchitecture { .. }), "{refused}");
        let told = strange.replace(
            "\"properties\":{",
            "\"properties\":{\"VkPhysicalDeviceShaderCorePropertiesAMD\":{\"wavefrontsPerSimd\":20},",
        );
        assert_eq!(VulkanProfile::reported(told.as_bytes()).expect("told").architecture, "AMD_RDNA1");
    }
}
