//! All bundles of a range, in parallel, handed out in order.

use crate::budget::Budget;
use crate::object::{Look, ObjectReport};
use codeobject::{Body, Bundle, Coverage, EntryId, Error, Opened, Piece, Problem, Range, ReadAt, Window, ccob, walk};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError, mpsc};

#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The number of threads; 0 does everything on the calling thread, for systems without threads.
    pub threads: usize,
    /// How many bytes may be unpacked at one time, over all threads. A single bundle above this is unpacked alone.
    pub budget: u64,
    /// The maximum unpacked size of a single bundle.
    pub unpack_limit: u64,
    /// Whether to read code for NVIDIA GPUs too.
    pub nvidia: bool,
    /// Whether to search for code objects outside the device sections too.
    pub search: bool,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(0, usize::from);
        Options { threads, budget: 96 << 20, unpack_limit: ccob::DEFAULT_LIMIT, nvidia: false, search: false }
    }
}

impl Options {
    /// Options for a complete search, which proving an absence requires.
    pub fn all() -> Self {
        Options { nvidia: true, search: true, ..Options::default() }
    }
}

/// The result for one bundle.
#[derive(Debug)]
pub struct BundleReport<T> {
    pub bundle: Bundle,
    pub entries: Vec<ObjectReport>,
    /// The coverage of this bundle's bytes in the file.
    pub coverage: Coverage,
    /// The results of the [`Look`].
    pub out: T,
}

impl<T> BundleReport<T> {
    pub fn problems(&self) -> impl Iterator<Item = &Error> {
        let gaps = self.coverage.not_understood.iter().map(|gap| &gap.why);
        gaps.chain(self.entries.iter().flat_map(|entry| &entry.problems))
    }
}

/// The output of the scan: pieces of the results for one bundle, then its report with the rest.
#[derive(Debug)]
pub enum Event<T> {
    Piece(Bundle, T),
    Done(BundleReport<T>),
}

impl<T> Event<T> {
    fn index(&self) -> usize {
        match self {
            Event::Piece(bundle, _) => bundle.index,
            Event::Done(report) => report.bundle.index,
        }
    }
}

/// Walks `ranges` and reads every bundle. `take` gets the events in order on the calling thread; an error from it stops the scan.
/// Returns the coverage of the bytes between the bundles.
pub fn scan<L: Look, E>(
    source: &dyn ReadAt,
    ranges: &[Range],
    options: &Options,
    look: &L,
    mut take: impl FnMut(Event<L::Out>) -> Result<(), E>,
) -> Result<Coverage, E> {
    let mut pieces = Pieces::new(source, ranges);
    let next = || {
        let bundle = pieces.next_bundle()?;
        let cost = bundle.cost();
        Some((bundle, cost, ()))
    };
    let work =
        |bundle: Bundle, (): (), hand_over: &mut dyn FnMut(L::Out)| look_into(source, bundle, options, look, hand_over);
    ordered(options, next, work, &mut take)?;
    Ok(pieces.coverage)
}

