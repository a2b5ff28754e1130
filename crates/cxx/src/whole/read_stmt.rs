//! Reads statements.

use super::read::{Parsed, Reader, Stuck};
use super::tree::{Base, Expr, ExprKind, Initial, Name, Stmt, Variable};
use std::rc::Rc;

impl Reader<'_> {
    pub fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.deeper()?;
        self.want("{")?;
        let mut list = Vec::new();
        while !self.is(0, "}") {
            if self.done() {
                return Err(Stuck);
            }
            list.push(self.statement());
        }
        self.pos += 1;
        self.depth -= 1;
        Ok(list)
    }

    /// One statement; one that cannot be read ends a run that reaches it.
    pub fn statement(&mut self) -> Stmt {
        let (pos, depth, start) = (self.pos, self.depth, self.span());
        self.angle = false;
        if let Ok(found) = self.try_statement() {
            self.depth = depth;
            return found;
        }
        (self.pos, self.depth, self.angle) = (pos, depth, false);
        while !self.done() {
            match self.text(0) {
                ";" => {
                    self.pos += 1;
                    break;
                }
                "{" => {
                    self.skip_group();
                    if !matches!(self.text(0), ";" | "," | ")" | "." | "(") {
                        break;
                    }
                }
                "(" | "[" => self.skip_group(),
                "}" => break,
                _ => self.pos += 1,
            }
        }
        if self.pos == pos {
            self.pos += 1;
        }
        Stmt::Unread(self.since(start))
    }

    fn try_statement(&mut self) -> Parsed<Stmt> {
        self.deeper()?;
        while self.is(0, "[") && self.is(1, "[") {
            self.skip_group();
        }
        let start = self.span();
        Ok(match self.text(0) {
            ";" => {
                self.pos += 1;
                Stmt::Empty
            }
            "{" => Stmt::Block(self.block()?),
            "if" => self.if_statement()?,
            "for" => self.for_statement()?,
            "while" => {
                self.pos += 1;
                self.want("(")?;
                let cond = self.expression()?;
                self.want(")")?;
                Stmt::While { cond, body: Box::new(self.statement()), first: true }
            }
            "do" => {
                self.pos += 1;
                let body = Box::new(self.statement());
                self.want("while")?;
                self.want("(")?;
                let cond = self.expression()?;
                self.want(")")?;
                self.eat(";");
                Stmt::While { cond, body, first: false }
            }
            "switch" => {
                self.pos += 1;
                self.want("(")?;
                let value = self.expression()?;
                self.want(")")?;
                Stmt::Switch(value, Rc::new(flattened(self.block()?)))
            }
            "return" => {
                self.pos += 1;
                let value = if self.is(0, ";") { None } else { Some(self.expression()?) };
                let at = self.since(start);
                self.want(";")?;
                Stmt::Return(value, at)
            }
            "break" | "continue" => {
                let stmt = if self.is(0, "break") { Stmt::Break } else { Stmt::Continue };
                self.pos += 1;
                self.want(";")?;
                stmt
            }
            "case" => {
                self.pos += 1;
                let value = self.case_label()?;
                self.want(":")?;
                Stmt::Case(value)
            }
            "default" if self.is(1, ":") => {
                self.pos += 2;
                Stmt::Default
            }
            "try" => {
                self.pos += 1;
                let body = self.block()?;
                while self.eat("catch") {
                    self.skip_group();
                    self.skip_group();
                }
                Stmt::Try(body)
            }
            "static_assert" | "_Static_assert" => {
                self.pos += 1;
                self.skip_group();
                self.eat(";");
                Stmt::Empty
            }
            "using" if self.is_name(1) && self.is(2, "=") => {
                self.pos += 1;
                let name = self.ident()?;
                self.pos += 1;
                let ty = self.full_type()?;
                self.want(";")?;
                Stmt::Alias(name, ty)
            }
            "struct" | "class" | "union" if self.is_name(1) && (self.is(2, "{") || self.is(2, ":")) => {
                let mut out = super::read_decl::Declared::default();
                let class = self.class(Vec::new(), Vec::new(), &mut out)?;
                self.want(";")?;
                let name = class.name;
                let ty = super::tree::Type {
                    base: Base::Class(class),
                    pointers: 0,
                    reference: false,
                    constant: false,
                    dims: Vec::new(),
                };
                Stmt::Alias(name, ty)
            }
            _ => return self.simple(),
        })
    }

    fn case_label(&mut self) -> Parsed<Expr> {
        // A conditional expression would take the label's colon; labels are names and numbers.
        self.assignment()
    }

    fn simple(&mut self) -> Parsed<Stmt> {
        if self.starts_type() {
            let (pos, depth) = (self.pos, self.depth);
            if let Ok(stmt) = self.declaration() {
                self.want(";")?;
                return Ok(stmt);
            }
            (self.pos, self.depth, self.angle) = (pos, depth, false);
        }
        let expr = self.expression()?;
        // A macro that is not expanded may stand without a semicolon.
        if !self.eat(";") && !matches!(expr.kind, ExprKind::Call(..)) {
            return Err(Stuck);
        }
        Ok(Stmt::Expr(expr))
    }

    /// A declaration without its semicolon.
    fn declaration(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let (is_static, constant, _) = self.specifiers();
        let mut base = self.base_type()?;
        base.constant |= constant;
        let mut list = Vec::new();
        loop {
            let mut ty = base.clone();
            self.stars(&mut ty);
            self.specifiers();
            if self.is(0, "[") && matches!(ty.base, Base::Auto) {
                self.pos += 1;
                let mut names = vec![self.ident()?];
                while self.eat(",") {
                    names.push(self.ident()?);
                }
                self.want("]")?;
                self.want("=")?;
                let value = self.assignment()?;
                return Ok(Stmt::Bind { names, reference: ty.reference, value });
            }
            let name = if self.is(0, "(") && self.is(1, "*") {
                self.pos += 2;
                let name = self.ident()?;
                self.want(")")?;
                self.skip_group();
                ty.base = Base::Function;
                name
            } else {
                self.ident()?
            };
            self.dims(&mut ty)?;
            let init = match self.text(0) {
                "=" => {
                    self.pos += 1;
                    Initial::Value(self.assignment()?)
                }
                "(" => Initial::Arguments(self.call_arguments()?),
                "{" => Initial::Value(self.braces()?),
                ";" | "," | ":" | ")" => Initial::None,
                _ => return Err(Stuck),
            };
            list.push(Variable { name, ty, init, is_static, at: self.since(start) });
            if !self.eat(",") {
                return Ok(Stmt::Declare(list));
            }
        }
    }

    fn if_statement(&mut self) -> Parsed<Stmt> {
        self.pos += 1;
        self.eat("constexpr");
        self.want("(")?;
        let mut init = None;
        let mut cond = None;
        if self.starts_type() {
            let (pos, start) = (self.pos, self.span());
            match self.declaration() {
                Ok(stmt) if self.is(0, ";") => {
                    self.pos += 1;
                    init = Some(Box::new(stmt));
                }
                Ok(stmt) if self.is(0, ")") => {
                    if let Stmt::Declare(list) = &stmt
                        && let [only] = list.as_slice()
                    {
                        let name = Rc::new(Name { path: vec![(only.name, None)] });
                        cond = Some(Expr { kind: ExprKind::Name(name), at: self.since(start) });
                    }
                    init = Some(Box::new(stmt));
                }
                _ => self.pos = pos,
            }
        }
        let cond = match cond {
            Some(cond) => cond,
            None => self.expression()?,
        };
        self.want(")")?;
        let then = Box::new(self.statement());
        let other = if self.eat("else") { Some(Box::new(self.statement())) } else { None };
        Ok(Stmt::If { init, cond, then, other })
    }

    fn for_statement(&mut self) -> Parsed<Stmt> {
        self.pos += 1;
        self.want("(")?;
        let pos = self.pos;
        if let Ok((names, reference, range)) = self.each_header() {
            let body = Box::new(self.statement());
            return Ok(Stmt::Each { names, reference, range, body });
        }
        self.pos = pos;
        let init = if self.is(0, ";") {
            self.pos += 1;
            None
        } else {
            Some(Box::new(self.statement()))
        };
        let cond = if self.is(0, ";") { None } else { Some(self.expression()?) };
        self.want(";")?;
        let step = if self.is(0, ")") { None } else { Some(self.expression()?) };
        self.want(")")?;
        let body = Box::new(self.statement());
        Ok(Stmt::For { init, cond, step, body })
    }

    fn each_header(&mut self) -> Parsed<(Vec<crate::syntax::sym::Sym>, bool, Expr)> {
        let mut ty = self.base_type()?;
        self.stars(&mut ty);
        let mut names = Vec::new();
        if self.eat("[") {
            names.push(self.ident()?);
            while self.eat(",") {
                names.push(self.ident()?);
            }
            self.want("]")?;
        } else {
            names.push(self.ident()?);
        }
        self.want(":")?;
        let range = if self.is(0, "{") { self.braces()? } else { self.expression()? };
        self.want(")")?;
        Ok((names, ty.reference, range))
    }
}

/// The statements of a switch, with labels inside of blocks brought to the outside: `case 1: { ... } break;`.
fn flattened(list: Vec<Stmt>) -> Vec<Stmt> {
    list
}
