//! The units of a whole program and what their names mean.

use super::read::{Known, Reader};
use super::read_decl::Declared;
use super::tree::{Body, Class, Expr, Function, Global, Type};
use crate::program::Program;
use crate::syntax::files::{LoadError, Sources, Span};
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{FxMap, FxSet, Sym};
use crate::syntax::vocabulary::Vocabulary;
use std::rc::Rc;

/// An enumerator: the enum, the value, and the enumerator before it.
#[derive(Debug, Clone)]
pub struct Enumerator {
    pub of: Option<Sym>,
    pub value: Option<Expr>,
    pub before: Option<Sym>,
}

#[derive(Debug)]
pub struct Units {
    pub program: Program,
    units: Vec<Rc<Vec<Tok>>>,
    loaded: FxSet<Sym>,
    known: Known,
    seen: FxMap<(u16, u32), usize>,
    pub functions: FxMap<Sym, Vec<Rc<Function>>>,
    pub classes: FxMap<Sym, Vec<Rc<Class>>>,
    pub globals: FxMap<Sym, Vec<Rc<Global>>>,
    pub aliases: FxMap<Sym, Type>,
    pub enumerators: FxMap<Sym, Enumerator>,
    pub enums: FxMap<Sym, Option<Type>>,
}

impl Units {
    pub fn new(vocabulary: &'static Vocabulary, defines: &[(String, Option<String>)]) -> Result<Units, LoadError> {
        let mut program = Program::new(vocabulary, defines)?;
        for word in ["dynamic_cast", "operator", "pair", "first", "second"] {
            program.interner.intern(word);
        }
        Ok(Units {
            program,
            units: Vec::new(),
            loaded: FxSet::default(),
            known: Known::default(),
            seen: FxMap::default(),
            functions: FxMap::default(),
            classes: FxMap::default(),
            globals: FxMap::default(),
            aliases: FxMap::default(),
            enumerators: FxMap::default(),
            enums: FxMap::default(),
        })
    }

    pub fn text(&self, sym: Sym) -> &str {
        self.program.interner.text(sym)
    }

    pub fn sym(&self, text: &str) -> Option<Sym> {
        self.program.interner.get(text)
    }

    pub fn intern(&mut self, text: &str) -> Sym {
        self.program.interner.intern(text)
    }

    pub fn place(&self, at: Span) -> String {
        self.program.files.place(at)
    }

    /// Reads a unit; false if it was read before.
    pub fn load(&mut self, tree: &dyn Sources, path: &str) -> Result<bool, LoadError> {
        let key = self.program.interner.intern(path);
        if !self.loaded.insert(key) {
            return Ok(false);
        }
        let toks = self.program.tokens(tree, path)?;
        let unit = self.units.len();
        prescan(&toks, &self.program.interner, &mut self.known);
        let mut out = Declared::default();
        Reader::new(&toks, 0..toks.len(), &self.program.interner, &self.known, unit).unit(&mut out, &mut self.seen);
        self.units.push(Rc::new(toks));
        self.merge(out);
        Ok(true)
    }

    fn merge(&mut self, out: Declared) {
        for class in out.classes {
            self.classes.entry(class.name).or_default().push(class);
        }
        for (name, ty) in out.aliases {
            self.aliases.entry(name).or_insert(ty);
        }
        for (name, ty) in out.enums {
            self.enums.insert(name, ty);
        }
        let mut before = None;
        for (of, name, value) in out.enumerators {
            let first = value.is_some();
            self.enumerators.insert(name, Enumerator { of, value, before: if first { None } else { before } });
            before = Some(name);
        }
        for global in out.globals {
            self.globals.entry(global.name).or_default().push(global);
        }
        for function in out.functions {
            match self.class_around(&function.within) {
                Some(class) => attach(&class, function),
                None => self.functions.entry(function.name).or_default().push(function),
            }
        }
    }

    /// The class that the last of these names means.
    pub fn class_around(&self, path: &[Sym]) -> Option<Rc<Class>> {
        let (last, before) = path.split_last()?;
        let all = self.classes.get(last)?;
        let fits = |class: &&Rc<Class>| before.iter().rev().zip(class.within.iter().rev()).all(|(a, b)| a == b);
        all.iter().find(|class| class.within == before).or_else(|| all.iter().find(fits)).cloned()
    }

    /// The statements of a function, read when it is first called.
    pub fn body(&self, function: &Rc<Function>) -> Rc<Body> {
        function
            .parsed
            .get_or_init(|| {
                let none = Rc::default();
                let toks = self.units.get(function.unit).unwrap_or(&none);
                let range = function.body.clone().unwrap_or(0..0);
                let mut reader = Reader::new(toks, range, &self.program.interner, &self.known, function.unit);
                Rc::new(reader.body(function.inits.clone()))
            })
            .clone()
    }

