//! Resolves calls by scope, receiver and type. If no declaration gives the type of a receiver, the call stays
//! unresolved.

use super::edge::Kind;
use super::index::{Class, Function, Index, Language, Shape, Use};
use super::types::{Meaning, Type, above, classes, distance, field, has_own, held, local, meaning, methods_of};
use std::collections::BTreeSet;

/// The result of resolving a use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// The call leads to these functions by this kind of step. If there are several, the call is ambiguous.
    To(Kind, Vec<usize>),
    /// The target is in a library, the standard library or a builtin, not in the tree.
    Outside,
    /// The tree has methods of that name, but it is unknown which one is called.
    Open,
}

pub fn resolve(index: &Index, from: &Function, used: &Use) -> Resolved {
    match from.language {
        Language::Go => in_go(index, from, used),
        Language::Cpp => in_cpp(index, from, used),
    }
}

fn to(kind: Kind, targets: Vec<usize>) -> Resolved {
    if targets.is_empty() { Resolved::Outside } else { Resolved::To(kind, targets) }
}

fn open(index: &Index, from: &Function, name: &str) -> Resolved {
    let method = |&id: &usize| index.functions[id].language == from.language && !index.functions[id].owner.is_empty();
    if index.named(name).iter().any(method) { Resolved::Open } else { Resolved::Outside }
}

fn in_go(index: &Index, from: &Function, used: &Use) -> Resolved {
    let package = |directory: &str| {
        let fits = |&id: &usize| {
            let function = &index.functions[id];
            function.language == Language::Go
                && function.owner.is_empty()
                && index.directory(function.file) == directory
        };
        index.named(&used.name).iter().copied().filter(fits).collect::<Vec<_>>()
    };
    if used.object.is_empty() {
        // A variable of that name hides the function; its value is not followed.
        return match local(from, &used.name, used.line) {
            Some(_) => Resolved::Outside,
            None => to(Kind::Call, package(index.directory(from.file))),
        };
    }
    if local(from, &used.object, used.line).is_none()
        && let Some(import) = index.imported(from.file, &used.object)
    {
        return match index.package(from.file, import) {
            Some(directory) => to(Kind::Call, package(directory)),
            None => Resolved::Outside,
        };
    }
    on_value(index, from, used)
}

fn in_cpp(index: &Index, from: &Function, used: &Use) -> Resolved {
    if let Some(qualifier) = used.object.strip_suffix("::") {
        let last = qualifier.rsplit("::").next().unwrap_or(qualifier);
        let fits = |&id: &usize| {
            let function = &index.functions[id];
            let there = function.owner == last || function.owner.is_empty() && function.space == last;
            function.language == Language::Cpp && there && visible(index, from, function)
        };
        return to(Kind::Call, nearest(index, from, index.named(&used.name).iter().copied().filter(fits).collect()));
    }
    if !matches!(used.object.as_str(), "" | "this->") {
        return on_value(index, from, used);
    }
    let owned = !from.owner.is_empty();
    if used.object.is_empty()
        && let Some(local) = local(from, &used.name, used.line)
    {
        // A lambda of this function is read as a separate function; the value of any other variable is unknown.
        let here = |&id: &usize| index.functions[id].file == from.file && index.functions[id].owner == from.owner;
        return match local.of.as_str() {
            "(lambda)" => to(Kind::Call, index.named(&used.name).iter().copied().filter(here).collect()),
            _ => Resolved::Outside,
        };
    }
    if owned {
        let own = Use { object: "this->".to_owned(), ..used.clone() };
        if let found @ Resolved::To(..) = on_value(index, from, &own) {
            return found;
        }
    }
    let fits = |&id: &usize| {
        let function = &index.functions[id];
        let space = function.space.is_empty() || function.space == from.space || function.file == from.file;
        function.language == Language::Cpp && function.owner.is_empty() && space && visible(index, from, function)
    };
    to(Kind::Call, nearest(index, from, index.named(&used.name).iter().copied().filter(fits).collect()))
}

/// Whether one function can refer to another. An internal function is visible only in its own file, or, if it is in a
/// header, in the same tree.
fn visible(index: &Index, from: &Function, to: &Function) -> bool {
    let header = [".h", ".hpp", ".cuh"].iter().any(|end| index.path(to.file).ends_with(end));
    to.file == from.file || !to.internal || header && index.same_tree(from.file, to.file)
}

fn nearest(index: &Index, from: &Function, all: Vec<usize>) -> Vec<usize> {
    let far = |id: usize| distance(index, from.file, index.functions[id].file);
    let least = all.iter().map(|&id| far(id)).min();
    all.into_iter().filter(|&id| Some(far(id)) == least).collect()
}

