//! Every kernel in the ledger, by file and target: from the lists that are attached to a file's sweep as raw evidence,
//! and from single observations.

use crate::input::Study;
use crate::words::shown;
use evidence::{Recorded, Rung};
use launch::kernel_list::{self, Listed};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A row of nine numbers: name, bundle, SGPR, VGPR, LDS, scratch, wavefront, stub, and the number of kernels; -1 if
/// unknown. A readable name omits template arguments, so kernels with the same name and numbers share a row.
pub type Row = [i64; 9];

/// The kernels of one file for one target, by bundle and name.
pub type Group = BTreeMap<(i64, i64), Vec<Row>>;

#[derive(Debug, Default)]
pub struct Kernels {
    /// The displayed names; a row refers to its kernel by the index in this list.
    pub names: Vec<String>,
    known: HashMap<String, i64>,
    /// The kernels by the file's label and the target.
    pub groups: BTreeMap<(String, String), Group>,
    /// By the file's label: kernels missing from its list, and lines of the list that could not be read.
    pub missing: BTreeMap<String, u64>,
}

/// The kernels of one name in a file, with any template arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Family {
    pub kernels: u64,
    pub stubs: u64,
    pub bundles: BTreeSet<i64>,
    pub vgpr: Option<(i64, i64)>,
    pub scratch: i64,
}

impl Kernels {
    pub fn read(study: &Study<'_>) -> Kernels {
        let mut kernels = Kernels::default();
        let mut listed: BTreeSet<(String, &str)> = BTreeSet::new();
        for recorded in study.input.observations.iter().filter(|recorded| recorded.rung() == Rung::Shipped) {
            let Some(file) = study.file_label(recorded.subject()) else { continue };
            for raw in recorded.raw_evidence().iter().filter(|raw| raw.kind == kernel_list::KIND) {
                if listed.insert((file.clone(), &raw.sha256))
                    && let Some(bytes) = study.raw(raw)
                {
                    kernels.list(&file, &String::from_utf8_lossy(&bytes));
                }
            }
        }
        // A single observation adds only kernels that no list contains.
        let mut single = Kernels::default();
        for recorded in study.input.observations.iter().filter(|recorded| recorded.rung() == Rung::Shipped) {
            if let Some(file) = study.file_label(recorded.subject()) {
                single.fact(&file, recorded);
            }
        }
        for ((file, target), group) in single.groups {
            for row in group.into_values().flatten() {
                let name = usize::try_from(row[0]).ok().and_then(|at| single.names.get(at)).map_or("", String::as_str);
                let name = kernels.name(name);
                let known = kernels.groups.entry((file.clone(), target.clone())).or_default();
                known
                    .entry((row[1], name))
                    .or_insert_with(|| vec![[name, row[1], row[2], row[3], row[4], row[5], row[6], row[7], 1]]);
            }
        }
        kernels
    }

    fn name(&mut self, name: &str) -> i64 {
        if let Some(at) = self.known.get(name) {
            return *at;
        }
        let at = self.names.len() as i64;
        self.names.push(shown(name));
        self.known.insert(name.to_owned(), at);
        at
    }

    fn list(&mut self, file: &str, text: &str) {
        let Some(list) = kernel_list::read(text) else {
            *self.missing.entry(file.to_owned()).or_default() += 1;
            return;
        };
        let number = |value: Option<u32>| value.map_or(-1, i64::from);
        for Listed { target, bundle, name, sgpr, vgpr, lds, scratch, wavefront, stub } in &list.kernels {
            let (name, bundle) = (self.name(name), number(*bundle));
            let [sgpr, vgpr, lds, scratch, wavefront] =
                [sgpr, vgpr, lds, scratch, wavefront].map(|value| number(*value));
            let row = [name, bundle, sgpr, vgpr, lds, scratch, wavefront, i64::from(*stub)];
            let group = self.groups.entry((file.to_owned(), target.clone())).or_default();
            let rows = group.entry((bundle, name)).or_default();
            match rows.iter_mut().find(|known| known[..8] == row) {
                Some(known) => known[8] += 1,
                None => rows.push([name, bundle, sgpr, vgpr, lds, scratch, wavefront, i64::from(*stub), 1]),
            }
        }
        if list.left_out + list.damaged > 0 {
            *self.missing.entry(file.to_owned()).or_default() += list.left_out + list.damaged;
        }
    }

