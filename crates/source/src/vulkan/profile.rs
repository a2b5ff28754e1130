//! Cards as ggml's Vulkan backend sees them: the properties that its rules read, stored as data with their origin.

/// The driver's properties of a card, by the fields of `vk_device_struct`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VulkanProfile {
    /// The name in Mesa's stand-in.
    pub card: String,
    pub target: String,
    /// An enumerator of `vk_device_architecture`.
    pub architecture: String,
    pub integer_dot_product: bool,
    pub fp16: bool,
    pub dot2: bool,
    pub subgroup_size: i64,
    /// The size of a work group's shared memory in bytes.
    pub shared_memory: i64,
    /// Support for 16x16x16 cooperative matrices: half precision with both accumulators, and bytes. RADV has all of
    /// them or none.
    pub coopmat: bool,
    /// Cooperative matrices of bfloat16.
    pub bf16: bool,
    /// 0 by default; GGML_VK_FORCE_MMVQ and GGML_VK_DISABLE_MMVQ change it.
    pub mmvq_mode: i64,
}

/// Environment variables that the rules depend on (`ggml_vk_get_device`). The last three have no effect on RADV.
const VARIABLES: [&str; 10] = [
    "GGML_VK_DISABLE_INTEGER_DOT_PRODUCT",
    "GGML_VK_DISABLE_COOPMAT",
    "GGML_VK_DISABLE_F16",
    "GGML_VK_DISABLE_BFLOAT16",
    "GGML_VK_DISABLE_DOT2",
    "GGML_VK_DISABLE_MMVQ",
    "GGML_VK_FORCE_MMVQ",
    "GGML_VK_DISABLE_COOPMAT2",
    "GGML_VK_DISABLE_COOPMAT2_DECODE_VECTOR",
    "GGML_VK_DISABLE_OCP_FP4",
];

impl VulkanProfile {
    /// All stored cards.
    pub fn all() -> impl Iterator<Item = VulkanProfile> {
        include_str!("cards.tsv").lines().filter(|line| !line.starts_with('#')).skip(1).filter_map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            let (card, target, architecture) = (fields.next()?, fields.next()?, fields.next()?);
            let mut number = || fields.next()?.parse::<i64>().ok();
            Some(VulkanProfile {
                card,
                target,
                architecture,
                integer_dot_product: number()? != 0,
                fp16: number()? != 0,
                dot2: number()? != 0,
                subgroup_size: number()?,
                shared_memory: number()?,
                coopmat: number()? != 0,
                bf16: number()? != 0,
                mmvq_mode: 0,
            })
        })
    }

    /// Finds a card by the stand-in's name, by target, or by the name of a card with a known target.
    pub fn find(given: &str) -> Option<VulkanProfile> {
        let own = VulkanProfile::all().find(|of| of.card.eq_ignore_ascii_case(given));
        own.or_else(|| {
            let profile = gpu::find(given).ok();
            let wanted = profile.as_ref().map_or(given, |profile| profile.processor());
            VulkanProfile::all().find(|of| of.target.eq_ignore_ascii_case(wanted))
        })
    }

    /// The environment variables that are inputs here.
    pub fn variables() -> &'static [&'static str] {
        &VARIABLES
    }

    /// Applies an environment variable; false if its effect on these rules is unknown.
    pub fn under(&mut self, name: &str) -> bool {
        match name {
            "GGML_VK_DISABLE_INTEGER_DOT_PRODUCT" => self.integer_dot_product = false,
            // This also disables bfloat16 matrices.
            "GGML_VK_DISABLE_COOPMAT" => (self.coopmat, self.bf16) = (false, false),
            "GGML_VK_DISABLE_F16" => self.fp16 = false,
            "GGML_VK_DISABLE_BFLOAT16" => self.bf16 = false,
            "GGML_VK_DISABLE_DOT2" => self.dot2 = false,
            // ggml checks this variable before GGML_VK_FORCE_MMVQ.
            "GGML_VK_DISABLE_MMVQ" => self.mmvq_mode = -1,
            "GGML_VK_FORCE_MMVQ" if self.mmvq_mode == 0 => self.mmvq_mode = 1,
            _ => return VARIABLES.contains(&name),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::VulkanProfile;

    #[test]
    fn every_card_of_the_stand_in_has_a_profile() {
        assert_eq!(VulkanProfile::all().count(), 20);
        let of = |given: &str| VulkanProfile::find(given).map(|of| (of.card, of.architecture));
        assert_eq!(of("rx-9070-xt"), Some(("gfx1201".into(), "AMD_RDNA4".into())));
        assert_eq!(of("polaris12"), Some(("polaris12".into(), "AMD_GCN".into())));
        assert_eq!(of("gfx1151"), None);
    }

    #[test]
    fn disabling_wins_over_forcing_as_in_ggml() {
        for names in [["GGML_VK_FORCE_MMVQ", "GGML_VK_DISABLE_MMVQ"], ["GGML_VK_DISABLE_MMVQ", "GGML_VK_FORCE_MMVQ"]] {
            let mut profile = VulkanProfile::find("navi21").expect("kept");
            assert!(names.into_iter().all(|name| profile.under(name)));
            assert_eq!(profile.mmvq_mode, -1);
        }
        assert!(!VulkanProfile::find("navi21").expect("kept").under("GGML_VK_DISABLE_FUSION"));
    }
}
