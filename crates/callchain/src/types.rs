//! The type of an expression, from the declarations of the tree: locals, fields, results, embedded and derived types.
//!
//! Types are never guessed: if a declaration is missing or in another module, the type is unknown.

use super::index::{Class, Function, Index, Language, Local, Shape};
use super::type_text::{Segment, bare, first_argument, last_name, segments};

/// A type as written, and the file that contains it.
#[derive(Debug, Clone)]
pub struct Type {
    pub text: String,
    pub file: usize,
}

/// The entity that an expression refers to.
#[derive(Debug, Clone)]
pub enum Meaning {
    Typed(Type),
    /// A type, package or library that has no code in the tree.
    Outside,
    /// No declaration gives the type of the expression.
    Unknown,
}

/// The maximum nesting of calls and type aliases; real code has no more.
const DEEPEST: usize = 12;

/// The type of an expression inside a function.
pub fn meaning(index: &Index, from: &Function, expression: &str, line: u32) -> Meaning {
    typed(index, from, expression, line, 0, 0)
}

fn typed(index: &Index, from: &Function, expression: &str, line: u32, nth: usize, depth: usize) -> Meaning {
    let Some(parts) = segments(expression).filter(|parts| !parts.is_empty() && depth < DEEPEST) else {
        return Meaning::Unknown;
    };
    let mut parts = parts.into_iter().peekable();
    let Some(first) = parts.next() else { return Meaning::Unknown };
    let mut here = root(index, from, &first, &mut parts, line, nth, depth);
    for part in parts {
        here = match here {
            Meaning::Typed(of) => member(index, from.language, &of, &part, nth),
            other => return other,
        };
    }
    here
}

type Parts<'e> = std::iter::Peekable<std::vec::IntoIter<Segment<'e>>>;

fn root(
    index: &Index,
    from: &Function,
    first: &Segment,
    parts: &mut Parts,
    line: u32,
    nth: usize,
    depth: usize,
) -> Meaning {
    let here = |text: &str| Meaning::Typed(Type { text: text.to_owned(), file: from.file });
    let name = first.name;
    if let Some(of) = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')) {
        return here(of);
    }
    if name == "this" {
        return here(&from.owner);
    }
    let called = first.after.first() == Some(&b'(');
    if let Some(local) = local(from, name, line) {
        let of = of_local(index, from, local, depth);
        return elements(index, from.language, of, &first.after);
    }
    if from.language == Language::Go {
        if let Some(import) = index.imported(from.file, name) {
            let Some(directory) = index.package(from.file, import) else { return Meaning::Outside };
            let Some(next) = parts.next() else { return Meaning::Unknown };
            return of_package(index, from, directory, &next, nth);
        }
        return of_package(index, from, index.directory(from.file), first, nth);
    }
    // C++: a field of the class, a method, a function, a variable of the file.
    if !from.owner.is_empty() {
        let class = Type { text: from.owner.clone(), file: from.file };
        let own = Segment { mark: "->", name, after: first.after.clone() };
        if let found @ Meaning::Typed(_) = member(index, Language::Cpp, &class, &own, nth) {
            return found;
        }
    }
    if called {
        let free =
            |id: &&usize| index.functions[**id].owner.is_empty() && index.functions[**id].language == Language::Cpp;
        let functions = index.named(name).iter().filter(free);
        let nearest = functions.min_by_key(|&&id| distance(index, from.file, index.functions[id].file));
        let declared = index.prototypes_named(name).iter().find(|(_, prototype)| prototype.0.is_empty());
        let returned = nearest
            .and_then(|&id| Some((index.functions[id].returns.first()?.clone(), index.functions[id].file)))
            .or_else(|| declared.map(|(file, prototype)| (prototype.2.clone(), *file)));
        return match returned {
            Some((text, file)) => elements(
                index,
                Language::Cpp,
                Meaning::Typed(Type { text, file }),
                first.after.get(1..).unwrap_or_default(),
            ),
            None if !index.classes_named(name).is_empty() => here(name),
            None => Meaning::Unknown,
        };
    }
    let mut globals = index.globals_named(name).iter().filter(|(file, _)| *file == from.file);
    match globals.next_back() {
        Some((file, global)) => {
            elements(index, Language::Cpp, Meaning::Typed(Type { text: global.of.clone(), file: *file }), &first.after)
        }
        None => Meaning::Unknown,
    }
}

