//! Kernel names of Tensile: the product that a kernel computes, its tile, and its parameters.
//!
//! `Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI16x16x1_SN_LDSB1_...`: the part before `MT` has the indices, types and
//! features. The tile and the parameters follow. A parameter is letters with a value, in which `n` means minus.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelName<'n> {
    /// Indices, types and features: `Cijk_Alik_Bljk_HHS_BH`.
    pub problem: &'n str,
    /// M, N and K of a macro tile.
    pub tile: [u64; 3],
    /// The shape of the matrix instruction: `16x16x1` of `MI16x16x1`. None if the kernel uses no matrix instruction.
    pub matrix_instruction: Option<&'n str>,
    /// The other parameters by their letters. A value of several numbers keeps its underscores.
    pub parameters: BTreeMap<&'n str, &'n str>,
}

/// Parses a kernel name; None if it is not one of Tensile's.
pub fn parse(name: &str) -> Option<KernelName<'_>> {
    if !name.starts_with("Cijk_") {
        return None;
    }
    let at = name.find("_MT")?;
    let (problem, rest) = (&name[..at], &name[at + 1..]);
    let tile = tile_of(name)?;
    let words = rest.split('_').skip(1);
    let mut out = KernelName { problem, tile, matrix_instruction: None, parameters: BTreeMap::new() };
    let mut last: Option<&str> = None;
    for word in words {
        let digits = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
        let letters = match word[..digits].strip_suffix('n') {
            Some(stem) if digits < word.len() && !stem.is_empty() => stem,
            _ => &word[..digits],
        };
        match (letters, last) {
            // A further number of the previous parameter: `MIWT4_4`.
            ("", Some(key)) => {
                let start = out.parameters.get(key).map_or(word, |value| joined(name, value, word));
                out.parameters.insert(key, start);
            }
            ("", None) => {}
            ("MI", _) if word.contains('x') => out.matrix_instruction = Some(&word[2..]),
            (key, _) => {
                out.parameters.insert(key, &word[key.len()..]);
                last = Some(key);
            }
        }
    }
    Some(out)
}

/// The macro tile that a name states.
pub fn tile_of(name: &str) -> Option<[u64; 3]> {
    let at = name.find("_MT")?;
    tile(name[at + 3..].split('_').next()?)
}

/// The text from the start of `first` to the end of `last`, both parts of `name`.
fn joined<'n>(name: &'n str, first: &'n str, last: &'n str) -> &'n str {
    let start = first.as_ptr().addr().wrapping_sub(name.as_ptr().addr());
    let end = (last.as_ptr().addr() + last.len()).wrapping_sub(name.as_ptr().addr());
    name.get(start..end).unwrap_or(last)
}

fn tile(text: &str) -> Option<[u64; 3]> {
    let mut sizes = text.split('x').map(str::parse::<u64>);
    Some([sizes.next()?.ok()?, sizes.next()?.ok()?, sizes.next()?.ok()?])
}

impl KernelName<'_> {
    /// Whether both names are for the same kernel: everything that both state is equal. Releases add parameters.
    pub fn is_renamed(&self, other: &KernelName<'_>) -> bool {
        self.tile == other.tile
            && self.matrix_instruction == other.matrix_instruction
            && self.problem == other.problem
            && self.changed(other).is_empty()
    }

    /// Parameters with different values in the two names: the letters and both values.
    pub fn changed<'a>(&'a self, other: &'a KernelName<'_>) -> Vec<(&'a str, &'a str, &'a str)> {
        let differs = |(key, value): (&&'a str, &&'a str)| {
            let theirs = other.parameters.get(*key)?;
            (theirs != value).then_some((*key, *value, *theirs))
        };
        self.parameters.iter().filter_map(differs).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "Cijk_Alik_Bljk_HHS_BH_Bias_MT128x64x32_MI16x16x1_SN_LDSB1_MIWT4_2_VSn1_WG32_4_1";

    #[test]
    fn a_name_is_taken_apart() {
        let name = parse(NAME).unwrap();
        assert_eq!((name.problem, name.tile), ("Cijk_Alik_Bljk_HHS_BH_Bias", [128, 64, 32]));
        assert_eq!(name.matrix_instruction, Some("16x16x1"));
        assert_eq!(name.parameters["MIWT"], "4_2");
        assert_eq!(name.parameters["WG"], "32_4_1");
        assert_eq!(name.parameters["VS"], "n1");
        assert_eq!(name.parameters["SN"], "");
        for odd in ["", "Cijk_", "Cijk_MT1", "Cijk__MT1x2", "mul_mat_q", "Cijk_A_MT1x2x3_é_1"] {
            let _ = parse(odd);
        }
        assert_eq!(parse("gemv_kernel"), None);
    }

    #[test]
    fn a_release_that_adds_parameters_renames_a_kernel() {
        let newer = NAME.replace("_MIWT", "_LDSTI0_MIWT");
        assert!(parse(NAME).unwrap().is_renamed(&parse(&newer).unwrap()));
        let other = NAME.replace("LDSB1", "LDSB0");
        assert!(!parse(NAME).unwrap().is_renamed(&parse(&other).unwrap()));
        assert_eq!(parse(NAME).unwrap().changed(&parse(&other).unwrap()), [("LDSB", "1", "0")]);
    }
}
