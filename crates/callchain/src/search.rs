//! The cheapest way from one function to another, over calls and everything that stands in for a call.

use super::index::{Function, Index, Language, Reach, Use};
use super::syntax::split_last;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What kind of step leads from one function to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Route,
    Call,
    Cgo,
    /// Through a field or a table of functions.
    Interface,
    /// A function value given away here.
    Reference,
    /// A goroutine started here.
    Spawn,
    /// One side wakes, the other waits: a condition variable or a channel.
    HandOff,
    /// A request over HTTP to a function that serves this path.
    Http,
    /// A kernel launch.
    Launch,
    /// A name that the vendor header turns into another.
    Vendor,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Route => "route",
            Kind::Call => "call",
            Kind::Cgo => "cgo",
            Kind::Interface => "interface",
            Kind::Reference => "reference",
            Kind::Spawn => "goroutine",
            Kind::HandOff => "hand-off",
            Kind::Http => "http",
            Kind::Launch => "launch",
            Kind::Vendor => "vendor",
        }
    }

    fn cost(self) -> u32 {
        match self {
            Kind::Call | Kind::Cgo => 2,
            Kind::Interface | Kind::Spawn => 3,
            Kind::Http | Kind::HandOff => 5,
            _ => 6,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Edge {
    pub to: usize,
    pub kind: Kind,
    /// The line, in the file of the function it starts from.
    pub line: u32,
    /// Other functions that the same words may mean.
    pub others: Vec<usize>,
}

/// Every way out of a function.
pub fn edges(index: &Index, from: usize) -> Vec<Edge> {
    let Some(function) = index.functions.get(from) else { return Vec::new() };
    let mut out = Vec::new();
    for used in &function.uses {
        match used.reach {
            Reach::Call | Reach::Reference | Reach::Spawn => {
                let kind = match used.reach {
                    Reach::Call => Kind::Call,
                    Reach::Spawn => Kind::Spawn,
                    _ => Kind::Reference,
                };
                let direct = resolve(index, function, used);
                if direct.is_empty() && used.reach == Reach::Call {
                    add(index, &mut out, through_field(index, function, used), Kind::Interface, used.line);
                }
                add(index, &mut out, direct, kind, used.line);
            }
            Reach::Cgo => {
                let targets = index.named(&used.name).iter().copied();
                let targets = targets.filter(|&id| {
                    index.functions[id].language == Language::Cpp && index.functions[id].owner.is_empty()
                });
                add(index, &mut out, targets.collect(), Kind::Cgo, used.line);
            }
            Reach::Wake => {
                let here = index.directory(function.file);
                let waiting = index.waiting(&used.name).iter().map(|(id, _)| *id);
                let near = waiting.filter(|&id| index.directory(index.functions[id].file) == here && id != from);
                add(index, &mut out, near.collect(), Kind::HandOff, used.line);
            }
            Reach::Wait | Reach::Launch => {}
        }
    }
    out
}

fn add(index: &Index, out: &mut Vec<Edge>, targets: Vec<usize>, kind: Kind, line: u32) {
    for &to in &targets {
        // Overloads of one name in one place are one answer.
        let same = |other: usize| {
            let (a, b) = (&index.functions[to], &index.functions[other]);
            a.title() == b.title() && index.directory(a.file) == index.directory(b.file)
        };
        let others = targets.iter().copied().filter(|&other| !same(other)).collect();
        out.push(Edge { to, kind, line, others });
    }
}

/// Who a call may mean, narrowed as far as the words allow: package, type or class first, then the same directory,
/// then everything of that name. More than one is an ambiguity that the answer shows.
fn resolve(index: &Index, from: &Function, used: &Use) -> Vec<usize> {
    let same_language = |id: &usize| index.functions[*id].language == from.language;
    let all: Vec<usize> = index.named(&used.name).iter().copied().filter(same_language).collect();
    let narrow = |test: &dyn Fn(&Function) -> bool| -> Option<Vec<usize>> {
        let kept: Vec<usize> = all.iter().copied().filter(|&id| test(&index.functions[id])).collect();
        (!kept.is_empty()).then_some(kept)
    };
    let in_file = |f: &Function| f.file == from.file;
    let in_directory = |f: &Function| index.directory(f.file) == index.directory(from.file);
    let free = |f: &Function| f.owner.is_empty();
    let found = match (from.language, used.object.as_str()) {
        // A bare name in Go is of the same package, or built in.
        (Language::Go, "") => narrow(&|f| free(f) && in_directory(f)),
        (Language::Go, object) => match index.imported(from.file, object) {
            Some(package) => narrow(&|f| free(f) && index.directory(f.file).rsplit('/').next() == Some(package)),
            None => method(index, from, object, &narrow),
        },
        (Language::Cpp, "" | "this") => narrow(&|f| !from.owner.is_empty() && f.owner == from.owner)
            .or_else(|| narrow(&|f| free(f) && in_file(f)))
            .or_else(|| narrow(&|f| free(f) && in_directory(f)))
            .or_else(|| narrow(&free)),
        // A table of functions: `through_field` knows what stands in it.
        (Language::Cpp, object) if object.ends_with("iface") => None,
        (Language::Cpp, object) => method(index, from, object, &narrow),
    };
    found.unwrap_or_default()
}

/// Keeps the candidates that a test accepts; None where none does.
type Narrow<'a> = dyn Fn(&dyn Fn(&Function) -> bool) -> Option<Vec<usize>> + 'a;

/// A method called on something: by the type of the receiver, parameter or field, where the tree gives one.
fn method(index: &Index, from: &Function, object: &str, narrow: &Narrow) -> Option<Vec<usize>> {
    // What a call to another module returns is not ours to follow.
    let leading = object.split(['.', '(']).next().unwrap_or("");
    if index.imported(from.file, leading).is_some_and(|package| !index.has_package(package)) {
        return None;
    }
    let last = split_last(object).1;
    let own = from.typed.iter().find(|typed| typed.name == last).map(|typed| std::slice::from_ref(&typed.of));
    let types = own.unwrap_or_else(|| index.field_types(last));
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    let of_type = |f: &Function| types.contains(&f.owner.as_str()) || f.owner == last;
    let method = |f: &Function| !f.owner.is_empty();
    let in_directory = |f: &Function| index.directory(f.file) == index.directory(from.file);
    // An interface has no methods of its own: whoever has one of that name may be meant.
    narrow(&of_type).or_else(|| narrow(&|f| method(f) && in_directory(f))).or_else(|| narrow(&method))
}

/// A call through a field or a table of functions: whatever was stored in it.
fn through_field(index: &Index, from: &Function, used: &Use) -> Vec<usize> {
    let Some(aliases) = index.aliases.get(&used.name) else { return Vec::new() };
    let of_language = |id: &usize| index.functions[*id].language == from.language;
    let named = aliases.iter().flat_map(|alias| index.named(&alias.function).iter().copied().filter(of_language));
    let mut targets: Vec<usize> = named.collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The cheapest path from any of `starts` to a function that `goal` accepts, as edges with the function that each
/// starts from. None where there is no path.
pub fn path(
    index: &Index,
    starts: &[usize],
    goal: impl Fn(usize) -> bool,
    allowed: impl Fn(usize, &Edge) -> bool,
) -> Option<Vec<(usize, Edge)>> {
    let mut best: HashMap<usize, u32> = starts.iter().map(|&start| (start, 0)).collect();
    let mut came: HashMap<usize, (usize, Edge)> = HashMap::new();
    let mut queue: BinaryHeap<Reverse<(u32, usize)>> = starts.iter().map(|&start| Reverse((0, start))).collect();
    while let Some(Reverse((cost, at))) = queue.pop() {
        if best.get(&at).is_some_and(|&known| known < cost) {
            continue;
        }
        if goal(at) {
            let mut steps = Vec::new();
            let mut here = at;
            while let Some((from, edge)) = came.get(&here) {
                steps.push((*from, edge.clone()));
                here = *from;
            }
            steps.reverse();
            return Some(steps);
        }
        for edge in edges(index, at) {
            if !allowed(at, &edge) {
                continue;
            }
            let ambiguity = u32::try_from(edge.others.len().min(4)).unwrap_or(4);
            let next = cost.saturating_add(edge.kind.cost()).saturating_add(ambiguity);
            if best.get(&edge.to).is_none_or(|&known| next < known) {
                best.insert(edge.to, next);
                queue.push(Reverse((next, edge.to)));
                came.insert(edge.to, (at, edge));
            }
        }
    }
    None
}