    fn fact(&mut self, file: &str, recorded: &Recorded) {
        let Some(fact) = recorded.fact() else { return };
        let at = match fact.topic.as_str() {
            "kernel" => None,
            "kernel.sgpr" => Some(2),
            "kernel.vgpr" => Some(3),
            "kernel.lds" => Some(4),
            "kernel.scratch" => Some(5),
            "kernel.wavefront" => Some(6),
            "kernel.stub" => Some(7),
            _ => return,
        };
        let (Some(name), Some(target)) = (fact.about.get("name"), recorded.subject().target.as_deref()) else { return };
        let bundle = fact.about.get("bundle").and_then(|text| text.parse().ok()).unwrap_or(-1);
        let name = self.name(name);
        let group = self.groups.entry((file.to_owned(), target.to_owned())).or_default();
        let rows = group.entry((bundle, name)).or_insert_with(|| vec![[name, bundle, -1, -1, -1, -1, -1, 0, 1]]);
        if let Some(cell) = at.and_then(|at: usize| rows.first_mut()?.get_mut(at)) {
            *cell = match &fact.value {
                evidence::Value::Bool(set) => i64::from(*set),
                value => value.number().map_or(-1, |number| number as i64),
            };
        }
    }

    pub fn count(&self) -> u64 {
        self.rows().map(|(_, _, row)| row[8].unsigned_abs()).sum()
    }

    /// Every row, with its file and target.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, &Row)> {
        let all = self.groups.iter();
        all.flat_map(|((file, target), group)| {
            group.values().flatten().map(move |row| (file.as_str(), target.as_str(), row))
        })
    }

    /// The wavefront sizes of the kernels for a target, with the number of kernels.
    pub fn wavefronts(&self, target: &str) -> BTreeMap<i64, u64> {
        let mut all = BTreeMap::new();
        for (_, _, row) in self.rows().filter(|(_, of, row)| *of == target && row[6] >= 0) {
            *all.entry(row[6]).or_default() += row[8].unsigned_abs();
        }
        all
    }

    pub fn shown(&self, row: &Row) -> &str {
        usize::try_from(row[0]).ok().and_then(|at| self.names.get(at)).map_or("", String::as_str)
    }

    /// The kernel names of a file, the most frequent first.
    pub fn families(&self, file: &str) -> Vec<(String, Family)> {
        // The base names are computed once per name, because there are far fewer names than kernels.
        let bases: Vec<&str> = self.names.iter().map(|name| base(name)).collect();
        let mut all: HashMap<&str, Family> = HashMap::new();
        for ((_, _), group) in self.groups.iter().filter(|((of, _), _)| of == file) {
            for row in group.values().flatten() {
                let base = usize::try_from(row[0]).ok().and_then(|at| bases.get(at)).copied().unwrap_or_default();
                let family = all.entry(base).or_default();
                let count = row[8].unsigned_abs();
                family.kernels += count;
                family.stubs += if row[7] == 1 { count } else { 0 };
                family.bundles.insert(row[1]);
                family.scratch = family.scratch.max(row[5]);
                if row[3] >= 0 {
                    let (low, high) = family.vgpr.unwrap_or((row[3], row[3]));
                    family.vgpr = Some((low.min(row[3]), high.max(row[3])));
                }
            }
        }
        let mut all: Vec<(String, Family)> = all.into_iter().map(|(base, family)| (base.to_owned(), family)).collect();
        all.sort_by(|a, b| b.1.kernels.cmp(&a.1.kernels).then_with(|| a.0.cmp(&b.0)));
        all
    }
}

/// `mul_mat_q` for `mul_mat_q<Q4_K,112,false>`; a catalog's kernel is named by its first words (`Cijk_Alik_Bljk`).
fn base(name: &str) -> &str {
    let end = name.find(['<', '(']).unwrap_or(name.len());
    let plain = name.get(..end).unwrap_or(name);
    if plain.starts_with("Cijk_") {
        let third = plain.match_indices('_').nth(2).map_or(plain.len(), |(at, _)| at);
        return plain.get(..third).unwrap_or(plain);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn a_family_is_what_stands_before_the_arguments() {
        assert_eq!(base("mul_mat_q<Q4_K,112,false>"), "mul_mat_q");
        assert_eq!(base("Cijk_Alik_Bljk_HHS_BH_MT64x64"), "Cijk_Alik_Bljk");
        assert_eq!(base("plain"), "plain");
    }
}
