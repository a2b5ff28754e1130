//! From a call to a solution, with a trace of the choice.

use super::{
    call::{Batches, Call, Compute, Library},
    candidate::Candidate,
    choice::{Choice, Chosen, NotComputed, Trace, Uncovered},
    data_type::DataType,
    gemv,
    leaf::CatalogFile,
    problem::{Hardware, Problem},
    release::Release,
    table::Key,
    test::{Context, Test, Truth},
    tree::Tree,
};
use crate::coverage::{Files, ReadError};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

/// The catalog of one library for one GPU. Files are read when a query first needs them.
pub struct Selector<'f> {
    files: &'f dyn Files,
    library: Library,
    release: Result<Release, NotComputed>,
    hardware: Hardware,
    root: Option<Result<Rc<CatalogFile>, NotComputed>>,
    leaves: RefCell<HashMap<String, Result<Rc<CatalogFile>, NotComputed>>>,
    questions: Cell<u64>,
}

impl std::fmt::Debug for Selector<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Selector({}, {:?}, {:?})", self.library.name(), self.release, self.hardware)
    }
}

/// A query in progress.
struct Walk<'s> {
    /// Distinguishes this query, and this form of it, from all others.
    number: u64,
    selector: &'s Selector<'s>,
    problem: Problem,
    /// Solutions that are treated as rejected, to find the choice without them.
    without: &'s [i64],
    trace: Option<RefCell<Trace>>,
}

/// A row of a table in a file.
struct Found {
    file: Rc<CatalogFile>,
    leaf: String,
    index: i64,
    row: Option<(&'static str, Key)>,
}

fn root_name(hardware: &Hardware) -> String {
    format!("TensileLibrary_lazy_{}.dat", hardware.processor)
}

impl<'f> Selector<'f> {
    /// `version` is the library's version; at least major and minor are required.
    pub fn new(files: &'f dyn Files, library: Library, version: &str, hardware: Hardware) -> Selector<'f> {
        let unknown = || NotComputed::Version(format!("{} {version}", library.name()));
        let release = Release::of(library, version).ok_or_else(unknown);
        let name = root_name(&hardware);
        let mut out = Selector {
            files,
            library,
            release,
            hardware,
            root: None,
            leaves: RefCell::default(),
            questions: Cell::new(0),
        };
        if files.listing().has(&name) {
            out.root = Some(out.load(&name));
        }
        out
    }

    /// A rocBLAS that may pass products on to hipBLASLt: which ones is decided outside of the catalog.
    pub fn handing_over(self) -> Selector<'f> {
        let release = self.release.and(Err(NotComputed::HandsOver));
        Selector { release, ..self }
    }

    pub fn hardware(&self) -> &Hardware {
        &self.hardware
    }

    /// Whether the catalog has a root for this GPU.
    pub fn serves(&self) -> bool {
        self.root.is_some()
    }

    pub fn choose(&self, call: &Call) -> Choice {
        self.run(call, &[], false).0
    }

    pub fn explain(&self, call: &Call) -> (Choice, Trace) {
        self.run(call, &[], true)
    }

    /// The choice if these solutions did not exist.
    pub fn choose_without(&self, call: &Call, without: &[i64]) -> Choice {
        self.run(call, without, false).0
    }

    fn run(&self, call: &Call, without: &[i64], traced: bool) -> (Choice, Trace) {
        let release = match &self.release {
            Ok(release) => release,
            Err(why) => return (Choice::NotComputed(why.clone()), Trace::default()),
        };
        if let Some(kind) = self.uncovered(call) {
            return (Choice::NotComputed(NotComputed::Call(kind)), Trace::default());
        }
        let problem = match self.library {
            Library::HipBlasLt => {
                if call.requested == 0 || !super::release::hipblaslt_takes(call) {
                    return (Choice::None, Trace::default());
                }
                Problem::for_hipblaslt(call)
            }
            Library::RocBlas => {
                if !super::release::rocblas_takes(call) {
                    return (Choice::None, Trace::default());
                }
                if let Some(choice) = gemv::instead(call, release, &self.hardware) {
                    return (choice, Trace::default());
                }
                Problem::for_rocblas(call, release.deterministic, release.workspace(&self.hardware))
            }
        };
        let trace = traced.then(RefCell::default);
        let mut walk = Walk { number: self.next_question(), selector: self, problem, without, trace };
        let choice = walk.choose(call).unwrap_or_else(Choice::NotComputed);
        (choice, walk.trace.map(RefCell::into_inner).unwrap_or_default())
    }