/// A name in a Go package: the result of its function, its variable, or a conversion to its type.
fn of_package(index: &Index, from: &Function, directory: &str, part: &Segment, nth: usize) -> Meaning {
    let inside = |file: usize| index.directory(file) == directory;
    if part.after.first() == Some(&b'(') {
        let free =
            |id: &&usize| index.functions[**id].owner.is_empty() && index.functions[**id].language == Language::Go;
        let function = index.named(part.name).iter().filter(free).find(|&&id| inside(index.functions[id].file));
        if let Some(&id) = function {
            let function = &index.functions[id];
            let Some(text) = function.returns.get(nth).cloned() else { return Meaning::Unknown };
            let of = Meaning::Typed(Type { text, file: function.file });
            return elements(index, Language::Go, of, part.after.get(1..).unwrap_or_default());
        }
        let class = index.classes_named(part.name).iter().find(|&&id| inside(index.classes[id].file));
        return class.map_or(Meaning::Unknown, |&id| {
            Meaning::Typed(Type { text: part.name.to_owned(), file: index.classes[id].file })
        });
    }
    let global = index.globals_named(part.name).iter().find(|(file, _)| inside(*file));
    let Some((file, global)) = global else { return Meaning::Unknown };
    let around = Function { file: *file, locals: Vec::new(), uses: Vec::new(), ..Function::new(Language::Go, "", 0) };
    let _ = from;
    elements(index, Language::Go, of_local(index, &around, global, 1), &part.after)
}

/// The variable of this name visible at a line: the last one declared before it whose block has not ended.
pub fn local<'f>(from: &'f Function, name: &str, line: u32) -> Option<&'f Local> {
    from.locals.iter().rfind(|local| local.name == name && local.line <= line && line <= local.until)
}

fn of_local(index: &Index, from: &Function, local: &Local, depth: usize) -> Meaning {
    if !local.of.is_empty() {
        return Meaning::Typed(Type { text: local.of.clone(), file: from.file });
    }
    if local.from.is_empty() {
        return Meaning::Unknown;
    }
    // In `x := x.y`, the right side refers to the outer x: look one line earlier.
    let own = local.from.split(['.', '(', '[', '-', ':']).next() == Some(local.name.as_str());
    typed(index, from, &local.from, local.line.saturating_sub(u32::from(own)), local.nth, depth + 1)
}

/// Applies suffixes to a type: `[]` gives the element type; the type after `()` is unknown.
fn elements(index: &Index, language: Language, of: Meaning, after: &[u8]) -> Meaning {
    let mut of = of;
    for mark in after {
        of = match of {
            Meaning::Typed(of) if *mark == b'[' => match element(index, language, &of) {
                Some(text) => Meaning::Typed(Type { text, file: of.file }),
                None => Meaning::Unknown,
            },
            Meaning::Outside => return Meaning::Outside,
            _ => return Meaning::Unknown,
        };
    }
    of
}

fn element(index: &Index, language: Language, of: &Type) -> Option<String> {
    let text = bare(&of.text);
    if language == Language::Go {
        if let Some(rest) = text.strip_prefix("map[") {
            return rest.split_once(']').map(|(_, value)| value.to_owned());
        }
        if let Some(rest) = text.strip_prefix("chan ") {
            return Some(rest.to_owned());
        }
        if text.starts_with('[') {
            return text.split_once(']').map(|(_, value)| value.to_owned());
        }
        let class = classes(index, language, of).first().copied()?;
        return match &index.classes.get(class)?.shape {
            Shape::Other(other) => {
                element(index, language, &Type { text: other.clone(), file: index.classes[class].file })
            }
            _ => None,
        };
    }
    let Some((outer, inner)) = text.split_once('<') else { return Some(text.to_owned()) };
    let inner = inner.strip_suffix('>').unwrap_or(inner);
    Some(if outer.ends_with("map") { inner.split_once(',')?.1.to_owned() } else { first_argument(inner).to_owned() })
}

