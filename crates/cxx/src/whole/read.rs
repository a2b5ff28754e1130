//! The reader of whole programs: a cursor over tokens, types and names.

use super::tree::{Base, Expr, Name, Template, Type};
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::lex::{Kind, SPACE, Tok};
use crate::syntax::sym::{FxSet, Interner, Sym};
use std::rc::Rc;

/// The reader does not know this construct.
#[derive(Debug, Clone, Copy)]
pub struct Stuck;

pub type Parsed<T> = Result<T, Stuck>;

/// The names of types and templates in all units read so far.
#[derive(Debug, Default)]
pub struct Known {
    pub types: FxSet<Sym>,
    pub templates: FxSet<Sym>,
}

/// The most levels of nesting.
const DEEPEST: usize = 300;

pub struct Reader<'a> {
    pub toks: &'a [Tok],
    pub pos: usize,
    pub end: usize,
    pub interner: &'a Interner,
    pub known: &'a Known,
    pub unit: usize,
    /// Inside template arguments, `>` closes the list.
    pub angle: bool,
    pub depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(
        toks: &'a [Tok],
        range: std::ops::Range<usize>,
        interner: &'a Interner,
        known: &'a Known,
        unit: usize,
    ) -> Reader<'a> {
        let end = range.end.min(toks.len());
        Reader { toks, pos: range.start.min(end), end, interner, known, unit, angle: false, depth: 0 }
    }

    pub fn tok(&self, by: usize) -> Option<&'a Tok> {
        let at = self.pos + by;
        if at < self.end { self.toks.get(at) } else { None }
    }

    /// The spelling of a name, keyword or symbol; empty for literals.
    pub fn text(&self, by: usize) -> &'a str {
        match self.tok(by) {
            Some(tok) if matches!(tok.kind, Kind::Ident | Kind::Punct) => self.interner.text(tok.sym),
            _ => "",
        }
    }

    pub fn is(&self, by: usize, text: &str) -> bool {
        self.text(by) == text
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let is = self.is(0, text);
        self.pos += usize::from(is);
        is
    }

    pub fn want(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(Stuck) }
    }

    pub fn done(&self) -> bool {
        self.pos >= self.end
    }

    pub fn is_name(&self, by: usize) -> bool {
        self.tok(by).is_some_and(|tok| tok.kind == Kind::Ident) && !is_word(self.text(by))
    }

    pub fn ident(&mut self) -> Parsed<Sym> {
        if !self.is_name(0) {
            return Err(Stuck);
        }
        let sym = self.tok(0).map(|tok| tok.sym).ok_or(Stuck)?;
        self.pos += 1;
        Ok(sym)
    }

    pub fn span(&self) -> Span {
        let here = self.tok(0).or_else(|| self.toks.get(self.pos.saturating_sub(1)));
        here.map_or(Span::default(), Span::of)
    }

    pub fn since(&self, start: Span) -> Span {
        let last = self.toks.get(self.pos.saturating_sub(1)).map_or(start, Span::of);
        start.to(last)
    }

    /// Whether two symbols follow each other without a space, as in `>>`.
    pub fn joined(&self, by: usize) -> bool {
        self.tok(by).is_some_and(|tok| tok.flags & SPACE == 0)
    }

    pub fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(Stuck) } else { Ok(()) }
    }

    /// Skips from an opening bracket to behind its closing one.
    pub fn skip_group(&mut self) {
        let mut depth = 0usize;
        while !self.done() {
            match self.text(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.pos += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips `<...>`.
    pub fn skip_angles(&mut self) {
        let mut depth = 0usize;
        while !self.done() {
            match self.text(0) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                "(" | "[" | "{" => {
                    self.skip_group();
                    continue;
                }
                ";" => return,
                _ => {}
            }
            self.pos += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Words that do not change a type. Returns whether `static` and `const` were among them.
    pub fn specifiers(&mut self) -> (bool, bool, bool) {
        let (mut is_static, mut constant, mut external) = (false, false, false);
        loop {
            match self.text(0) {
                "static" | "thread_local" => is_static = true,
                "const" | "constexpr" | "consteval" | "constinit" => constant = true,
                "extern" => external = true,
                "inline" | "volatile" | "register" | "mutable" | "virtual" | "explicit" | "typename" | "restrict"
                | "__restrict__" | "__restrict" | "__inline" | "__extension__" | "_Thread_local" | "noexcept"
                | "friend" => {}
                "__attribute__" | "alignas" | "__declspec" | "_Alignas" => {
                    self.pos += 1;
                    if self.is(0, "(") {
                        self.skip_group();
                    }
                    continue;
                }
                "[" if self.is(1, "[") => {
                    self.skip_group();
                    continue;
                }
                _ => return (is_static, constant, external),
            }
            self.pos += 1;
        }
    }

    /// Whether a type begins here.
    pub fn starts_type(&self) -> bool {
        match self.text(0) {
            "const" | "struct" | "class" | "enum" | "union" | "auto" | "typename" | "constexpr" | "static"
            | "decltype" | "thread_local" | "volatile" => true,
            text if builtin(text) => true,
            "std" => self.is(1, "::") && !matches!(self.text(2), text if is_std_function(text)),
            "::" => self.tok(1).is_some_and(|tok| self.known.types.contains(&tok.sym)),
            "" => false,
            _ => {
                let mut at = 0;
                // `a::b`: the last name decides, past template arguments of classes.
                while self.is_name(at) && self.is(at + 1, "::") && self.is_name(at + 2) {
                    at += 2;
                }
                self.tok(at).is_some_and(|tok| tok.kind == Kind::Ident && self.known.types.contains(&tok.sym))
            }
        }
    }

    /// A type with its stars; dims follow a declared name.
    pub fn full_type(&mut self) -> Parsed<Type> {
        let mut ty = self.base_type()?;
        self.stars(&mut ty);
        // A function type or a pointer to a function.
        if self.is(0, "(") && (self.is(1, "*") || self.angle) {
            self.skip_group();
            if self.is(0, "(") {
                self.skip_group();
            }
            ty.base = Base::Function;
        }
        if self.is(0, "[") && !self.is(1, "[") {
            self.dims(&mut ty)?;
        }
        Ok(ty)
    }

    pub fn stars(&mut self, ty: &mut Type) {
        loop {
            match self.text(0) {
                "*" => ty.pointers += 1,
                "&" | "&&" => ty.reference = true,
                "const" | "volatile" | "restrict" | "__restrict__" | "__restrict" => {}
                _ => return,
            }
            self.pos += 1;
        }
    }

    pub fn dims(&mut self, ty: &mut Type) -> Parsed<()> {
        while self.is(0, "[") && !self.is(1, "[") {
            self.pos += 1;
            let size = if self.is(0, "]") {
                None
            } else {
                let angle = std::mem::replace(&mut self.angle, false);
                let size = self.expression();
                self.angle = angle;
                Some(size?)
            };
            self.want("]")?;
            ty.dims.push(size);
        }
        Ok(())
    }

    pub fn base_type(&mut self) -> Parsed<Type> {
        let (_, mut constant, _) = self.specifiers();
        let base = self.base()?;
        let after = self.specifiers();
        constant |= after.1;
        Ok(Type { base, pointers: 0, reference: false, constant, dims: Vec::new() })
    }

    fn base(&mut self) -> Parsed<Base> {
        match self.text(0) {
            "auto" => {
                self.pos += 1;
                return Ok(Base::Auto);
            }
            "decltype" => {
                self.pos += 1;
                self.want("(")?;
                let of = self.expression()?;
                self.want(")")?;
                return Ok(Base::Decltype(Box::new(of)));
            }
            "struct" | "class" | "union" | "enum" => {
                self.pos += 1;
                self.specifiers();
                return Ok(Base::Name(Rc::new(self.name()?)));
            }
            _ => {}
        }
        if let Some(base) = self.number_type() {
            return Ok(base);
        }
        Ok(Base::Name(Rc::new(self.name()?)))
    }

    fn number_type(&mut self) -> Option<Base> {
        let at = if self.is(0, "std") && self.is(1, "::") { 2 } else { 0 };
        if let Some(ty) = sized(self.text(at)) {
            self.pos += at + 1;
            return Some(Base::Int(ty));
        }
        let (mut long, mut short, mut unsigned, mut seen, mut any) = (0, false, false, "", false);
        loop {
            match self.text(0) {
                "unsigned" => unsigned = true,
                "signed" => {}
                "long" => long += 1,
                "short" => short = true,
                "const" | "volatile" if any => {}
                text @ ("int" | "char" | "void" | "bool" | "_Bool" | "float" | "double") if seen.is_empty() => {
                    seen = text;
                }
                _ => break,
            }
            any = true;
            self.pos += 1;
        }
        if !any {
            return None;
        }
        let int = |bits| Base::Int(IntTy::new(bits, !unsigned));
        Some(match seen {
            "void" => Base::Void,
            "bool" | "_Bool" => Base::Int(IntTy::Bool),
            "float" => Base::Float(32),
            "double" => Base::Float(64),
            "char" => int(8),
            _ if short => int(16),
            _ if long > 0 => int(64),
            _ => int(32),
        })
    }

    pub fn name(&mut self) -> Parsed<Name> {
        self.eat("::");
        let mut path = Vec::new();
        loop {
            self.eat("template");
            if self.eat("operator") {
                // `operator()`, `operator==`: kept under its symbol.
                let sym = self.tok(0).map(|tok| tok.sym).ok_or(Stuck)?;
                self.pos += 1;
                if self.is(0, ")") || self.is(0, "]") {
                    self.pos += 1;
                }
                path.push((sym, None));
                return Ok(Name { path });
            }
            let sym = self.ident()?;
            let std = path.first().is_some_and(|(first, _)| self.interner.text(*first) == "std");
            let args = if self.is(0, "<") && (std || self.known.templates.contains(&sym)) {
                self.try_arguments()
            } else {
                None
            };
            path.push((sym, args));
            if !(self.is(0, "::") && (self.is_name(1) || self.is(1, "template") || self.is(1, "operator"))) {
                return Ok(Name { path });
            }
            self.pos += 1;
        }
    }

    /// `<a, b>`; nothing is taken if it does not parse.
    pub fn try_arguments(&mut self) -> Option<Vec<Type>> {
        let (pos, depth, angle) = (self.pos, self.depth, self.angle);
        self.angle = true;
        let list = self.arguments_of_template();
        self.angle = angle;
        self.depth = depth;
        if list.is_err() {
            self.pos = pos;
        }
        list.ok()
    }

    fn arguments_of_template(&mut self) -> Parsed<Vec<Type>> {
        self.deeper()?;
        self.want("<")?;
        let mut list = Vec::new();
        while !self.is(0, ">") {
            list.push(self.template_argument()?);
            self.eat("...");
            if !self.eat(",") {
                break;
            }
        }
        self.want(">")?;
        Ok(list)
    }

    pub fn template_argument(&mut self) -> Parsed<Type> {
        let pos = self.pos;
        if self.starts_type()
            && let Ok(ty) = self.full_type()
            && matches!(self.text(0), "," | ">" | "...")
        {
            return Ok(ty);
        }
        self.pos = pos;
        let value = self.assignment()?;
        Ok(value_type(value))
    }

    /// `template <...>`.
    pub fn templates(&mut self) -> Parsed<Vec<Template>> {
        self.want("template")?;
        self.want("<")?;
        let angle = std::mem::replace(&mut self.angle, true);
        let list = self.template_list();
        self.angle = angle;
        let list = list?;
        self.want(">")?;
        Ok(list)
    }

    fn template_list(&mut self) -> Parsed<Vec<Template>> {
        let mut list = Vec::new();
        while !self.is(0, ">") {
            let is_type = self.is(0, "typename") || self.is(0, "class");
            if is_type {
                self.pos += 1;
            } else {
                self.full_type()?;
            }
            let pack = self.eat("...");
            let name = if self.is_name(0) { Some(self.ident()?) } else { None };
            let default = if self.eat("=") { Some(self.template_argument()?) } else { None };
            list.push(Template { name, is_type, default, pack });
            if !self.eat(",") {
                break;
            }
        }
        Ok(list)
    }
}

pub fn value_type(value: Expr) -> Type {
    Type { base: Base::Value(Box::new(value)), pointers: 0, reference: false, constant: true, dims: Vec::new() }
}

/// Words that are never names.
pub fn is_word(text: &str) -> bool {
    matches!(
        text,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "switch"
            | "case"
            | "default"
            | "return"
            | "break"
            | "continue"
            | "goto"
            | "struct"
            | "class"
            | "union"
            | "enum"
            | "const"
            | "static"
            | "sizeof"
            | "new"
            | "delete"
            | "throw"
            | "try"
            | "catch"
            | "this"
            | "nullptr"
            | "true"
            | "false"
            | "template"
            | "typename"
            | "using"
            | "typedef"
            | "namespace"
            | "operator"
            | "public"
            | "private"
            | "protected"
            | "virtual"
            | "auto"
            | "constexpr"
            | "volatile"
            | "friend"
            | "static_cast"
            | "const_cast"
            | "dynamic_cast"
            | "reinterpret_cast"
            | "decltype"
            | "extern"
            | "inline"
    ) || builtin(text)
}

fn builtin(text: &str) -> bool {
    matches!(
        text,
        "void" | "bool" | "_Bool" | "char" | "short" | "int" | "long" | "float" | "double" | "signed" | "unsigned"
    ) || sized(text).is_some()
}

fn sized(text: &str) -> Option<IntTy> {
    Some(match text {
        "int8_t" => IntTy::I8,
        "uint8_t" => IntTy::U8,
        "int16_t" => IntTy::I16,
        "uint16_t" => IntTy::U16,
        "int32_t" => IntTy::I32,
        "uint32_t" => IntTy::U32,
        "int64_t" | "ptrdiff_t" | "intptr_t" | "ssize_t" => IntTy::I64,
        "uint64_t" | "size_t" | "uintptr_t" => IntTy::U64,
        _ => return None,
    })
}

/// Functions of `std` that are called without template arguments of a type.
fn is_std_function(text: &str) -> bool {
    matches!(
        text,
        "move"
            | "rotate"
            | "min"
            | "max"
            | "swap"
            | "forward"
            | "get"
            | "fill"
            | "copy"
            | "sort"
            | "to_string"
            | "make_unique"
            | "make_shared"
            | "make_pair"
            | "make_tuple"
            | "tie"
            | "abs"
            | "floor"
            | "ceil"
            | "sqrt"
            | "pow"
            | "log"
            | "log2"
            | "exp"
            | "round"
            | "find"
            | "find_if"
            | "any_of"
            | "all_of"
            | "none_of"
            | "count"
            | "count_if"
            | "max_element"
            | "min_element"
            | "accumulate"
            | "upper_bound"
            | "lower_bound"
            | "begin"
            | "end"
            | "next"
            | "prev"
            | "distance"
            | "ref"
            | "cref"
            | "isfinite"
            | "isnan"
            | "isinf"
            | "memcpy"
            | "memset"
            | "iota"
            | "transform"
            | "stoi"
            | "stof"
            | "getenv"
            | "equal"
            | "fill_n"
            | "remove_if"
            | "unique"
            | "reverse"
            | "lround"
            | "size"
            | "data"
            | "fabs"
            | "cout"
            | "cerr"
            | "regex_search"
            | "for_each"
            | "clamp"
            | "atoi"
            | "strlen"
            | "strcmp"
            | "snprintf"
            | "copy_n"
            | "partial_sort"
            | "nth_element"
            | "stable_sort"
            | "is_same_v"
            | "advance"
            | "exchange"
            | "bind"
            | "abort"
            | "malloc"
            | "free"
            | "isspace"
            | "tolower"
    )
}
