//! Whether a library serves a GPU, its kernels for that GPU, and the missing parts.

use crate::{
    catalog::Catalog,
    layout::{Layout, Listing},
    solution::Solution,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

/// Why a catalog file is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    Unreadable(String),
    /// The file differs from the one in its package.
    Altered,
}

/// Access to the contents of a library directory; the owner of the files implements it.
pub trait Files {
    fn listing(&self) -> &Listing;
    /// The bytes of a `.dat`.
    fn read(&self, name: &str) -> Result<Vec<u8>, String>;
    /// Like [`Self::read`], but compares the bytes with the checksum that the file's package lists, if it lists one.
    fn read_checked(&self, name: &str) -> Result<Vec<u8>, ReadError> {
        self.read(name).map_err(ReadError::Unreadable)
    }
    /// The names of the kernels in a code object (ELF, bundle or CCOB), for this target.
    fn kernels(&self, name: &str, target: &str) -> Result<Vec<String>, String>;
}

/// A problem of a catalog. A missing file is known to be absent; the content of a damaged one is unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// The file is referenced but does not exist.
    Missing(String),
    /// The file exists but cannot be read: its name and the reason.
    Unreadable(String),
}

impl Trouble {
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Trouble::Unreadable(_))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Trouble::Missing(text) | Trouble::Unreadable(text)) = self;
        f.write_str(text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The catalog has no entry for this target.
    No,
    /// The relevant files cannot be read or are not understood, and nothing else for this target was found.
    NotKnown,
    /// Some leaves, kernels or helpers are missing or cannot be read.
    Partly,
    /// All files that the catalog references for the target exist, but contain only kernels for any GPU.
    FallbackOnly,
    Yes,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::No => "no",
            Verdict::NotKnown => "not-known",
            Verdict::Partly => "partly",
            Verdict::FallbackOnly => "fallback-only",
            Verdict::Yes => "yes",
        }
    }
}

/// A leaf as the target would load it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leaf {
    pub name: String,
    pub fallback: bool,
    pub solutions: usize,
    /// The number of distinct kernels that those solutions refer to.
    pub kernels: usize,
    pub objects: Vec<String>,
    /// Kernels that none of the leaf's code objects contains.
    pub absent: Vec<String>,
    /// Kernels that none of the readable objects contain; another object was unreadable.
    pub undetermined: Vec<String>,
    /// Why the leaf cannot be used as intended: a missing or unreadable file.
    pub problems: Vec<Trouble>,
}

/// Leaves of one data type, together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Family {
    pub leaves: usize,
    pub fallback_leaves: usize,
    pub solutions: usize,
    pub kernels: usize,
    pub source_kernels: usize,
    pub macro_tiles: BTreeSet<(i64, i64)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub target: String,
    pub layout: Layout,
    pub files: usize,
    pub root: Option<String>,
    pub helpers: Vec<String>,
    pub leaves: Vec<Leaf>,
    pub families: BTreeMap<String, Family>,
    /// Problems beyond single leaves.
    pub problems: Vec<Trouble>,
    /// Kinds of tree nodes that were not understood: their children are not counted.
    pub unknown_nodes: BTreeSet<String>,
}

impl Service {
    /// Whether solutions for the target were read.
    pub fn has_solutions(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.solutions > 0)
    }

    /// All problems of the catalog and its leaves.
    pub fn troubles(&self) -> impl Iterator<Item = &Trouble> {
        self.problems.iter().chain(self.leaves.iter().flat_map(|leaf| &leaf.problems))
    }

    /// Whether everything that the target would load was read and understood.
    pub fn is_read(&self) -> bool {
        self.unknown_nodes.is_empty() && !self.troubles().any(Trouble::is_unreadable)
    }

    pub fn verdict(&self) -> Verdict {
        let own = self.leaves.iter().any(|leaf| !leaf.fallback && leaf.solutions > 0);
        let lacking = self.troubles().next().is_some() || self.leaves.iter().any(|leaf| !leaf.absent.is_empty());
        match () {
            () if !self.has_solutions() && self.is_read() => Verdict::No,
            () if !self.has_solutions() => Verdict::NotKnown,
            () if lacking || !self.is_read() => Verdict::Partly,
            () if !own => Verdict::FallbackOnly,
            () => Verdict::Yes,
        }
    }
}

