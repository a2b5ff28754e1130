//! Reads C, C++ and CUDA: namespaces, classes with fields and bases, functions, and the names that their bodies use
//! ([`body`]).
//!
//! This is a reader of declarations, not a compiler. It looks only at tokens and brackets. It takes linear time on any
//! input and reads thousands of files in a second.

mod body;
mod lambda;
mod lex;
mod tokens;

use super::index::{Alias, Class, Function, Language, Local, Part, Shape};
pub use lex::Word;
pub use tokens::Tokens;

/// The maximum nesting of namespaces and classes; deeper ones are ignored.
const DEEPEST: usize = 32;

pub fn read(source: &str) -> Part {
    let (words, remaps) = lex::lex(source);
    let tokens = Tokens::new(words);
    let mut part = Part { remaps, ..Part::default() };
    tables(&tokens, &mut part.aliases);
    let mut reader = Reader { tokens: &tokens, part };
    reader.block(0, tokens.len(), &Scope::default(), 0);
    reader.part
}

pub fn tokens(source: &str) -> Tokens<'_> {
    Tokens::new(lex::lex(source).0)
}

/// A function with a body: the index of its first token, its name, and its braces.
pub struct Definition {
    pub start: usize,
    pub name: usize,
    pub open: usize,
    pub close: usize,
}

/// Every function defined in a file, including those in namespaces and classes.
pub fn definitions(t: &Tokens) -> Vec<Definition> {
    let mut out = Vec::new();
    let (mut at, mut start) = (0, 0);
    while at < t.len() {
        match t.text(at) {
            "{" => match t.signature(start, at) {
                Some(found) => {
                    let close = t.close(at).max(at);
                    out.push(Definition { start, name: found.name, open: at, close });
                    (at, start) = (close + 1, close + 1);
                }
                // A namespace, a class or a list of values: its content is read like file-level code.
                None => (at, start) = (at + 1, at + 1),
            },
            "extern" if t.word(at + 1) == Some(Word::Text) => (at, start) = (at + 2, at + 2),
            "template" if t.text(at + 1) == "<" => {
                at = t.angles(at + 1).unwrap_or(at + 2);
                start = at;
            }
            ";" | "}" => (at, start) = (at + 1, at + 1),
            "(" | "[" => at = t.close(at).max(at) + 1,
            _ => at += 1,
        }
    }
    out
}

/// The pseudo-type of a pointer to a function.
const POINTER: &str = "(pointer)";

/// The scope of a declaration.
#[derive(Debug, Clone, Default)]
struct Scope {
    space: String,
    class: String,
    /// Whether the scope is an unnamed namespace: code in other files cannot call its functions.
    hidden: bool,
}

struct Reader<'t, 's> {
    tokens: &'t Tokens<'s>,
    part: Part,
}

impl Reader<'_, '_> {
    /// The declarations in a token range.
    fn block(&mut self, from: usize, to: usize, scope: &Scope, depth: usize) {
        let t = self.tokens;
        let (mut at, mut start) = (from, from);
        while at < to {
            match t.text(at) {
                ";" => {
                    self.declaration(start, at, scope);
                    at += 1;
                    start = at;
                }
                "{" => {
                    let close = t.close(at).min(to);
                    self.braced(start, at, close, scope, depth);
                    at = close + 1;
                    start = at;
                }
                "}" => {
                    at += 1;
                    start = at;
                }
                "(" | "[" => at = t.close(at).max(at) + 1,
                "public" | "private" | "protected" if t.text(at + 1) == ":" => {
                    at += 2;
                    start = at;
                }
                "template" if t.text(at + 1) == "<" => {
                    at = t.angles(at + 1).unwrap_or(at + 2);
                    start = at;
                }
                "extern" if t.word(at + 1) == Some(Word::Text) && t.text(at + 2) == "{" => {
                    at += 3;
                    start = at;
                }
                _ => at += 1,
            }
        }
    }