    /// Calls of a kind that was never compared with the library.
    fn uncovered(&self, call: &Call) -> Option<Uncovered> {
        if call.m == 0 || call.n == 0 || call.k == 0 || call.batch == 0 {
            return Some(Uncovered::Empty);
        }
        // rocBLAS' sizes are 32-bit integers. hipBLASLt's are larger than any memory; its tables are searched with signed ones.
        let most = if self.library == Library::RocBlas { i32::MAX as u64 } else { 1 << 40 };
        if [call.m, call.n, call.k, call.batch].into_iter().chain(call.ld).any(|size| size > most) {
            return Some(Uncovered::TooLarge);
        }
        match (call.batches, self.library) {
            (Batches::Grouped, _) => Some(Uncovered::Grouped),
            (Batches::Pointers, Library::HipBlasLt) => Some(Uncovered::Pointers),
            _ => None,
        }
    }

    fn next_question(&self) -> u64 {
        self.questions.set(self.questions.get() + 1);
        self.questions.get()
    }

    fn load(&self, name: &str) -> Result<Rc<CatalogFile>, NotComputed> {
        if !self.files.listing().has(name) {
            return Err(NotComputed::Missing(name.to_owned()));
        }
        let damaged = |why: String| NotComputed::Damaged(name.to_owned(), why);
        let data = self.files.read_checked(name).map_err(|error| match error {
            ReadError::Unreadable(why) => damaged(why),
            ReadError::Altered => NotComputed::Altered(name.to_owned()),
        })?;
        CatalogFile::parse(data).map(Rc::new).map_err(|error| damaged(error.to_string()))
    }

    fn leaf(&self, name: &str) -> Result<Rc<CatalogFile>, NotComputed> {
        if let Some(found) = self.leaves.borrow().get(name) {
            return found.clone();
        }
        let loaded = self.load(&format!("{name}.dat"));
        self.leaves.borrow_mut().insert(name.to_owned(), loaded.clone());
        loaded
    }

    /// A solution of a leaf that an answer named.
    pub fn solution<R>(&self, chosen: &Chosen, with: impl FnOnce(&Candidate) -> R) -> Option<R> {
        let file = match (&self.root, chosen.leaf.as_str()) {
            (Some(Ok(root)), "") => root.clone(),
            _ => self.leaf(&chosen.leaf).ok()?,
        };
        file.solution(chosen.index).map(with)
    }
}

impl Walk<'_> {
    fn choose(&mut self, call: &Call) -> Result<Choice, NotComputed> {
        let root = match &self.selector.root {
            // A directory without the root may be incomplete, so nothing can be concluded from it.
            None => return Err(NotComputed::Missing(root_name(&self.selector.hardware))),
            Some(root) => root.clone()?,
        };
        let count = if self.problem.library == Library::HipBlasLt { call.requested as usize } else { 1 };
        let mut found = self.top(&root, "", &root.tree, count, 0)?;
        if found.is_empty() && call.compute == Compute::Xf32 {
            // Without an xf32 kernel, the library searches again for f32.
            self.problem.xdl_math = DataType::Float;
            self.number = self.selector.next_question();
            found = self.top(&root, "", &root.tree, count, 0)?;
            self.problem.xdl_math = DataType::XFloat32;
            self.number = self.selector.next_question();
        }
        if let Some(first) = found.first() {
            return Ok(Choice::Determined(self.chosen(first)?));
        }
        if self.problem.library == Library::RocBlas {
            return Ok(Choice::None);
        }
        self.any_of_the_type(&root)
    }

