//! The content of a library directory, by file name.

use codeobject::processor_in;
use std::collections::{BTreeMap, BTreeSet};

/// The role of a file in a library directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// The root of one target: `TensileLibrary_lazy_<gfx>.dat`.
    LazyRoot,
    /// The root of all targets: `TensileLibrary.dat`.
    SingleRoot,
    /// A leaf's tree and solutions.
    Leaf,
    /// Kernels of a leaf, or of a single-file catalog.
    Object,
    /// `Kernels.so-000-<gfx>.hsaco`: beta, conversion and reduction helpers.
    Helpers,
    ExtOpTable,
    ExtOpObject,
    /// `TensileLiteLibrary_lazy_Mapping.dat`
    Mapping,
    Transform,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One root per target; leaves are loaded on first use.
    Lazy,
    /// One catalog for all targets.
    Single,
    /// Kernels without a catalog.
    None,
}

/// The names in one library directory.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    names: BTreeSet<String>,
}

impl Listing {
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Listing { names: names.into_iter().collect() }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn is_hipblaslt(&self) -> bool {
        self.names().any(|name| matches!(role(name), Role::ExtOpTable | Role::Mapping))
    }

    /// Whether this is a Tensile directory at all.
    pub fn is_catalog(&self) -> bool {
        self.names().any(|name| !matches!(role(name), Role::Other))
    }

    pub fn layout(&self) -> Layout {
        match () {
            () if self.names().any(|name| role(name) == Role::LazyRoot) => Layout::Lazy,
            () if self.names().any(|name| role(name) == Role::SingleRoot) => Layout::Single,
            () => Layout::None,
        }
    }

    /// The number of files per target: every name that contains it, as with `ls | grep gfx1201 | wc -l`.
    pub fn per_target(&self) -> BTreeMap<String, usize> {
        let mut out = BTreeMap::new();
        for name in self.names() {
            if let Some(target) = processor_in(name) {
                *out.entry(target.to_owned()).or_default() += 1;
            }
        }
        out
    }

    pub fn files_for<'l>(&'l self, target: &'l str) -> impl Iterator<Item = &'l str> {
        self.names().filter(move |name| processor_in(name) == Some(target))
    }

    /// The file `stem` + `extension` of a target's kernels, or the same with a feature suffix (`-xnack+`).
    pub fn variants<'l>(&'l self, stem: &'l str, extension: &'l str) -> impl Iterator<Item = &'l str> {
        self.names().filter(move |name| {
            let middle = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(extension));
            middle.is_some_and(|middle| middle.is_empty() || middle.starts_with('-'))
        })
    }
}

pub fn role(name: &str) -> Role {
    let dat = name.ends_with(".dat");
    match () {
        () if dat && name.starts_with("TensileLibrary_lazy_") => Role::LazyRoot,
        () if name == "TensileLibrary.dat" => Role::SingleRoot,
        () if name == "TensileLiteLibrary_lazy_Mapping.dat" => Role::Mapping,
        () if name.ends_with("ExtOpLibrary.dat") => Role::ExtOpTable,
        () if dat && name.starts_with("TensileLibrary_") => Role::Leaf,
        () if name.starts_with("TensileLibrary") && is_object(name) => Role::Object,
        () if name.starts_with("Kernels.so-") && is_object(name) => Role::Helpers,
        () if name.starts_with("extop_") && is_object(name) => Role::ExtOpObject,
        () if name.contains("Transform") && is_object(name) => Role::Transform,
        () => Role::Other,
    }
}

fn is_object(name: &str) -> bool {
    name.ends_with(".co") || name.ends_with(".hsaco")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_target_and_role() {
        assert_eq!(processor_in("Kernels.so-000-gfx90a-xnack+.hsaco"), Some("gfx90a"));
        assert_eq!(processor_in("TensileLibrary_Type_HH_fallback.dat"), None);
        assert_eq!(role("TensileLibrary_lazy_gfx1201.dat"), Role::LazyRoot);
        assert_eq!(role("TensileLibrary_gfx900.co"), Role::Object);
        assert_eq!(role("TensileLibrary.dat"), Role::SingleRoot);
        assert_eq!(role("hipblasltExtOpLibrary.dat"), Role::ExtOpTable);
        assert_eq!(role("readme"), Role::Other);
    }

    #[test]
    fn variants_with_features_belong_to_the_target() {
        let listing =
            Listing::new(["a_gfx90a-xnack+.hsaco".to_owned(), "a_gfx90a.co".into(), "a_gfx90ab.hsaco".into()]);
        assert_eq!(listing.variants("a_gfx90a", ".hsaco").collect::<Vec<_>>(), ["a_gfx90a-xnack+.hsaco"]);
        assert_eq!(listing.per_target()["gfx90a"], 2);
        let generic = Listing::new(["TensileLibrary_lazy_gfx12-generic.dat".to_owned()]);
        assert_eq!(generic.per_target()["gfx12-generic"], 1);
    }
}