/// Walks everything that a GPU of this target would load: the root, its leaves, their code objects.
pub fn serve(files: &dyn Files, target: &str, progress: &mut dyn FnMut(&str)) -> Service {
    let listing = files.listing();
    let mut out = Service {
        target: target.to_owned(),
        layout: listing.layout(),
        files: listing.files_for(target).count(),
        root: None,
        helpers: listing.files_for(target).filter(|name| name.starts_with("Kernels.so-")).map(str::to_owned).collect(),
        leaves: Vec::new(),
        families: BTreeMap::new(),
        problems: Vec::new(),
        unknown_nodes: BTreeSet::new(),
    };
    let single = format!("TensileLibrary_{target}");
    let root = match out.layout {
        Layout::Lazy => format!("TensileLibrary_lazy_{target}.dat"),
        Layout::Single => "TensileLibrary.dat".to_owned(),
        Layout::None => return out,
    };
    if !listing.has(&root) {
        return out;
    }
    if out.layout == Layout::Single && out.files == 0 {
        return out;
    }
    out.root = Some(root.clone());
    if out.helpers.is_empty() {
        out.problems.push(Trouble::Missing(format!(
            "Kernels.so-*-{target}.hsaco is missing: beta scaling and split-K reductions have no kernel"
        )));
    }
    progress(&root);
    let catalog = match parse(files, &root) {
        Ok(catalog) => catalog,
        Err(problem) => {
            out.problems.push(problem);
            return out;
        }
    };
    out.note_unknown(&catalog);
    let mut walk = Walk { files, target, objects: HashMap::new() };
    if out.layout == Layout::Single {
        // One list contains the solutions of every target; those that the tree reaches for this GPU are its own.
        let mut reached = BTreeSet::new();
        if let Some(library) = &catalog.library {
            library.indices(Some(target), &mut reached);
        }
        let own = |solution: &&Solution| reached.contains(&solution.index);
        let solutions: Vec<&Solution> = catalog.solutions_for(target).filter(own).collect();
        let mut objects: Vec<String> =
            [".co", ".hsaco"].iter().flat_map(|end| listing.variants(&single, end)).map(str::to_owned).collect();
        objects.extend(out.helpers.iter().cloned());
        walk.leaf(&mut out, &single, &solutions, false, objects);
    }
    let mut queue: Vec<String> = catalog.leaves(Some(target)).into_iter().rev().map(str::to_owned).collect();
    // Leaves that reference each other in a cycle are walked only once.
    let mut seen: HashSet<String> = HashSet::new();
    while let Some(name) = queue.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        progress(&name);
        let fallback = name.contains("fallback");
        match parse(files, &format!("{name}.dat")) {
            Ok(leaf) => {
                out.note_unknown(&leaf);
                queue.extend(leaf.leaves(Some(target)).into_iter().map(str::to_owned));
                let solutions: Vec<&Solution> = leaf.solutions_for(target).collect();
                let objects = walk.objects_of(&name, fallback);
                walk.leaf(&mut out, &name, &solutions, fallback, objects);
            }
            Err(problem) => {
                out.leaves.push(Leaf { name, fallback, problems: vec![problem], ..Leaf::default() });
            }
        }
    }
    out
}

impl Service {
    fn note_unknown(&mut self, catalog: &Catalog) {
        if let Some(library) = &catalog.library {
            self.unknown_nodes.extend(library.unknown().into_iter().map(str::to_owned));
        }
    }
}

fn parse(files: &dyn Files, name: &str) -> Result<Catalog, Trouble> {
    if !files.listing().has(name) {
        return Err(Trouble::Missing(format!("{name} is missing")));
    }
    let data = files.read(name).map_err(|error| Trouble::Unreadable(format!("{name}: {error}")))?;
    Catalog::parse(&data).map_err(|error| Trouble::Unreadable(format!("{name}: {error}")))
}

