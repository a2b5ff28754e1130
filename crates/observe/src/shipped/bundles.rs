//! The role of each bundle, as facts: its kernel families, its role, its kernels with their number of variants and
//! template ranges, and the order of a kernel's types across bundles.

use evidence::{About, Fact, Value};
use findings::shipped::KernelFact;
use launch::grammar::{self, Facts, Family, variants};
use std::collections::{BTreeMap, BTreeSet};

/// A bundle of one target, described by the names of its kernels.
struct Bundle {
    index: usize,
    read: Vec<(Facts, bool)>,
    /// The most frequent family first; helpers last.
    families: Vec<Family>,
}

/// Facts about all bundles that contain a kernel.
pub fn facts(kernels: &[KernelFact]) -> Vec<Fact> {
    let mut by_bundle: BTreeMap<usize, Vec<(Facts, bool)>> = BTreeMap::new();
    for kernel in kernels {
        if let Some(bundle) = kernel.bundle {
            by_bundle.entry(bundle).or_default().push((grammar::read(&kernel.mangled), kernel.stub != Some(true)));
        }
    }
    let bundles: Vec<Bundle> = by_bundle.into_iter().map(|(index, read)| Bundle::new(index, read)).collect();
    let mut all: Vec<Fact> = bundles.iter().flat_map(Bundle::facts).collect();
    all.extend(orders(&bundles));
    all
}

impl Bundle {
    fn new(index: usize, read: Vec<(Facts, bool)>) -> Self {
        let mut counts: BTreeMap<Family, usize> = BTreeMap::new();
        for (facts, _) in &read {
            *counts.entry(facts.family).or_default() += 1;
        }
        let mut families: Vec<(Family, usize)> = counts.into_iter().collect();
        let helper = |family: Family| matches!(family, Family::MmqFixup | Family::FlashAttentionFixup | Family::Other);
        families.sort_by_key(|(family, count)| (helper(*family), std::cmp::Reverse(*count), *family));
        Bundle { index, read, families: families.into_iter().map(|(family, _)| family).collect() }
    }

    /// `MMQ`, `flash attention`, `dequantize`: the common name of the first family.
    fn role(&self) -> Option<String> {
        let family = self.families.first()?;
        Some(match family {
            Family::Rope => "RoPE".to_owned(),
            Family::Mmvq | Family::Mmq | Family::Dmmv | Family::Mmvf | Family::Mmf => family.key().to_uppercase(),
            other => other.key().replace('-', " "),
        })
    }

    /// The weight types of one kernel in this bundle.
    fn types(&self, kernel: &str) -> BTreeSet<String> {
        let facts = self.read.iter().map(|(facts, live)| (facts, *live)).filter(|(facts, _)| facts.kernel == kernel);
        variants(facts).into_iter().filter_map(|variants| variants.data).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let about = || About::new([("bundle", self.index.to_string())]);
        let families = self.families.iter().map(|family| Value::from(family.key())).collect();
        let mut all = vec![Fact::new("bundle.families", about(), Value::List(families))];
        all.extend(self.role().map(|role| Fact::new("bundle.role", about(), role)));
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let mut ranges: BTreeMap<(String, String), BTreeSet<i64>> = BTreeMap::new();
        for found in variants(self.read.iter().map(|(facts, live)| (facts, *live))) {
            *counts.entry(found.kernel.clone()).or_default() += found.count as u64;
            if let Some(data) = found.data {
                ranges.entry((found.kernel, data)).or_default().extend(found.values);
            }
        }
        for (kernel, count) in counts {
            let mut about = about();
            about.insert("family", kernel);
            all.push(Fact::new("bundle.variants", about, count));
        }
        for ((kernel, data), values) in ranges {
            let (Some(low), Some(high)) = (values.first(), values.last()) else { continue };
            let mut about = about();
            about.insert("family", kernel);
            about.insert("type", data);
            let range = if low == high { low.to_string() } else { format!("{low}..{high}") };
            all.push(Fact::new("bundle.range", about, range));
        }
        all
    }
}

/// For each kernel that has one bundle per type: the types in the order of the bundles, then the role of the bundle
/// after the last of them.
fn orders(bundles: &[Bundle]) -> Vec<Fact> {
    let names: BTreeSet<&str> =
        bundles.iter().flat_map(|bundle| &bundle.read).map(|(facts, _)| facts.kernel.as_str()).collect();
    let mut all = Vec::new();
    for name in names {
        let mut order = Vec::new();
        let mut last = None;
        for (at, bundle) in bundles.iter().enumerate() {
            let types = bundle.types(name);
            if types.len() == 1 {
                order.extend(types);
                last = Some(at);
            }
        }
        if order.len() < 2 {
            continue;
        }
        order.extend(last.and_then(|at| bundles.get(at + 1)).and_then(Bundle::role));
        all.push(Fact::new("bundle.order", About::new([("family", name)]), order.join(" > ")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(bundle: usize, mangled: &str) -> KernelFact {
        KernelFact {
            name: String::new(),
            mangled: mangled.to_owned(),
            bundle: Some(bundle),
            sgpr: None,
            vgpr: None,
            lds: None,
            scratch: None,
            wavefront: None,
            stub: Some(false),
        }
    }

    #[test]
    fn ranges_roles_and_orders_are_told_by_the_names() {
        let mmq = |bundle, kind: u32, columns: u32| {
            let name = format!("_ZL9mul_mat_qIL9ggml_type{kind}ELi{columns}ELb0EEvPKcPKiS4_S4_PfS5_iiiiiiiiiiiiiiiii");
            kernel(bundle, &name)
        };
        let flash = "_ZL18flash_attn_ext_vecILi64ELi1EL9ggml_type1ELS0_1ELb0EEvPKcS2_S2_S2_S2_PKiPfP15HIP_vector_typeIfLj2EEffffjfiS6_IjLj3EEiiiiiiiiiiiliiliiiiil";
        let kernels = [mmq(3, 3, 8), mmq(3, 3, 128), mmq(4, 12, 8), mmq(4, 12, 112), kernel(5, flash)];
        let all = facts(&kernels);
        let value = |topic: &str, about: &[(&str, &str)]| {
            let about = About::new(about.iter().copied());
            all.iter().find(|fact| fact.topic == topic && fact.about == about).map(|fact| fact.value.clone())
        };
        let range = [("bundle", "4"), ("family", "mul_mat_q"), ("type", "Q4_K")];
        assert_eq!(value("bundle.range", &range), Some("8..112".into()), "{all:#?}");
        assert_eq!(value("bundle.role", &[("bundle", "3")]), Some("MMQ".into()));
        assert_eq!(value("bundle.variants", &[("bundle", "3"), ("family", "mul_mat_q")]), Some(2u64.into()));
        let order = value("bundle.order", &[("family", "mul_mat_q")]);
        assert_eq!(order, Some("Q4_1 > Q4_K > flash attention".into()));
    }
}