/// The type of a member, including its suffixes: the return type for a call, the element type for an index.
fn member(index: &Index, language: Language, of: &Type, part: &Segment, nth: usize) -> Meaning {
    let held = held(index, language, of, 0);
    if language == Language::Cpp && part.mark == "." && held.is_some() {
        // A method of the smart pointer itself: only `get` is followed.
        return match (part.name, held) {
            ("get", Some(inner)) => Meaning::Typed(inner),
            _ => Meaning::Outside,
        };
    }
    let of = held.as_ref().unwrap_or(of);
    let found = classes(index, language, of);
    if found.is_empty() {
        return Meaning::Outside;
    }
    if part.after.first() == Some(&b'(') {
        let after = part.after.get(1..).unwrap_or_default();
        for &class in &found {
            if let Some((text, file)) = returned(index, class, part.name, nth, 0) {
                return elements(index, language, Meaning::Typed(Type { text, file }), after);
            }
        }
        return Meaning::Unknown;
    }
    for &class in &found {
        if let Some((field, file)) = field(index, class, part.name, 0) {
            let of = Meaning::Typed(Type { text: field.of.clone(), file });
            return elements(index, language, of, &part.after);
        }
    }
    Meaning::Unknown
}

/// The target type of a smart pointer.
pub fn held(index: &Index, language: Language, of: &Type, depth: usize) -> Option<Type> {
    if language != Language::Cpp || depth > 4 {
        return None;
    }
    let text = bare(&of.text);
    let (outer, inner) = text.split_once('<').unwrap_or((text, ""));
    if outer.ends_with("_ptr") && !inner.is_empty() {
        let inner = first_argument(inner.strip_suffix('>').unwrap_or(inner)).to_owned();
        return Some(Type { text: inner, file: of.file });
    }
    let class = nearest_classes(index, language, of, last_name(text)).first().copied()?;
    match &index.classes.get(class)?.shape {
        Shape::Other(other) => {
            held(index, language, &Type { text: other.clone(), file: index.classes[class].file }, depth + 1)
        }
        _ => None,
    }
}

/// The classes of the tree that a type may mean; aliases are resolved.
pub fn classes(index: &Index, language: Language, of: &Type) -> Vec<usize> {
    let mut of = of.clone();
    for _ in 0..DEEPEST {
        let text = bare(&of.text).to_owned();
        let found = match language {
            Language::Go => {
                if text.starts_with(['[', '(']) || ["map[", "chan ", "func", "<-"].iter().any(|it| text.starts_with(it))
                {
                    return Vec::new();
                }
                let name = text.split('[').next().unwrap_or("");
                match name.split_once('.') {
                    Some((package, name)) => {
                        let import = index.imported(of.file, package);
                        let Some(directory) = import.and_then(|import| index.package(of.file, import)) else {
                            return Vec::new();
                        };
                        in_directory(index, name, directory)
                    }
                    None => in_directory(index, name, index.directory(of.file)),
                }
            }
            Language::Cpp => nearest_classes(index, language, &of, last_name(&text)),
        };
        // A Go type defined by another has its own methods; in C++ it is the same type.
        match found.first().and_then(|&id| index.classes.get(id)) {
            Some(Class { shape: Shape::Other(other), file, .. }) if language == Language::Cpp && *other != of.text => {
                of = Type { text: other.clone(), file: *file };
            }
            _ => return found,
        }
    }
    Vec::new()
}

fn in_directory(index: &Index, name: &str, directory: &str) -> Vec<usize> {
    let there = |id: &usize| {
        index.classes[*id].language == Language::Go && index.directory(index.classes[*id].file) == directory
    };
    index.classes_named(name).iter().copied().filter(there).collect()
}

