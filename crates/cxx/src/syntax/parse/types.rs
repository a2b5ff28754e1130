//! Types: specifiers in any order, qualified and templated names, pointers, references, arrays.

use super::{Parsed, Parser, Stuck};
use crate::syntax::ast::{Base, INTERNAL, Name, Root, Segment, TemplateArg, Type, WEAK};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};
use crate::syntax::vocabulary::Word;

/// The specifiers before a declarator, other than the type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Specifiers {
    pub attrs: u8,
    pub is_static: bool,
    pub fixed: bool,
    pub external: bool,
    /// Whether the declaration is `thread_local`. In a function, the variable then has the lifetime of a static.
    pub thread: bool,
}

impl Parser<'_> {
    /// Skips words that do not affect values: attributes, inlining, irrelevant storage classes.
    pub(super) fn skip_attributes(&mut self, into: &mut Specifiers) {
        while let Some(tok) = self.peek() {
            match tok.sym {
                _ if tok.kind != crate::syntax::lex::Kind::Ident && !tok.is(sym::LBRACKET) => return,
                sym::STATIC => {
                    into.is_static = true;
                    into.attrs |= INTERNAL;
                }
                sym::CONST | sym::CONSTEXPR | sym::CONSTEVAL | sym::CONSTINIT => into.fixed = true,
                sym::EXTERN => into.external = true,
                sym::THREAD_LOCAL => into.thread = true,
                sym::INLINE
                | sym::VOLATILE
                | sym::REGISTER
                | sym::MUTABLE
                | sym::VIRTUAL
                | sym::EXPLICIT
                | sym::FORCEINLINE
                | sym::NOINLINE
                | sym::INLINE_GNU
                | sym::INLINE_MS
                | sym::EXTENSION
                | sym::RESTRICT
                | sym::RESTRICT_GNU
                | sym::RESTRICT_MS
                | sym::TYPENAME => {}
                sym::ATTRIBUTE | sym::DECLSPEC | sym::ALIGNAS | sym::ALIGN => {
                    let from = self.pos;
                    self.skip_with_arguments();
                    let words = self.toks.get(from..self.pos).unwrap_or_default();
                    if words.iter().any(|tok| matches!(self.interner.text(tok.sym), "weak" | "__weak__")) {
                        into.attrs |= WEAK;
                    }
                    continue;
                }
                sym::LBRACKET if self.at_ahead(1, sym::LBRACKET) => {
                    self.skip_balanced();
                    continue;
                }
                word => match self.interner.word(word) {
                    Some(Word::Mark(bits)) => into.attrs |= bits,
                    Some(Word::Ignored | Word::Storage) => {}
                    Some(Word::WithArguments) => {
                        self.skip_with_arguments();
                        continue;
                    }
                    None => return,
                },
            }
            self.pos += 1;
        }
    }

    fn skip_with_arguments(&mut self) {
        self.pos += 1;
        if self.at(sym::LPAREN) {
            self.skip_balanced();
        }
    }

    /// A type without the stars of its declarator; qualifiers may be on either side.
    pub(super) fn specified_type(&mut self, into: &mut Specifiers) -> Parsed<Type> {
        let start = self.span();
        self.skip_attributes(into);
        let base = self.base(into)?;
        self.skip_attributes(into);
        let constant = into.fixed;
        Ok(Type { base, pointers: 0, reference: false, constant, dims: Vec::new(), span: self.since(start) })
    }

    fn base(&mut self, into: &mut Specifiers) -> Parsed<Base> {
        let Some(tok) = self.peek() else { return Err(Stuck) };
        match tok.sym {
            // `static const struct { ... } table[]`.
            sym::STRUCT | sym::CLASS | sym::UNION if self.at_ahead(1, sym::LBRACE) => {
                return Ok(Base::Inline(self.struct_definition(Vec::new())?));
            }
            sym::STRUCT | sym::CLASS | sym::UNION | sym::ENUM => {
                self.pos += 1;
                self.skip_attributes(into);
                return Ok(Base::Name(Box::new(self.name()?)));
            }
            sym::AUTO => {
                self.pos += 1;
                return Ok(Base::Auto);
            }
            sym::DECLTYPE => {
                self.pos += 1;
                let inner = self.decltype()?;
                if self.at(sym::SCOPE) {
                    let name = self.name_from(Root::Decltype(Box::new(inner)))?;
                    return Ok(Base::Name(Box::new(name)));
                }
                return Ok(Base::Decltype(Box::new(inner)));
            }
            _ => {}
        }
        if let Some(base) = self.builtin(into) {
            return Ok(base);
        }
        if !self.is_ident(0) && !self.at(sym::SCOPE) {
            return Err(Stuck);
        }
        if let Some(slot) = self.peek().and_then(|tok| self.local(tok.sym))
            && !self.at_ahead(1, sym::SCOPE)
        {
            self.pos += 1;
            self.mark_used(slot);
            return Ok(Base::Local(slot));
        }
        let named = self.peek().map(|tok| tok.sym);
        if let Some((_, found)) = self.local_structs.iter().rev().find(|(name, _)| Some(*name) == named) {
            let found = found.clone();
            self.pos += 1;
            return Ok(Base::Inline(found));
        }
        Ok(Base::Name(Box::new(self.name()?)))
    }

    pub(super) fn decltype(&mut self) -> Parsed<crate::syntax::ast::Expr> {
        self.want(sym::LPAREN)?;
        let inner = self.expression()?;
        self.want(sym::RPAREN)?;
        Ok(inner)
    }

    /// Parses words of built-in types: `unsigned long long`, `size_t`, `half`.
    fn builtin(&mut self, into: &mut Specifiers) -> Option<Base> {
        let (mut longs, mut short, mut unsigned, mut seen) = (0u8, false, false, None);
        let mut any = false;
        while let Some(tok) = self.peek() {
            match tok.sym {
                sym::UNSIGNED => unsigned = true,
                sym::SIGNED => {}
                sym::LONG => longs += 1,
                sym::SHORT => short = true,
                sym::INT | sym::CHAR | sym::VOID | sym::BOOL | sym::BOOL_C | sym::FLOAT | sym::DOUBLE
                    if seen.is_none() =>
                {
                    seen = Some(tok.sym);
                }
                sym::CONST | sym::VOLATILE | sym::CONSTEXPR | sym::STATIC if any => {
                    into.fixed |= tok.sym != sym::STATIC && tok.sym != sym::VOLATILE;
                }
                _ => break,
            }
            any = true;
            self.pos += 1;
        }
        if any {
            let int = |bits| Base::Int { bits, signed: !unsigned };
            return Some(match seen {
                Some(sym::VOID) => Base::Void,
                Some(sym::BOOL | sym::BOOL_C) => Base::Bool,
                Some(sym::FLOAT) => Base::Float(32),
                Some(sym::DOUBLE) => Base::Float(if longs > 0 { 128 } else { 64 }),
                Some(sym::CHAR) => int(8),
                _ if short => int(16),
                _ if longs > 0 => int(64),
                _ => int(32),
            });
        }
        let std = self.at(sym::STD) && self.at_ahead(1, sym::SCOPE);
        let at = if std { 2 } else { 0 };
        let (bits, signed) = fixed_width(self.ahead(at)?.sym)?;
        self.pos += at + 1;
        Some(Base::Int { bits, signed })
    }

    /// Parses `*`, `&`, `const` and `__restrict__` after a type.
    pub(super) fn stars(&mut self, ty: &mut Type) {
        while let Some(tok) = self.peek() {
            match tok.sym {
                sym::STAR => ty.pointers = ty.pointers.saturating_add(1),
                sym::AMP | sym::ANDAND => ty.reference = true,
                sym::CONST | sym::VOLATILE | sym::RESTRICT | sym::RESTRICT_GNU | sym::RESTRICT_MS => {}
                sym::ATTRIBUTE => {
                    self.pos += 1;
                    self.skip_balanced();
                    continue;
                }
                _ => break,
            }
            self.pos += 1;
        }
    }

    /// Parses array dimensions after a name: `[4][N]`.
    pub(super) fn dims(&mut self, ty: &mut Type) -> Parsed<()> {
        while self.at(sym::LBRACKET) && !self.at_ahead(1, sym::LBRACKET) {
            self.pos += 1;
            let size = if self.at(sym::RBRACKET) { None } else { Some(self.expression()?) };
            self.want(sym::RBRACKET)?;
            ty.dims.push(size);
        }
        Ok(())
    }

    /// A whole type as in a cast or a template argument: `const float * const *`.
    pub(super) fn type_id(&mut self) -> Parsed<Type> {
        Ok(self.type_around()?.0)
    }

    /// A type, and the name inside it if it declares a function pointer: `float (*op)(float)`.
    pub(super) fn type_around(&mut self) -> Parsed<(Type, Option<Sym>)> {
        let mut specifiers = Specifiers::default();
        let mut ty = self.specified_type(&mut specifiers)?;
        self.stars(&mut ty);
        let mut name = None;
        // A function type, as in std::function<int(int)>, or a pointer to one.
        if self.at(sym::LPAREN) && (self.at_ahead(1, sym::STAR) || self.angle) {
            if (self.at_ahead(1, sym::STAR) || self.at_ahead(1, sym::AMP)) && self.is_ident(2) {
                name = self.ahead(2).map(|tok| tok.sym).filter(|_| self.at_ahead(3, sym::RPAREN));
            }
            self.skip_balanced();
            if self.at(sym::LPAREN) {
                self.skip_balanced();
            }
            ty.base = Base::Function;
        }
        self.dims(&mut ty)?;
        Ok((ty, name))
    }

    pub(super) fn name(&mut self) -> Parsed<Name> {
        self.eat(sym::SCOPE);
        let first = self.peek().ok_or(Stuck)?.sym;
        if let Some(slot) = self.local(first)
            && self.at_ahead(1, sym::SCOPE)
        {
            self.pos += 1;
            self.mark_used(slot);
            return self.name_from(Root::Local(slot));
        }
        self.path(Root::Global)
    }

    fn name_from(&mut self, root: Root) -> Parsed<Name> {
        self.want(sym::SCOPE)?;
        self.path(root)
    }

    fn path(&mut self, root: Root) -> Parsed<Name> {
        // Most names are one word.
        let mut path = Vec::with_capacity(1);
        loop {
            self.eat(sym::TEMPLATE);
            self.eat(sym::TILDE);
            let sym = self.ident()?;
            let args = if self.at(sym::LT) && self.templated(sym, &path) { self.try_template_args() } else { None };
            path.push(Segment { sym, args });
            if !(self.at(sym::SCOPE) && (self.is_ident(1) || self.at_ahead(1, sym::TEMPLATE))) {
                return Ok(Name { root, path });
            }
            self.pos += 1;
        }
    }

    /// Whether `<` after this name can open an argument list: for a name of `std` or a known template.
    fn templated(&self, name: Sym, before: &[Segment]) -> bool {
        let std = before.first().is_some_and(|segment| segment.sym == sym::STD);
        std || self.is_template(name) || self.local_types.contains(&name)
    }

    /// Parses a template argument list `<...>`. None, with nothing consumed, if it does not parse as a list.
    pub(super) fn try_template_args(&mut self) -> Option<Vec<TemplateArg>> {
        let mark = self.mark();
        let (angle, configured) = (self.angle, self.configured);
        (self.angle, self.configured) = (true, false);
        let args = self.template_args();
        (self.angle, self.configured) = (angle, configured);
        if args.is_err() {
            self.rewind(mark);
        }
        args.ok()
    }

    fn template_args(&mut self) -> Parsed<Vec<TemplateArg>> {
        self.deeper()?;
        self.want(sym::LT)?;
        let mut args = Vec::new();
        while !self.at(sym::GT) {
            let arg = self.template_arg()?;
            let expanded = self.eat(sym::ELLIPSIS);
            args.push(match arg {
                // A pack with arguments, as in `of<T, I>...`. A bare pack expands to its content everywhere.
                TemplateArg::Type(ty) if expanded && ty.has_arguments() => TemplateArg::Expansion(ty),
                arg => arg,
            });
            if !self.eat(sym::COMMA) {
                break;
            }
        }
        self.depth -= 1;
        self.want(sym::GT)?;
        Ok(args)
    }

    pub(super) fn template_arg(&mut self) -> Parsed<TemplateArg> {
        let mark = self.mark();
        if (self.starts_type() || self.qualified_type(&[sym::COMMA, sym::GT, sym::STAR, sym::AMP]))
            && let Ok(ty) = self.type_id()
            && (self.at(sym::COMMA) || self.at(sym::GT) || self.at(sym::ELLIPSIS))
        {
            return Ok(TemplateArg::Type(ty));
        }
        self.rewind(mark);
        Ok(TemplateArg::Expr(self.assignment()?))
    }

    /// Whether `space::Type` begins here, with one of these tokens behind it: a known type in a namespace.
    pub(super) fn qualified_type(&self, before: &[Sym]) -> bool {
        let mut at = 0;
        while self.is_ident(at) && self.at_ahead(at + 1, sym::SCOPE) {
            at += 2;
        }
        at > 0
            && self.is_ident(at)
            && self.ahead(at).is_some_and(|tok| self.is_type_name(tok.sym))
            && before.iter().any(|next| self.at_ahead(at + 1, *next))
    }

    /// Whether a type, rather than a value, begins here.
    pub(super) fn starts_type(&self) -> bool {
        let Some(tok) = self.peek() else { return false };
        if tok.kind != crate::syntax::lex::Kind::Ident {
            return tok.is(sym::SCOPE)
                && self.is_ident(1)
                && self.ahead(1).is_some_and(|tok| self.is_type_name(tok.sym));
        }
        match tok.sym {
            sym::VOID
            | sym::BOOL
            | sym::BOOL_C
            | sym::CHAR
            | sym::SHORT
            | sym::INT
            | sym::LONG
            | sym::FLOAT
            | sym::DOUBLE
            | sym::SIGNED
            | sym::UNSIGNED
            | sym::AUTO
            | sym::STRUCT
            | sym::CLASS
            | sym::UNION
            | sym::ENUM
            | sym::CONST
            | sym::VOLATILE
            | sym::TYPENAME
            | sym::CONSTEXPR
            | sym::DECLTYPE => return true,
            name if fixed_width(name).is_some() => return true,
            _ => {}
        }
        if tok.sym == sym::STD && self.at_ahead(1, sym::SCOPE) {
            return self.ahead(2).is_some_and(|tok| self.is_std_type(tok.sym));
        }
        if self.local(tok.sym).is_some() && !self.local_types.contains(&tok.sym) {
            return false;
        }
        self.is_type_name(tok.sym)
    }

    fn is_std_type(&self, name: Sym) -> bool {
        const TYPES: &[&str] = &[
            "array",
            "vector",
            "pair",
            "string",
            "map",
            "unordered_map",
            "set",
            "unordered_set",
            "function",
            "mutex",
            "atomic",
            "unique_ptr",
            "shared_ptr",
            "unique_lock",
            "lock_guard",
            "tuple",
            "optional",
            "initializer_list",
            "true_type",
            "false_type",
            "integral_constant",
            "make_index_sequence",
            "bool_constant",
            "conditional",
            "conditional_t",
            "ostringstream",
            "stringstream",
            "string_view",
            "nullptr_t",
            "remove_reference_t",
            "decay_t",
            "future",
            "weak_ptr",
            "deque",
        ];
        fixed_width(name).is_some() || TYPES.contains(&self.interner.text(name))
    }

    pub(super) fn unknown_type(&self, span: Span) -> Type {
        Type { base: Base::Auto, pointers: 0, reference: false, constant: false, dims: Vec::new(), span }
    }
}

