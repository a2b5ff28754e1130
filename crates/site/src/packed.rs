//! Packs kernels for the page's script, so that a page with hundreds of thousands of rows still opens quickly.
//!
//! Neighbouring names of a library differ in a few letters, and most kernels share their numbers with many others. So a
//! name is stored as its difference from the previous one, and a row as three small numbers: the distances of its name
//! and bundle from those of the previous row, and the index of its set of numbers.

use crate::kernels::{Group, Kernels};
use crate::words::shown;
use serde_json::{Value, json};
use std::collections::HashMap;

/// SGPR, VGPR, LDS, scratch, wavefront, stub, and how many kernels.
type Numbers = [i64; 7];

/// `names`: letters shared with the start of the previous name, the name's own part, letters shared with its end, and
/// so on. `numbers`: seven for each set. `rows` of a group: name and bundle as differences from the previous row, and
/// the set.
pub fn kernels(kernels: &Kernels) -> Value {
    let sets = by_frequency(kernels);
    let at: HashMap<&Numbers, usize> = sets.iter().enumerate().map(|(at, numbers)| (numbers, at)).collect();
    let groups: Vec<Value> = kernels
        .groups
        .iter()
        .map(|((file, target), group)| json!({"file": shown(file), "target": shown(target), "rows": rows(group, &at)}))
        .collect();
    json!({"names": names(&kernels.names), "numbers": sets.concat(), "groups": groups})
}

fn numbers(row: &crate::kernels::Row) -> Numbers {
    [row[2], row[3], row[4], row[5], row[6], row[7], row[8]]
}

/// The most frequent first, because its index is the shortest.
fn by_frequency(kernels: &Kernels) -> Vec<Numbers> {
    let mut counted: HashMap<Numbers, usize> = HashMap::new();
    for (_, _, row) in kernels.rows() {
        *counted.entry(numbers(row)).or_default() += 1;
    }
    let mut sets: Vec<(Numbers, usize)> = counted.into_iter().collect();
    sets.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sets.into_iter().map(|(numbers, _)| numbers).collect()
}

fn rows(group: &Group, sets: &HashMap<&Numbers, usize>) -> Vec<i64> {
    let (mut name, mut bundle) = (0, 0);
    let mut all = Vec::new();
    for row in group.values().flatten() {
        let set = sets.get(&numbers(row)).map_or(0, |at| *at as i64);
        all.extend([row[0] - name, row[1] - bundle, set]);
        (name, bundle) = (row[0], row[1]);
    }
    all
}

fn names(names: &[String]) -> Vec<Value> {
    let mut all = Vec::with_capacity(names.len() * 3);
    let mut before = "";
    for name in names {
        // Only ASCII letters are one unit both here and in the script, so only those are counted.
        let same = |(a, b): &(u8, u8)| a == b && a.is_ascii();
        let start = before.bytes().zip(name.bytes()).take_while(same).count();
        let (rest, own) = (before.len() - start, name.len() - start);
        let end = before.bytes().rev().zip(name.bytes().rev()).take(rest.min(own)).take_while(same).count();
        all.extend([json!(start), json!(name.get(start..name.len() - end).unwrap_or_default()), json!(end)]);
        before = name;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::names;

    /// Unpacks like the script, in UTF-16 units.
    fn unpacked(packed: &[serde_json::Value]) -> Vec<String> {
        let mut before: Vec<u16> = Vec::new();
        let mut all = Vec::new();
        for part in packed.chunks(3) {
            let (start, end) = (part[0].as_u64().unwrap() as usize, part[2].as_u64().unwrap() as usize);
            let own: Vec<u16> = part[1].as_str().unwrap().encode_utf16().collect();
            before = [&before[..start], &own, &before[before.len() - end..]].concat();
            all.push(String::from_utf16(&before).unwrap());
        }
        all
    }

    #[test]
    fn names_are_the_same_when_they_are_unpacked() {
        let all = [
            "Cijk_Ailk_Bljk_HHS_BH_MT64x64x16_SE_1LDSB0",
            "Cijk_Ailk_Bljk_HHS_BH_MT128x64x16_SE_1LDSB0",
            "aaa",
            "aa",
            "aaaa",
            "",
            "核心<é>",
            "核心<è>",
            "𝒌1",
            "𝒌2𝒌",
            "𝒍2𝒌",
            "</script>",
        ];
        let all = all.map(str::to_owned);
        let packed = names(&all);
        assert_eq!(unpacked(&packed), all);
        let size = |of: usize| serde_json::to_string(&packed[of * 3..of * 3 + 3]).unwrap().len();
        assert!(size(1) < 16, "{packed:?}");
    }
}