struct Walk<'a> {
    files: &'a dyn Files,
    target: &'a str,
    /// Kernels of objects that several leaves share.
    objects: HashMap<String, Result<HashSet<String>, String>>,
}

impl Walk<'_> {
    fn leaf(&mut self, out: &mut Service, name: &str, solutions: &[&Solution], fallback: bool, objects: Vec<String>) {
        let mut leaf = Leaf { name: name.to_owned(), fallback, solutions: solutions.len(), ..Leaf::default() };
        let wanted: BTreeSet<&str> = solutions.iter().map(|solution| solution.kernel.as_str()).collect();
        leaf.kernels = wanted.len();
        leaf.objects = objects;
        if leaf.objects.is_empty() && !wanted.is_empty() {
            let why = format!("{name} has {} kernels and no code object for {}", wanted.len(), self.target);
            leaf.problems.push(Trouble::Missing(why));
        } else {
            let mut absent: BTreeSet<&str> = wanted.clone();
            for object in leaf.objects.clone() {
                match self.kernels(&object) {
                    Ok(kernels) => absent.retain(|kernel| !kernels.contains(*kernel)),
                    Err(problem) => leaf.problems.push(Trouble::Unreadable(format!("{object}: {problem}"))),
                }
            }
            // A kernel that is in none of the objects may be in the unreadable one.
            let unread = leaf.problems.iter().any(Trouble::is_unreadable);
            let to = if unread { &mut leaf.undetermined } else { &mut leaf.absent };
            *to = absent.into_iter().map(str::to_owned).collect();
        }
        for family in families(solutions) {
            let entry = out.families.entry(family.0).or_default();
            entry.leaves += 1;
            entry.fallback_leaves += usize::from(fallback);
            entry.solutions += family.1.solutions;
            entry.kernels += family.1.kernels;
            entry.source_kernels += family.1.source_kernels;
            entry.macro_tiles.extend(family.1.macro_tiles);
        }
        out.leaves.push(leaf);
    }

    /// `<leaf>.co`, `<leaf>.hsaco`; for a leaf for any GPU `<leaf>_<target>.hsaco`.
    fn objects_of(&self, name: &str, fallback: bool) -> Vec<String> {
        let listing = self.files.listing();
        let stem = if fallback { format!("{name}_{}", self.target) } else { name.to_owned() };
        [".co", ".hsaco"].iter().flat_map(|end| listing.variants(&stem, end)).map(str::to_owned).collect()
    }

    fn kernels(&mut self, object: &str) -> Result<&HashSet<String>, String> {
        let (files, target) = (self.files, self.target);
        let entry = self
            .objects
            .entry(object.to_owned())
            .or_insert_with(|| files.kernels(object, target).map(|names| names.into_iter().collect()));
        entry.as_ref().map_err(Clone::clone)
    }
}

/// Groups solutions by the types of A and D: `Half -> Float`.
fn families(solutions: &[&Solution]) -> BTreeMap<String, Family> {
    let mut out: BTreeMap<String, Family> = BTreeMap::new();
    let mut seen = HashSet::new();
    for solution in solutions {
        let [a, b, _, d] = &solution.types;
        let name = match (a.is_empty(), a == b, a == d) {
            (true, ..) => "?".to_owned(),
            (_, true, true) => a.clone(),
            (_, true, false) => format!("{a} -> {d}"),
            (_, false, _) => format!("{a} x {b} -> {d}"),
        };
        let family = out.entry(name).or_default();
        family.solutions += 1;
        if seen.insert(solution.kernel.as_str()) {
            family.kernels += 1;
            family.source_kernels += usize::from(solution.source_kernel);
        }
        if let [m, n, ..] = solution.macro_tile.as_slice() {
            family.macro_tiles.insert((*m, *n));
        }
    }
    out
}