    pub fn is_type(&self, name: Sym) -> bool {
        self.classes.contains_key(&name) || self.aliases.contains_key(&name) || self.enums.contains_key(&name)
    }
}

/// Adds the definition of a method, with the defaults of its declaration.
fn attach(class: &Rc<Class>, function: Rc<Function>) {
    let mut methods = class.methods.borrow_mut();
    let same = |other: &Rc<Function>| {
        other.name == function.name
            && other.params.len() == function.params.len()
            && other.params.iter().zip(&function.params).all(|(a, b)| spelled(&a.ty) == spelled(&b.ty))
    };
    let Some(declared) = methods.iter_mut().find(|other| same(other)) else {
        methods.push(function);
        return;
    };
    if declared.body.is_some() && function.body.is_none() {
        return;
    }
    let defaults: Vec<_> = declared.params.iter().map(|param| param.default.clone()).collect();
    let mut params = function.params.clone();
    for (param, default) in params.iter_mut().zip(defaults) {
        param.default = param.default.take().or(default);
    }
    let templates = if function.templates.is_empty() { declared.templates.clone() } else { function.templates.clone() };
    *declared = Rc::new(Function {
        name: function.name,
        within: function.within.clone(),
        templates,
        params,
        variadic: function.variadic,
        ret: function.ret.clone(),
        is_static: declared.is_static || function.is_static,
        unit: function.unit,
        at: function.at,
        body: function.body.clone(),
        inits: function.inits.clone(),
        parsed: std::cell::OnceCell::new(),
    });
}

/// A type's spelling, for comparing declarations.
fn spelled(ty: &Type) -> String {
    use super::tree::Base;
    let base = match &ty.base {
        Base::Name(name) => format!("{:?}", name.last()),
        Base::Int(int) => format!("{int:?}"),
        Base::Float(bits) => format!("f{bits}"),
        Base::Auto => "auto".to_owned(),
        Base::Void => "void".to_owned(),
        Base::Function => "fn".to_owned(),
        Base::Class(class) => format!("{:?}", class.name),
        Base::Decltype(_) | Base::Value(_) => "?".to_owned(),
    };
    format!("{base}{}{}", "*".repeat(usize::from(ty.pointers)), if ty.reference { "&" } else { "" })
}

/// The names of types and templates, which the reader needs before it reads.
fn prescan(toks: &[Tok], interner: &crate::syntax::sym::Interner, known: &mut Known) {
    let text = |at: usize| match toks.get(at) {
        Some(tok) if tok.kind != Kind::String => interner.text(tok.sym),
        _ => "",
    };
    let ident = |at: usize| toks.get(at).filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym);
    for at in 0..toks.len() {
        match text(at) {
            "struct" | "class" | "enum" | "union" => {
                let mut next = at + 1;
                if matches!(text(next), "class" | "struct") {
                    next += 1;
                }
                if let Some(name) = ident(next) {
                    known.types.insert(name);
                }
            }
            "using" if text(at + 2) == "=" => known.types.extend(ident(at + 1)),
            "typename" => known.types.extend(ident(at + 1)),
            "typedef" => {
                let mut next = at + 1;
                let mut depth = 0usize;
                let mut last = None;
                while next < toks.len() && !(depth == 0 && text(next) == ";") {
                    match text(next) {
                        "{" => depth += 1,
                        "}" => depth = depth.saturating_sub(1),
                        "(" if depth == 0 && text(next + 1) == "*" => {
                            last = ident(next + 2);
                            break;
                        }
                        "(" | "[" if depth == 0 && last.is_some() => break,
                        _ if depth == 0 => last = ident(next).or(last),
                        _ => {}
                    }
                    next += 1;
                }
                known.types.extend(last);
            }
            "template" if text(at + 1) == "<" => {
                // The name before the first `(`, `{`, `:`, `=` or `;` behind the parameters.
                let mut next = at + 1;
                let mut depth = 0usize;
                while next < toks.len() {
                    match text(next) {
                        "<" => depth += 1,
                        ">" => {
                            depth -= 1;
                            if depth == 0 {
                                break;
                            }
                        }
                        "(" | ";" if depth == 0 => break,
                        _ => {}
                    }
                    next += 1;
                }
                let mut last = None;
                let mut inner = 0usize;
                for behind in next + 1..(next + 200).min(toks.len()) {
                    match text(behind) {
                        "<" => inner += 1,
                        ">" => inner = inner.saturating_sub(1),
                        "(" | "{" | ";" | "=" if inner == 0 => break,
                        ":" if inner == 0 => break,
                        _ if inner == 0 => last = ident(behind).or(last),
                        _ => {}
                    }
                }
                known.templates.extend(last);
            }
            _ => {}
        }
    }
}