pub(super) fn fixed_width(name: Sym) -> Option<(u8, bool)> {
    Some(match name {
        sym::INT8_T | sym::INT_FAST8_T | sym::INT_LEAST8_T => (8, true),
        sym::INT16_T | sym::INT_LEAST16_T => (16, true),
        sym::INT32_T | sym::INT_LEAST32_T | sym::WCHAR_T => (32, true),
        sym::INT64_T | sym::SSIZE_T | sym::PTRDIFF_T | sym::INTPTR_T | sym::INTMAX_T => (64, true),
        sym::INT_LEAST64_T | sym::INT_FAST16_T | sym::INT_FAST32_T | sym::INT_FAST64_T => (64, true),
        sym::UINT8_T | sym::UINT_FAST8_T | sym::UINT_LEAST8_T | sym::CHAR8_T => (8, false),
        sym::UINT16_T | sym::UINT_LEAST16_T | sym::CHAR16_T => (16, false),
        sym::UINT32_T | sym::UINT_LEAST32_T | sym::CHAR32_T => (32, false),
        sym::UINT64_T | sym::SIZE_T | sym::UINTPTR_T | sym::UINTMAX_T => (64, false),
        sym::UINT_LEAST64_T | sym::UINT_FAST16_T | sym::UINT_FAST32_T | sym::UINT_FAST64_T => (64, false),
        _ => return None,
    })
}