/// A method or a field value of the receiver's type.
fn on_value(index: &Index, from: &Function, used: &Use) -> Resolved {
    let object = used.object.as_str();
    let of = match object {
        "this->" => Meaning::Typed(Type { text: from.owner.clone(), file: from.file }),
        _ => meaning(index, from, object, used.line),
    };
    let of = match of {
        Meaning::Typed(of) => of,
        Meaning::Outside => return Resolved::Outside,
        Meaning::Unknown => return open(index, from, &used.name),
    };
    let inner = held(index, from.language, &of, 0);
    // `pointer.get()` is a method of the smart pointer, `pointer->get()` of its target.
    if inner.is_some() && !object.ends_with("->") {
        return Resolved::Outside;
    }
    let found = classes(index, from.language, inner.as_ref().unwrap_or(&of));
    if found.is_empty() {
        return Resolved::Outside;
    }
    let mut targets = BTreeSet::new();
    let mut dynamic = false;
    for &class in &found {
        dynamic |= method(index, class, &used.name, 0, &mut targets);
    }
    if !targets.is_empty() {
        return Resolved::To(if dynamic { Kind::Virtual } else { Kind::Call }, targets.into_iter().collect());
    }
    let stored = found.iter().any(|&class| field(index, class, &used.name, 0).is_some());
    let stored_by_name =
        stored || from.language == Language::Cpp && !index.named(&used.name).is_empty() && object == "this->";
    if !stored_by_name {
        return Resolved::Outside;
    }
    through_field(index, from, used)
}

/// The functions that a method of a class may run, and whether the choice is made only at run time.
fn method(index: &Index, class: usize, name: &str, depth: usize, targets: &mut BTreeSet<usize>) -> bool {
    let Some(known) = index.classes.get(class).filter(|_| depth < 12) else { return false };
    if let Shape::Interface(_) = &known.shape {
        let found = index.implementations(class, name, || {
            let wanted = wanted_methods(index, class, 0);
            wanted.contains(name).then(|| implementations(index, name, &wanted))
        });
        let found = found.as_deref();
        targets.extend(found.into_iter().flatten());
        return found.is_some();
    }
    let own = methods_of(index, class, name);
    let declared =
        |owner: &str| index.prototypes_named(name).iter().any(|(_, prototype)| prototype.0 == owner && prototype.3);
    let mut dynamic = own.iter().any(|&id| index.functions[id].dynamic) || declared(&known.name);
    targets.extend(own.iter().copied());
    if own.is_empty() && !dynamic {
        for above in above(index, known) {
            dynamic |= method(index, above, name, depth + 1, targets);
        }
        return dynamic;
    }
    if dynamic && known.language == Language::Cpp {
        overriders(index, known, name, 0, targets);
    }
    dynamic
}

/// The overrides of a virtual method in derived classes.
fn overriders(index: &Index, class: &Class, name: &str, depth: usize, targets: &mut BTreeSet<usize>) {
    for &derived in index.derived_from(&class.name) {
        let Some(known) = index.classes.get(derived).filter(|_| depth < 8) else { continue };
        if known.language == Language::Cpp && index.same_tree(known.file, class.file) {
            targets.extend(methods_of(index, derived, name));
            overriders(index, known, name, depth + 1, targets);
        }
    }
}

/// Every method that an interface requires, including those of embedded interfaces.
fn wanted_methods(index: &Index, class: usize, depth: usize) -> BTreeSet<String> {
    let Some(known) = index.classes.get(class).filter(|_| depth < 8) else { return BTreeSet::new() };
    let mut all = BTreeSet::new();
    if let Shape::Interface(methods) = &known.shape {
        all.extend(methods.iter().map(|(name, _)| name.clone()));
        for above in above(index, known) {
            all.extend(wanted_methods(index, above, depth + 1));
        }
    }
    all
}

/// The methods of this name whose type, or a type that embeds it, satisfies the interface.
fn implementations(index: &Index, name: &str, wanted: &BTreeSet<String>) -> Vec<usize> {
    let fits = |&id: &usize| {
        let function = &index.functions[id];
        if function.language != Language::Go || function.owner.is_empty() {
            return false;
        }
        let owner = Type { text: function.owner.clone(), file: function.file };
        let mut asked: Vec<usize> = classes(index, Language::Go, &owner);
        let embedding = index.derived_from(&function.owner).iter().copied();
        asked.extend(embedding.filter(|&other| {
            above(index, &index.classes[other]).iter().any(|it| index.classes[*it].name == function.owner)
        }));
        asked.iter().any(|&class| wanted.iter().all(|method| has(index, class, method, 0)))
    };
    index.named(name).iter().copied().filter(fits).collect()
}

/// Whether a Go type has a method, directly or through embedding.
fn has(index: &Index, class: usize, name: &str, depth: usize) -> bool {
    let Some(known) = index.classes.get(class).filter(|_| depth < 8) else { return false };
    if let Shape::Interface(_) = known.shape {
        return wanted_methods(index, class, 0).contains(name);
    }
    has_own(index, known, name) || above(index, known).into_iter().any(|it| has(index, it, name, depth + 1))
}

/// A call through a field or a table of functions: all functions that the tree stores in it.
fn through_field(index: &Index, from: &Function, used: &Use) -> Resolved {
    // A lambda assigned to the field is a separate function under the field's name.
    let of_language = |id: &usize| index.functions[*id].language == from.language;
    let Some(aliases) = index.aliases.get(&used.name) else { return open(index, from, &used.name) };
    let table = aliases.iter().any(|alias| alias.table);
    let near = |file: usize| index.same_tree(file, from.file);
    let named = aliases.iter().filter(|alias| near(alias.file)).flat_map(|alias| {
        let all = index.named(&alias.function).iter().copied().filter(of_language);
        let mine = |id: &usize| index.functions[*id].file == alias.file;
        let here: Vec<usize> = all.clone().filter(mine).collect();
        if here.is_empty() { all.filter(|id| near(index.functions[*id].file)).collect() } else { here }
    });
    let targets: BTreeSet<usize> = named.collect();
    to(if table { Kind::Virtual } else { Kind::Callback }, targets.into_iter().collect())
}
