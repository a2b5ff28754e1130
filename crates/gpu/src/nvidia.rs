//! NVIDIA cards by product name, with their compute capability (NVIDIA, "CUDA GPU compute capability").

/// The name as normalised by [`plain`](crate::plain::plain), and its target.
const CARDS: &[(&str, &str)] = &[
    ("gtx1050", "sm_61"),
    ("gtx1060", "sm_61"),
    ("gtx1070", "sm_61"),
    ("gtx1080", "sm_61"),
    ("gtx1080ti", "sm_61"),
    ("p40", "sm_61"),
    ("p100", "sm_60"),
    ("v100", "sm_70"),
    ("titanv", "sm_70"),
    ("gtx1650", "sm_75"),
    ("gtx1660", "sm_75"),
    ("rtx2060", "sm_75"),
    ("rtx2070", "sm_75"),
    ("rtx2080", "sm_75"),
    ("rtx2080ti", "sm_75"),
    ("t4", "sm_75"),
    ("a100", "sm_80"),
    ("rtx3050", "sm_86"),
    ("rtx3060", "sm_86"),
    ("rtx3070", "sm_86"),
    ("rtx3080", "sm_86"),
    ("rtx3090", "sm_86"),
    ("a10", "sm_86"),
    ("a40", "sm_86"),
    ("a6000", "sm_86"),
    ("rtx4060", "sm_89"),
    ("rtx4070", "sm_89"),
    ("rtx4080", "sm_89"),
    ("rtx4090", "sm_89"),
    ("l4", "sm_89"),
    ("l40", "sm_89"),
    ("l40s", "sm_89"),
    ("h100", "sm_90"),
    ("h200", "sm_90"),
    ("gh200", "sm_90"),
    ("b100", "sm_100"),
    ("b200", "sm_100"),
    ("rtx5060", "sm_120"),
    ("rtx5070", "sm_120"),
    ("rtx5080", "sm_120"),
    ("rtx5090", "sm_120"),
];

/// The target of a card, by its product name: `rtx-4090`, `RTX 4070 Ti Super`, `NVIDIA H100 PCIe`.
pub fn nvidia_target(name: &str) -> Option<&'static str> {
    let key = crate::plain::plain(name);
    let key = key.strip_prefix("nvidia").unwrap_or(&key);
    let key = key.strip_prefix("geforce").or_else(|| key.strip_prefix("tesla")).unwrap_or(key);
    let exact = CARDS.iter().find(|(known, _)| *known == key);
    // A suffix after a known name is a variant, never another generation: `rtx4070tisuper`, `h100pcie`, `a10080gb`.
    let begins = |(known, _): &&(&str, &str)| {
        key.strip_prefix(known).is_some_and(|rest| VARIANTS.iter().any(|variant| rest.starts_with(variant)))
    };
    exact.or_else(|| CARDS.iter().filter(begins).max_by_key(|(known, _)| known.len())).map(|(_, target)| *target)
}

const VARIANTS: &[&str] =
    &["ti", "super", "pcie", "sxm", "nvl", "laptop", "mobile", "12gb", "16gb", "24gb", "40gb", "80gb", "hbm"];

/// The known names, for "did you mean".
pub fn nvidia_names() -> impl Iterator<Item = &'static str> {
    CARDS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_boxes_are_known() {
        for (name, target) in [
            ("rtx-4090", "sm_89"),
            ("RTX 4070 Ti Super", "sm_89"),
            ("NVIDIA GeForce RTX 3060 Laptop GPU", "sm_86"),
            ("h100", "sm_90"),
            ("NVIDIA H100 80GB HBM3", "sm_90"),
            ("A100 40GB", "sm_80"),
            ("Tesla T4", "sm_75"),
        ] {
            assert_eq!(nvidia_target(name), Some(target), "{name}");
        }
        assert_eq!(nvidia_target("rtx4090x"), None);
        assert_eq!(nvidia_target("rx-9070-xt"), None);
    }
}