/// Processes bundles in parallel and hands the events out in order. `next` gives a bundle, its maximum unpacked size,
/// and other data for its work; the bundles are numbered from 0 without gaps.
pub(crate) fn ordered<T: Send, J: Send, E>(
    options: &Options,
    next: impl FnMut() -> Option<(Bundle, u64, J)> + Send,
    work: impl Fn(Bundle, J, &mut dyn FnMut(T)) -> BundleReport<T> + Sync,
    take: &mut impl FnMut(Event<T>) -> Result<(), E>,
) -> Result<(), E> {
    if options.threads == 0 {
        return in_turn(next, work, take);
    }
    let threads = options.threads;
    // A few bundles ahead keep all threads busy; more would only accumulate rows.
    let budget = Budget::new(options.budget, threads * 2);
    let next = Mutex::new(next);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            let (budget, next, work) = (&budget, &next, &work);
            scope.spawn(move || {
                while budget.take_turn() {
                    // The budget is taken under the lock, and therefore in the order of the bundles.
                    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some((bundle, cost, job)) = next() else { break };
                    let held = budget.hold(cost);
                    drop(next);
                    let whole = bundle.clone();
                    let mut hand_over = |out| {
                        if budget.take_piece(whole.index) {
                            let _ = send.send(Event::Piece(whole.clone(), out));
                        }
                    };
                    let report = work(bundle, job, &mut hand_over);
                    drop(held);
                    if send.send(Event::Done(report)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let result = in_order(receive, &budget, take);
        budget.stop();
        result
    })
}

/// Works without threads, one bundle after the other.
fn in_turn<T, J, E>(
    mut next: impl FnMut() -> Option<(Bundle, u64, J)>,
    work: impl Fn(Bundle, J, &mut dyn FnMut(T)) -> BundleReport<T>,
    take: &mut impl FnMut(Event<T>) -> Result<(), E>,
) -> Result<(), E> {
    while let Some((bundle, _, job)) = next() {
        let (whole, mut failed) = (bundle.clone(), None);
        let report = work(bundle, job, &mut |out| {
            if failed.is_none() {
                failed = take(Event::Piece(whole.clone(), out)).err();
            }
        });
        match failed {
            Some(error) => return Err(error),
            None => take(Event::Done(report))?,
        }
    }
    Ok(())
}

fn in_order<T, E>(
    receive: mpsc::Receiver<Event<T>>,
    budget: &Budget,
    take: &mut impl FnMut(Event<T>) -> Result<(), E>,
) -> Result<(), E> {
    let mut early: BTreeMap<usize, VecDeque<Event<T>>> = BTreeMap::new();
    let mut next = 0;
    for event in receive {
        early.entry(event.index()).or_default().push_back(event);
        while let Some(event) = early.get_mut(&next).and_then(VecDeque::pop_front) {
            let done = matches!(event, Event::Done(_));
            take(event)?;
            if done {
                early.remove(&next);
                budget.hand_out();
                next += 1;
            } else {
                budget.piece_taken(next);
            }
        }
    }
    Ok(())
}

/// Real files have up to about ten thousand entries. Listing a gigabyte of empty bundles would only waste memory.
const ENTRIES_LIMIT: u64 = 500_000;

/// The walk over all ranges, and the coverage of everything that is not a bundle.
struct Pieces<'a> {
    source: &'a dyn ReadAt,
    ranges: Vec<Range>,
    walk: Option<codeobject::Walk<'a>>,
    index: usize,
    entries: u64,
    coverage: Coverage,
}

impl<'a> Pieces<'a> {
    fn new(source: &'a dyn ReadAt, ranges: &[Range]) -> Self {
        let ranges = ranges.iter().rev().copied().collect();
        Pieces { source, ranges, walk: None, index: 0, entries: 0, coverage: Coverage::default() }
    }

    fn next_bundle(&mut self) -> Option<Bundle> {
        loop {
            let Some(walk) = &mut self.walk else {
                let range = self.ranges.pop()?;
                self.walk = Some(walk(self.source, range, self.index));
                continue;
            };
            match walk.next() {
                Some(Piece::Bundle(bundle)) if self.entries > ENTRIES_LIMIT => {
                    let problem = Problem::OverLimit { claimed: self.entries, limit: ENTRIES_LIMIT };
                    self.coverage
                        .lose(bundle.range(), Error::new(bundle.offset, "bundle entries of the file", problem));
                    self.walk = None;
                    self.ranges.clear();
                }
                Some(Piece::Bundle(bundle)) => {
                    self.index += 1;
                    self.entries +=
                        1 + if let Body::Plain(table) = &bundle.body { table.entries.len() as u64 } else { 0 };
                    return Some(bundle);
                }
                Some(Piece::Padding(range)) => self.coverage.padding += range.len(),
                Some(Piece::NotUnderstood(range, why)) => self.coverage.lose(range, why),
                None => self.walk = None,
            }
        }
    }
}

fn look_into<L: Look>(
    source: &dyn ReadAt,
    bundle: Bundle,
    options: &Options,
    look: &L,
    hand_over: &mut dyn FnMut(L::Out),
) -> BundleReport<L::Out> {
    let mut report =
        BundleReport { entries: Vec::new(), coverage: Coverage::default(), out: L::Out::default(), bundle };
    match report.bundle.open(source, options.unpack_limit) {
        Ok(opened) => read_entries(&opened, &mut report, look, hand_over),
        Err(error) => report.coverage.lose(report.bundle.range(), error),
    }
    report
}

fn read_entries<L: Look>(
    opened: &Opened<'_>,
    report: &mut BundleReport<L::Out>,
    look: &L,
    hand_over: &mut dyn FnMut(L::Out),
) {
    let index = report.bundle.index;
    let mut coverage = Coverage { scanned: opened.table.header_size, ..Coverage::default() };
    for (i, entry) in opened.table.entries.iter().enumerate() {
        let mut object = ObjectReport::new(&entry.id, entry.size);
        let bytes = opened.contents(entry);
        if let Ok(contents) = bytes
            && entry.size > 0
        {
            object.read((Some(index), i), &contents, None, look, &mut report.out, hand_over);
        }
        let start = opened.table.base.saturating_add(entry.offset);
        let range = Range { start, end: start.saturating_add(entry.size) };
        // Errors of an entry are relative to the bundle's head; errors inside it are relative to its own start.
        match &entry.problem {
            Some(problem) => {
                coverage.lose(range, problem.clone());
                object.problems.insert(0, problem.clone());
            }
            None => account(&mut coverage, &object, range),
        }
        report.entries.push(object);
    }
    for gap in opened.table.gaps() {
        if let Err(error) = coverage.pad(opened.source(), gap) {
            coverage.lose(gap, error);
        }
    }
    if let Some(error) = &opened.table.problem {
        coverage.lose(Range { start: error.offset, end: error.offset }, error.clone());
    }
    report.coverage = match &report.bundle.body {
        Body::Plain(_) => within(coverage, report.bundle.range()),
        // For a compressed bundle the file has only the packed bytes: they are understood if everything in them is.
        Body::Compressed(_) => packed(coverage, report.bundle.range()),
    };
}

fn account(coverage: &mut Coverage, object: &ObjectReport, range: Range) {
    match object.problems.first() {
        None => coverage.scanned += object.size,
        Some(error) => coverage.lose(range, error.clone().at_base(range.start)),
    }
}

/// Overlapping entries, or entries that extend beyond the file, would count bytes twice or bytes that do not exist.
fn within(mut coverage: Coverage, range: Range) -> Coverage {
    for gap in &mut coverage.not_understood {
        gap.range.start = gap.range.start.clamp(range.start, range.end);
        gap.range.end = gap.range.end.clamp(gap.range.start, range.end);
    }
    let rest = range.len().saturating_sub(coverage.padding);
    let lost = coverage.lost().min(rest);
    coverage.scanned = rest - lost;
    coverage
}

fn packed(coverage: Coverage, range: Range) -> Coverage {
    let mut outer = Coverage::default();
    match coverage.not_understood.first() {
        None => outer.scanned = range.len(),
        Some(gap) => outer.lose(range, gap.why.clone()),
    }
    outer
}

/// A bare code object, with its id if it has one, and its index in the file. Pieces of the results go to `hand_over`,
/// the rest is returned.
pub fn scan_object<L: Look>(
    source: &dyn ReadAt,
    (id, number): (Option<&EntryId>, usize),
    file: Option<&str>,
    look: &L,
    hand_over: &mut dyn FnMut(L::Out),
) -> (ObjectReport, Coverage, L::Out) {
    let mut out = L::Out::default();
    let mut object = ObjectReport::new(id.unwrap_or(&EntryId::parse("")), source.len());
    let mut coverage = Coverage::default();
    match Window::new(source, 0, source.len(), "code object") {
        Ok(contents) => object.read((None, number), &contents, file, look, &mut out, hand_over),
        Err(error) => object.problems.push(error),
    }
    account(&mut coverage, &object, Range { start: 0, end: source.len() });
    (object, coverage, out)
}
