//! The modules of a crate, with their declarations, imports and mentions.

use super::tokens::{Tokens, product_tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names from the crate's root to a module, or a path as written.
pub type Names = Vec<String>;

/// `use path as name`; `name` is `*` for a glob.
pub struct Import {
    pub path: Names,
    pub name: String,
    pub public: bool,
}

#[derive(Default)]
pub struct Module {
    pub file: PathBuf,
    pub children: BTreeSet<String>,
    /// Functions, types, constants and macros that are defined here.
    pub items: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// Paths of two or more names outside `use`.
    pub paths: BTreeSet<Names>,
    /// Every word outside `use`.
    pub words: BTreeSet<String>,
}

pub type Modules = BTreeMap<Names, Module>;

/// Every module of the crate whose root file this is.
pub fn modules(root: &Path) -> Modules {
    let mut found = Modules::new();
    read_file(root, root.parent().expect("a folder"), Vec::new(), &mut found);
    found
}

/// `folder` contains the files of the module's children.
fn read_file(file: &Path, folder: &Path, at: Names, found: &mut Modules) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    Reader { tokens: product_tokens(&text), next: 0, file, found }.module(folder, at);
}

struct Reader<'a> {
    tokens: Tokens,
    next: usize,
    file: &'a Path,
    found: &'a mut Modules,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> &str {
        self.tokens.get(self.next + ahead).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.next += 1;
        self.tokens.get(self.next - 1).cloned().unwrap_or_default()
    }

    fn module(&mut self, folder: &Path, at: Names) {
        let mut module = Module { file: self.file.to_owned(), ..Module::default() };
        let (mut depth, mut public, mut before) = (0usize, false, String::new());
        while self.next < self.tokens.len() {
            let token = self.take();
            match token.as_str() {
                "}" if depth == 0 => break,
                "}" => depth -= 1,
                "{" => depth += 1,
                "mod" if is_name(self.peek(0)) => self.child(folder, &at, &mut module),
                "use" if self.peek(0) != "<" => self.import(Names::new(), public, &mut module.imports),
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                    if depth == 0 && before != "*" =>
                {
                    module.items.insert(self.peek(0).to_owned());
                }
                "macro_rules" => drop(module.items.insert(self.peek(1).to_owned())),
                word if is_name(word) => self.mention(&token, &mut module),
                _ => {}
            }
            public = token == "pub" || public && !matches!(token.as_str(), ";" | "{" | "}" | "use");
            before = token;
        }
        self.found.insert(at, module);
    }

    fn child(&mut self, folder: &Path, at: &Names, module: &mut Module) {
        let name = self.take();
        module.children.insert(name.clone());
        let below = [at.as_slice(), std::slice::from_ref(&name)].concat();
        let folder = folder.join(&name);
        if self.take() == "{" {
            self.module(&folder, below);
        } else {
            let inside = folder.join("mod.rs");
            let file = if inside.is_file() { inside } else { folder.with_extension("rs") };
            read_file(&file, &folder, below, self.found);
        }
    }

    /// One tree of a `use`, with the names that lead to it.
    fn import(&mut self, mut path: Names, public: bool, imports: &mut Vec<Import>) {
        loop {
            match self.take().as_str() {
                "::" => continue,
                "{" => {
                    while self.peek(0) != "}" && self.next < self.tokens.len() {
                        self.import(path.clone(), public, imports);
                    }
                    self.next += 1;
                    return self.end_of_tree();
                }
                "*" => {
                    imports.push(Import { path, name: "*".to_owned(), public });
                    return self.end_of_tree();
                }
                "self" if !path.is_empty() => {}
                name => path.push(name.to_owned()),
            }
            if self.peek(0) != "::" {
                break;
            }
        }
        let name =
            if self.peek(0) == "as" { self.peek(1).to_owned() } else { path.last().cloned().unwrap_or_default() };
        self.next += if self.peek(0) == "as" { 2 } else { 0 };
        imports.push(Import { path, name, public });
        self.end_of_tree();
    }

    fn end_of_tree(&mut self) {
        self.next += usize::from(matches!(self.peek(0), "," | ";"));
    }

    fn mention(&mut self, first: &str, module: &mut Module) {
        let mut path = vec![first.to_owned()];
        while self.peek(0) == "::" && is_name(self.peek(1)) {
            path.push(self.peek(1).to_owned());
            self.next += 2;
        }
        module.words.insert(first.to_owned());
        if path.len() > 1 {
            module.paths.insert(path);
        }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}
