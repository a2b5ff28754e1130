//! Which kernels of two releases are the same although their names differ: libraries put their version into inline
//! namespaces (`ROCPRIM_400000_NS`), and Tensile adds parameters to names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use tensile::kernel_name;

/// The name without versions in namespaces: `thrust::THRUST_200700_400000_NS::f` is `thrust::f`.
pub fn unversioned(name: &str) -> Cow<'_, str> {
    if !name.contains("_NS::") {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(end) = rest.find("::") {
        let start = rest[..end].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        // The character before a name may be longer than a byte.
        let start = (start..=end).find(|at| rest.is_char_boundary(*at)).unwrap_or(end);
        let versioned = is_versioned(&rest[start..end]);
        out += &rest[..if versioned { start } else { end + 2 }];
        rest = &rest[end + 2..];
    }
    out += rest;
    Cow::Owned(out)
}

/// `ROCPRIM_400000_NS`, `THRUST_200700_400000_NS`
fn is_versioned(word: &str) -> bool {
    let Some((library, version)) = word.strip_suffix("_NS").and_then(|word| word.split_once('_')) else { return false };
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    library.bytes().all(|byte| byte.is_ascii_uppercase()) && !library.is_empty() && version.split('_').all(number)
}

/// Pairs of names of the same kernel. The names are demangled, and no name is on both sides. A name that matches
/// several others is not paired.
pub fn renamed<'n>(a: &[&'n str], b: &[&'n str]) -> Vec<(&'n str, &'n str)> {
    let mut out = by_namespace(a, b);
    out.extend(by_parameters(a, b));
    out
}

fn by_namespace<'n>(a: &[&'n str], b: &[&'n str]) -> Vec<(&'n str, &'n str)> {
    let mut sides: BTreeMap<Cow<'_, str>, [Vec<&str>; 2]> = BTreeMap::new();
    for (side, names) in [a, b].into_iter().enumerate() {
        for name in names {
            sides.entry(unversioned(name)).or_default()[side].push(name);
        }
    }
    sides.into_values().filter_map(|[a, b]| Some((only(&a)?, only(&b)?))).collect()
}

fn only<'n>(names: &[&'n str]) -> Option<&'n str> {
    if let [one] = names { Some(one) } else { None }
}

/// Whether no parameter of two Tensile names has different values.
fn by_parameters<'n>(a: &[&'n str], b: &[&'n str]) -> Vec<(&'n str, &'n str)> {
    let parsed = |names: &[&'n str]| -> Vec<(&'n str, kernel_name::KernelName<'n>)> {
        names.iter().filter_map(|name| Some((*name, kernel_name::parse(name)?))).collect()
    };
    let (a, b) = (parsed(a), parsed(b));
    // Only names of one product and tile are compared with each other.
    let mut near: BTreeMap<(&str, [u64; 3]), Vec<usize>> = BTreeMap::new();
    for (at, (_, name)) in b.iter().enumerate() {
        near.entry((name.problem, name.tile)).or_default().push(at);
    }
    let mut fits: Vec<Vec<usize>> = Vec::new();
    let mut taken = vec![0_usize; b.len()];
    for (_, name) in &a {
        let those = near.get(&(name.problem, name.tile)).map(Vec::as_slice).unwrap_or_default();
        let fit: Vec<usize> = those.iter().copied().filter(|at| name.is_renamed(&b[*at].1)).collect();
        fit.iter().for_each(|at| taken[*at] += 1);
        fits.push(fit);
    }
    let pair = |((name, _), fit): (&(&'n str, _), &Vec<usize>)| match fit.as_slice() {
        [at] if taken[*at] == 1 => Some((*name, b[*at].0)),
        _ => None,
    };
    a.iter().zip(&fits).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_namespaces_are_left_out() {
        let name = "void thrust::THRUST_200700_400000_NS::hip_rocprim::k<rocprim::ROCPRIM_400000_NS::it<long>>(int)";
        assert_eq!(unversioned(name), "void thrust::hip_rocprim::k<rocprim::it<long>>(int)");
        for same in ["mul_mat_q<Q4_K>", "a::MY_NS::b", "a::ROCPRIM_4x_NS::b", "é::ROCPRIM__NS::c", "_NS::", "::"] {
            assert_eq!(unversioned(same), same);
        }
        assert_eq!(unversioned("é::CUB_1_NS::c"), "é::c");
    }

    #[test]
    fn a_renamed_kernel_is_found_unless_two_fit() {
        let a = ["p::P_1_NS::f", "p::P_1_NS::g", "Cijk_A_MT1x2x3_LDSB1_WG4"];
        let b = ["p::f", "p::P_2_NS::g", "p::P_3_NS::g", "Cijk_A_MT1x2x3_LDSB1_NEW0_WG4", "Cijk_A_MT1x2x3_LDSB0_WG4"];
        let found = renamed(&a, &b);
        assert_eq!(found, [("p::P_1_NS::f", "p::f"), ("Cijk_A_MT1x2x3_LDSB1_WG4", "Cijk_A_MT1x2x3_LDSB1_NEW0_WG4")]);
        let two = ["Cijk_A_MT1x2x3_LDSB1_X1", "Cijk_A_MT1x2x3_LDSB1_Y1"];
        assert!(renamed(&a[2..], &two).is_empty());
    }
}