    /// Handles a braced block. The tokens before the brace determine its kind.
    fn braced(&mut self, start: usize, open: usize, close: usize, scope: &Scope, depth: usize) {
        let t = self.tokens;
        if depth >= DEEPEST {
            return;
        }
        let first =
            (start..open).find(|&at| !matches!(t.text(at), "inline" | "static" | "const" | "typedef" | "extern"));
        let first = first.unwrap_or(open);
        let equals = t.top(start, open).find(|&at| t.text(at) == "=" && t.text(at.wrapping_sub(1)) != "operator");
        if t.text(first) == "namespace" {
            let name =
                (first + 1..open).rev().find(|&at| t.word(at) == Some(Word::Name)).map(|at| t.text(at).to_owned());
            let hidden = scope.hidden || name.is_none();
            let space = name.unwrap_or_else(|| scope.space.clone());
            return self.block(open + 1, close, &Scope { space, class: String::new(), hidden }, depth + 1);
        }
        if let Some(equals) = equals {
            // `auto f = [](...) {...}` is a function; any other initialiser is a value whose type is known.
            self.variable(start, equals, scope);
            if t.text(equals + 1) == "[" {
                let name = t.text(equals.wrapping_sub(1)).to_owned();
                let parameters = t.close(equals + 1) + 1;
                let parameters = (t.text(parameters) == "(").then_some(parameters);
                let function = self.function(&name, scope, start, String::new());
                self.body(function, parameters, open, close, &[], depth);
            }
            return;
        }
        if let Some(found) = t.signature(start, open) {
            let (mut owner, name) = t.qualified(found.name);
            let start_of_name = t.start_of_path(found.name);
            if owner.is_empty() {
                owner.clone_from(&scope.class);
            }
            let trailing = (found.close + 1..open).find(|&at| t.text(at) == "->");
            let returns = match trailing {
                Some(arrow) => t.joined(arrow + 1, open),
                None => t.joined(start, start_of_name),
            };
            let mut function = self.function(&name, scope, found.name, returns);
            function.owner = owner;
            function.dynamic = is_virtual(t, start, open);
            let stat = (start..found.name).any(|at| t.text(at) == "static");
            function.internal = (stat && function.owner.is_empty()) || scope.hidden;
            return self.body(function, Some(found.open), open, close, &[], depth);
        }
        if matches!(t.text(first), "class" | "struct" | "union") {
            return self.class(first, open, close, scope, depth);
        }
        if first >= open {
            self.block(open + 1, close, scope, depth + 1);
        }
    }

    fn class(&mut self, first: usize, open: usize, close: usize, scope: &Scope, depth: usize) {
        let t = self.tokens;
        let colon = t.top(first, open).find(|&at| t.text(at) == ":").unwrap_or(open);
        let named =
            t.top(first + 1, colon).filter(|&at| t.word(at) == Some(Word::Name) && t.text(at) != "final").last();
        let name = named.map(|at| t.text(at).to_owned()).unwrap_or_default();
        let mut bases = Vec::new();
        let mut base = "";
        for at in t.top(colon + 1, open) {
            match t.text(at) {
                "," => bases.push(std::mem::take(&mut base).to_owned()),
                "public" | "private" | "protected" | "virtual" => {}
                text if t.word(at) == Some(Word::Name) => base = text,
                _ => {}
            }
        }
        bases.push(base.to_owned());
        bases.retain(|base| !base.is_empty());
        if !name.is_empty() {
            let class = Class { shape: Shape::Struct, bases, ..Class::new(Language::Cpp, &name, t.line(first)) };
            self.part.classes.push(class);
        }
        let inner = Scope { class: if name.is_empty() { scope.class.clone() } else { name }, ..scope.clone() };
        self.block(open + 1, close, &inner, depth + 1);
    }

