//! Combines variants of one kernel: `mul_mat_vec_q<Q4_K,1..8>`, `mul_mat_q<Q4_K,8..128>`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::facts::{Facts, Family};

/// All variants of one kernel for one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variants {
    pub kernel: String,
    pub family: Family,
    /// The common type of the weights (or of the keys, or of the data).
    pub data: Option<String>,
    /// The first number in the template: columns, tile or head size.
    pub parameter: Option<String>,
    pub values: BTreeSet<i64>,
    /// Values for which at least one variant has device code.
    pub live_values: BTreeSet<i64>,
    pub count: usize,
    pub live: usize,
    /// The parts that distinguish variants without a number.
    pub forms: BTreeSet<String>,
}

impl Variants {
    pub fn stubs(&self) -> usize {
        self.count.saturating_sub(self.live)
    }
}

impl fmt::Display for Variants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `dequantize_block_q4_K` already contains its type.
        let lower = self.kernel.to_ascii_lowercase();
        let data = self.data.as_ref().filter(|data| !lower.contains(&data.to_ascii_lowercase()));
        let mut inside: Vec<String> = data.cloned().into_iter().collect();
        match (self.values.first(), self.values.last()) {
            (Some(low), Some(high)) if low == high => inside.push(low.to_string()),
            (Some(low), Some(high)) => inside.push(format!("{low}..{high}")),
            _ if data.is_none() => {
                // If there are many forms, only their number is shown, because a long list would not help.
                if self.forms.len() > 4 {
                    return write!(f, "{} x{}", self.kernel, self.count);
                }
                let shown: Vec<&str> = self.forms.iter().map(String::as_str).collect();
                inside.extend((!shown.is_empty()).then(|| shown.join("/")));
            }
            _ => {}
        }
        f.write_str(&self.kernel)?;
        if inside.is_empty() { Ok(()) } else { write!(f, "<{}>", inside.join(",")) }
    }
}

/// Combines kernels. The flag states whether a kernel has device code.
pub fn variants<'f>(kernels: impl IntoIterator<Item = (&'f Facts, bool)>) -> Vec<Variants> {
    let mut found: BTreeMap<(Family, String, Option<String>), Variants> = BTreeMap::new();
    for (facts, live) in kernels {
        let data = ["weights", "K"].iter().find_map(|role| facts.type_of(role)).map(str::to_owned);
        let number = facts.parameters.iter().find_map(|(name, value)| Some((name, value.parse::<i64>().ok()?)));
        let number = number.filter(|_| facts.family.is_ranged());
        let key = (facts.family, facts.kernel.clone(), data.clone());
        let entry = found.entry(key).or_insert_with(|| Variants {
            kernel: facts.kernel.clone(),
            family: facts.family,
            data,
            parameter: number.map(|(name, _)| name.clone()),
            values: BTreeSet::new(),
            live_values: BTreeSet::new(),
            count: 0,
            live: 0,
            forms: BTreeSet::new(),
        });
        entry.count += 1;
        entry.live += usize::from(live);
        match number {
            Some((_, value)) => {
                entry.values.insert(value);
                if live {
                    entry.live_values.insert(value);
                }
            }
            None => {
                let form = facts.readable.split_once('<').map(|(_, inside)| inside.trim_end_matches('>'));
                entry.forms.extend(form.map(str::to_owned));
            }
        }
    }
    found.into_values().collect()
}

impl Family {
    /// Families whose first template number distinguishes the variants.
    fn is_ranged(self) -> bool {
        matches!(
            self,
            Self::Mmvq
                | Self::Mmq
                | Self::MmqFixup
                | Self::Mmvf
                | Self::Mmf
                | Self::FlashAttention
                | Self::FlashAttentionFixup
                | Self::MoeRouting
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn the_ranges_of_the_field_notes() {
        let names: Vec<Facts> = (1..=8)
            .map(|n| read(&format!("void mul_mat_vec_q<(ggml_type)12, {n}, false>(void const*)")))
            .chain((1..=16).map(|n| read(&format!("void mul_mat_q<(ggml_type)12, {}, false>(char const*)", n * 8))))
            .chain((0..=2).map(|n| read(&format!("void quantize_mmq_q8_1<(mmq_q8_1_ds_layout){n}>(float const*)"))))
            .collect();
        let live = |facts: &Facts| facts.tile.is_none_or(|tile| tile.columns % 16 == 0);
        let found = variants(names.iter().map(|facts| (facts, live(facts))));
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["mul_mat_vec_q<Q4_K,1..8>", "mul_mat_q<Q4_K,8..128>", "quantize_mmq_q8_1<layout0/layout1/layout2>"]
        );
        assert_eq!((found[1].count, found[1].live, found[1].live_values.first()), (16, 8, Some(&16)));
    }
}