    fn chosen(&self, found: &Found) -> Result<Chosen, NotComputed> {
        let solution = found.file.solution(found.index).ok_or(NotComputed::Solution(found.index))?;
        Ok(Chosen {
            index: found.index,
            kernel: solution.kernel.clone(),
            name: solution.name.clone(),
            leaf: found.leaf.clone(),
            row: found.row,
            macro_tile: solution.sizes.macro_tile,
            depth_u: solution.sizes.depth_u,
        })
    }

    fn context<'c>(&'c self, solution: Option<&'c Candidate>) -> Context<'c> {
        Context {
            problem: &self.problem,
            hardware: &self.selector.hardware,
            solution: solution.map(|solution| &solution.sizes),
        }
    }

    /// Whether the test of a tree's row holds.
    fn admits(&self, test: &Test) -> Result<bool, NotComputed> {
        self.settled(test, self.context(None))
    }

    fn settled(&self, test: &Test, context: Context<'_>) -> Result<bool, NotComputed> {
        match test.holds(context) {
            Truth::Yes => Ok(true),
            Truth::No => Ok(false),
            Truth::Unknown => {
                let culprit = test.culprit(context, Truth::Unknown).unwrap_or(test);
                Err(NotComputed::Predicate(culprit.describe()))
            }
        }
    }

    fn accepts(&self, file: &CatalogFile, index: i64) -> Result<bool, NotComputed> {
        let (solution, answered) = file.remembered(index).ok_or(NotComputed::Solution(index))?;
        let (question, answer) = answered.get();
        if question == self.number {
            return Ok(answer);
        }
        if self.without.contains(&index) {
            return Ok(false);
        }
        let context = self.context(Some(solution));
        let accepted = self.settled(&solution.test, context)?;
        if let (false, Some(trace)) = (accepted, &self.trace) {
            let culprit = solution.test.culprit(context, Truth::No).unwrap_or(&solution.test);
            let mut trace = trace.borrow_mut();
            if !trace.rejected.iter().any(|known| known.0 == index) {
                trace.rejected.push((index, culprit.describe()));
            }
        }
        answered.set((self.number, accepted));
        Ok(accepted)
    }

    /// findTopSolutions: up to `count` solutions, best first.
    fn top(
        &self,
        file: &Rc<CatalogFile>,
        leaf: &str,
        tree: &Tree,
        count: usize,
        depth: usize,
    ) -> Result<Vec<Found>, NotComputed> {
        // A leaf names itself, directly or through another leaf.
        if depth > crate::limits::DEPTH as usize {
            return Err(NotComputed::Damaged(leaf.to_owned(), "the tree has no end".to_owned()));
        }
        let found = |index: i64, row| Found { file: file.clone(), leaf: leaf.to_owned(), index, row };
        match tree {
            Tree::Rows(rows) => {
                let mut out = Vec::new();
                for row in rows {
                    if self.admits(&row.test)? {
                        out.extend(self.top(file, leaf, &row.tree, count - out.len(), depth + 1)?);
                        if out.len() >= count {
                            break;
                        }
                    }
                }
                Ok(out)
            }
            Tree::ByOperation(map) => match map.get(self.problem.operation()) {
                Some(tree) => self.top(file, leaf, tree, count, depth + 1),
                None => Ok(Vec::new()),
            },
            Tree::Table(table) => {
                let mut accepts = |index: i64| self.accepts(file, index);
                let rows = table.search(table.key(&self.problem), count, &mut accepts)?;
                let name = table.distance.name();
                let entry = |row: usize| &table.entries[row];
                Ok(rows.into_iter().map(|row| found(entry(row).index, Some((name, entry(row).key)))).collect())
            }
            Tree::Leaf(name) => {
                if let Some(trace) = &self.trace {
                    trace.borrow_mut().leaves.push(name.clone());
                }
                let inner = self.selector.leaf(name)?;
                self.top(&inner, name, &inner.tree, count, depth + 1)
            }
            Tree::Single(index) => Ok(if self.accepts(file, *index)? { vec![found(*index, None)] } else { Vec::new() }),
            Tree::Unknown(kind) => Err(NotComputed::Node(kind.clone())),
        }
    }