    /// A declaration that ends in a semicolon: a field, a variable, a prototype, or a type alias.
    fn declaration(&mut self, start: usize, end: usize, scope: &Scope) {
        let t = self.tokens;
        match t.text(start) {
            "using" if t.text(start + 2) == "=" => {
                let of = t.joined(start + 3, end);
                return self.other_name(t.text(start + 1), of, t.line(start));
            }
            "typedef" if end > start + 2 => {
                let of = t.joined(start + 1, end - 1);
                return self.other_name(t.text(end - 1), of, t.line(start));
            }
            "using" | "typedef" | "friend" | "" => return,
            _ => {}
        }
        if let Some(found) = t.signature(start, end) {
            let (owner, name) = t.qualified(found.name);
            if owner.is_empty() {
                let owner = scope.class.clone();
                let returns = t.joined(start, t.start_of_path(found.name));
                let dynamic = is_virtual(t, start, end);
                self.part.prototypes.push((owner, name, returns, dynamic));
            }
            return;
        }
        // A function pointer, such as `enum ggml_status (*graph_compute)(ggml_backend_t backend)`.
        let pointer = t.top(start, end).find(|&at| t.text(at) == "(" && t.text(at + 1) == "*" && t.is_name(at + 2));
        if let Some(at) = pointer {
            return self.keep(Local::typed(t.text(at + 2), POINTER.to_owned(), t.line(at)), scope);
        }
        let equals = t.top(start, end).find(|&at| matches!(t.text(at), "=" | "[" | ":")).unwrap_or(end);
        self.variable(start, equals, scope);
    }

    fn other_name(&mut self, name: &str, of: String, line: u32) {
        if lex::is_name(name) {
            self.part.classes.push(Class { shape: Shape::Other(of), ..Class::new(Language::Cpp, name, line) });
        }
    }

    fn variable(&mut self, start: usize, end: usize, scope: &Scope) {
        let t = self.tokens;
        let named = end.checked_sub(1).filter(|&at| at > start && t.word(at) == Some(Word::Name));
        let Some(at) = named else { return };
        let of = t.joined(start, at);
        // `struct x;` is only a forward declaration.
        if !matches!(of.as_str(), "struct" | "class" | "enum" | "union") {
            self.keep(Local::typed(t.text(at), of, t.line(at)), scope);
        }
    }

    fn keep(&mut self, local: Local, scope: &Scope) {
        let class = self.part.classes.iter_mut().rev().find(|class| class.name == scope.class);
        match class {
            Some(class) if !scope.class.is_empty() => class.fields.push(local),
            _ => self.part.globals.push(local),
        }
    }

    fn function(&self, name: &str, scope: &Scope, at: usize, returns: String) -> Function {
        Function {
            owner: scope.class.clone(),
            space: scope.space.clone(),
            internal: scope.hidden,
            returns: vec![returns],
            ..Function::new(Language::Cpp, name, self.tokens.line(at))
        }
    }
}

/// Whether a method is declared virtual or override.
fn is_virtual(t: &Tokens, from: usize, to: usize) -> bool {
    (from..to).any(|at| matches!(t.text(at), "virtual" | "override"))
}

/// Tables of functions: the slot's name is in a comment (`/* .graph_compute = */`) or a designator.
fn tables(t: &Tokens, aliases: &mut Vec<(String, Alias)>) {
    let ends = |at: usize| matches!(t.text(at), "," | "}");
    for at in 0..t.len() {
        let (slot, value) = match t.word(at) {
            Some(Word::Slot) => (t.text(at), at + 1),
            Some(Word::Mark)
                if t.text(at) == "." && at > 0 && matches!(t.text(at - 1), "{" | ",") && t.text(at + 2) == "=" =>
            {
                (t.text(at + 1), at + 3)
            }
            _ => continue,
        };
        if t.word(value) == Some(Word::Name) && ends(value + 1) {
            let alias = Alias { function: t.text(value).to_owned(), file: 0, line: t.line(value), table: true };
            aliases.push((slot.to_owned(), alias));
        }
    }
}