/// The classes of this name that are nearest to the use.
fn nearest_classes(index: &Index, language: Language, of: &Type, name: &str) -> Vec<usize> {
    let mine = |id: &usize| index.classes[*id].language == language;
    let all: Vec<usize> = index.classes_named(name).iter().copied().filter(mine).collect();
    let nearest = all.iter().map(|&id| distance(index, of.file, index.classes[id].file)).min();
    all.into_iter().filter(|&id| Some(distance(index, of.file, index.classes[id].file)) == nearest).collect()
}

/// How far apart two files are: same file, same directory, same tree, or none of these.
pub fn distance(index: &Index, a: usize, b: usize) -> u8 {
    match () {
        () if a == b => 0,
        () if index.directory(a) == index.directory(b) => 1,
        () if index.same_tree(a, b) => 2,
        () => 3,
    }
}

/// A field of a class or of its bases, and the file in which its type is written.
pub fn field<'i>(index: &'i Index, class: usize, name: &str, depth: usize) -> Option<(&'i Local, usize)> {
    let class = index.classes.get(class).filter(|_| depth < DEEPEST)?;
    if let Some(field) = class.fields.iter().find(|field| field.name == name) {
        return Some((field, class.file));
    }
    above(index, class).into_iter().find_map(|above| field(index, above, name, depth + 1))
}

/// The base classes or embedded types of a class.
pub fn above(index: &Index, class: &Class) -> Vec<usize> {
    let of = |text: &str| classes(index, class.language, &Type { text: text.to_owned(), file: class.file });
    match (class.language, &class.shape) {
        (Language::Go, Shape::Struct) => {
            class.fields.iter().filter(|field| field.embedded).flat_map(|field| of(&field.of)).collect()
        }
        _ => class.bases.iter().flat_map(|base| of(base)).collect(),
    }
}

/// The return type of a method of a class.
fn returned(index: &Index, class: usize, name: &str, nth: usize, depth: usize) -> Option<(String, usize)> {
    let known = index.classes.get(class).filter(|_| depth < DEEPEST)?;
    if let Shape::Interface(methods) = &known.shape
        && let Some((_, returns)) = methods.iter().find(|(method, _)| method == name)
    {
        return Some((returns.get(nth)?.clone(), known.file));
    }
    let mine = methods_of(index, class, name);
    if let Some(function) = mine.first().map(|&id| &index.functions[id]) {
        return Some((function.returns.get(nth)?.clone(), function.file));
    }
    let declared = index
        .prototypes_named(name)
        .iter()
        .find(|(file, prototype)| prototype.0 == known.name && index.same_tree(*file, known.file));
    if let Some((file, prototype)) = declared {
        return Some((prototype.2.clone(), *file));
    }
    above(index, known).into_iter().find_map(|above| returned(index, above, name, nth, depth + 1))
}

/// The definitions of a class' own method.
pub fn methods_of(index: &Index, class: usize, name: &str) -> Vec<usize> {
    let Some(class) = index.classes.get(class) else { return Vec::new() };
    let all: Vec<usize> = index.named(name).iter().copied().filter(|&id| is_of(index, class, id)).collect();
    let nearest = all.iter().map(|&id| distance(index, class.file, index.functions[id].file).max(1)).min();
    all.into_iter()
        .filter(|&id| Some(distance(index, class.file, index.functions[id].file).max(1)) == nearest)
        .collect()
}

/// Whether the tree defines a method of the class itself.
pub fn has_own(index: &Index, class: &Class, name: &str) -> bool {
    index.named(name).iter().any(|&id| is_of(index, class, id))
}

fn is_of(index: &Index, class: &Class, id: usize) -> bool {
    let function = &index.functions[id];
    // Cheap checks that exclude most functions come first.
    if function.language != class.language || function.owner != class.name {
        return false;
    }
    match class.language {
        Language::Go => index.directory(function.file) == index.directory(class.file),
        Language::Cpp => index.same_tree(function.file, class.file),
    }
}