    /// hipBLASLt adds solutions from all those of the product's type, in a set ordered by address.
    fn any_of_the_type(&self, root: &Rc<CatalogFile>) -> Result<Choice, NotComputed> {
        let mut found = BTreeMap::new();
        self.collect(root, "", &root.tree, &mut found, 0)?;
        let mut chosen = found.values().map(|found| self.chosen(found)).collect::<Result<Vec<_>, _>>()?;
        Ok(match chosen.len() {
            0 => Choice::None,
            1 => Choice::Determined(chosen.remove(0)),
            _ => Choice::OneOf(chosen),
        })
    }

    fn collect(
        &self,
        file: &Rc<CatalogFile>,
        leaf: &str,
        tree: &Tree,
        out: &mut BTreeMap<i64, Found>,
        depth: usize,
    ) -> Result<(), NotComputed> {
        if depth > crate::limits::DEPTH as usize {
            return Err(NotComputed::Damaged(leaf.to_owned(), "the tree has no end".to_owned()));
        }
        let mut one = |index: i64| -> Result<(), NotComputed> {
            if !out.contains_key(&index) && self.supports(file, index)? {
                out.insert(index, Found { file: file.clone(), leaf: leaf.to_owned(), index, row: None });
            }
            Ok(())
        };
        match tree {
            Tree::Rows(rows) => {
                for row in rows {
                    let skipped = (row.hardware && !self.admits(&row.test)?) || self.is_of_other_types(&row.test);
                    if !skipped {
                        self.collect(file, leaf, &row.tree, out, depth + 1)?;
                    }
                }
                Ok(())
            }
            Tree::ByOperation(map) => match map.get(self.problem.operation()) {
                Some(tree) => self.collect(file, leaf, tree, out, depth + 1),
                None => Ok(()),
            },
            Tree::Table(table) => {
                let mut seen = std::collections::HashSet::new();
                table.entries.iter().filter(|entry| seen.insert(entry.index)).try_for_each(|entry| one(entry.index))
            }
            Tree::Leaf(name) => {
                let inner = self.selector.leaf(name)?;
                self.collect(&inner, name, &inner.tree, out, depth + 1)
            }
            Tree::Single(index) => one(*index),
            Tree::Unknown(kind) => Err(NotComputed::Node(kind.clone())),
        }
    }

    /// isGemmTypeSame and isSolutionSupported.
    fn supports(&self, file: &CatalogFile, index: i64) -> Result<bool, NotComputed> {
        let solution = file.solution(index).ok_or(NotComputed::Solution(index))?;
        let (kind, problem) = (&solution.kind, &self.problem);
        let same = kind.trans_a == problem.trans_a
            && kind.trans_b == problem.trans_b
            && kind.types == problem.types.map(Some)
            && kind.compute == Some(problem.compute)
            && !kind.grouped;
        Ok(same && self.accepts(file, index)?)
    }

    /// Whether no solution of this row has the product's types, so that its leaf need not be read.
    fn is_of_other_types(&self, test: &Test) -> bool {
        let differs = |test: &Test| match test {
            Test::Types(types) => types.iter().zip(self.problem.types).any(|(kind, wanted)| *kind != Some(wanted)),
            _ => false,
        };
        match test {
            Test::All(tests) => tests.iter().any(differs),
            test => differs(test),
        }
    }
}
