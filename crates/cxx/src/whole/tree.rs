//! The syntax of whole programs. Names are looked up when they are evaluated, so that a class may use members of its bases.

use crate::syntax::ast::Binary;
use crate::syntax::files::Span;
use crate::syntax::integer::IntTy;
use crate::syntax::sym::Sym;
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub at: Span,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    Int(i64, IntTy),
    Float(f64, u8),
    Str(Rc<str>),
    Bool(bool),
    Null,
    This,
    Name(Rc<Name>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    Deref(Box<Expr>),
    Address(Box<Expr>),
    Step {
        target: Box<Expr>,
        by: i64,
        before: bool,
    },
    Binary(Binary, Box<Expr>, Box<Expr>),
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    Ternary(Box<[Expr; 3]>),
    Call(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member {
        base: Box<Expr>,
        name: Rc<Name>,
        arrow: bool,
    },
    Cast(Box<Type>, Box<Expr>),
    /// `T(a, b)` or `T{a, b}`.
    Construct(Box<Type>, Vec<Expr>, bool),
    Sizeof(Box<Type>),
    SizeofExpr(Box<Expr>),
    Lambda(Rc<Lambda>),
    /// `{a, .b = c}`.
    Init(Vec<(Option<Sym>, Expr)>),
    Comma(Box<Expr>, Box<Expr>),
    New(Box<Type>, Vec<Expr>),
    NewArray(Box<Type>, Box<Expr>),
    Delete,
    Throw,
    Pack(Box<Expr>),
}

/// `a::b<c>::d`.
#[derive(Debug)]
pub struct Name {
    pub path: Vec<(Sym, Option<Vec<Type>>)>,
}

impl Name {
    pub fn last(&self) -> Sym {
        self.path.last().map_or(Sym(0), |(sym, _)| *sym)
    }

    pub fn arguments(&self) -> Option<&[Type]> {
        self.path.last().and_then(|(_, args)| args.as_deref())
    }
}

#[derive(Debug, Clone)]
pub struct Type {
    pub base: Base,
    pub pointers: u8,
    pub reference: bool,
    pub constant: bool,
    pub dims: Vec<Option<Expr>>,
}

#[derive(Debug, Clone)]
pub enum Base {
    Auto,
    Void,
    Int(IntTy),
    Float(u8),
    Name(Rc<Name>),
    Class(Rc<Class>),
    Decltype(Box<Expr>),
    Function,
    /// A template argument that is a value.
    Value(Box<Expr>),
}

#[derive(Debug, Clone)]
pub enum Stmt {
    Expr(Expr),
    Declare(Vec<Variable>),
    /// `auto [a, b] = value;`.
    Bind {
        names: Vec<Sym>,
        reference: bool,
        value: Expr,
    },
    Alias(Sym, Type),
    If {
        init: Option<Box<Stmt>>,
        cond: Expr,
        then: Box<Stmt>,
        other: Option<Box<Stmt>>,
    },
    Switch(Expr, Rc<Vec<Stmt>>),
    For {
        init: Option<Box<Stmt>>,
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Each {
        names: Vec<Sym>,
        reference: bool,
        range: Expr,
        body: Box<Stmt>,
    },
    While {
        cond: Expr,
        body: Box<Stmt>,
        first: bool,
    },
    Return(Option<Expr>, Span),
    Break,
    Continue,
    Block(Vec<Stmt>),
    Case(Expr),
    Default,
    Try(Vec<Stmt>),
    Empty,
    Unread(Span),
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub name: Sym,
    pub ty: Type,
    pub init: Initial,
    pub is_static: bool,
    pub at: Span,
}

#[derive(Debug, Clone)]
pub enum Initial {
    None,
    Value(Expr),
    Arguments(Vec<Expr>),
}

#[derive(Debug)]
pub struct Lambda {
    /// Whether variables are captured by copy unless named.
    pub copies: bool,
    /// Variables captured by copy, by name, or the lambda's own with their values.
    pub own: Vec<(Sym, Option<Expr>)>,
    pub params: Vec<Param>,
    pub ret: Option<Type>,
    pub body: Vec<Stmt>,
    pub at: Span,
}

#[derive(Debug, Clone)]
pub struct Param {
    pub name: Option<Sym>,
    pub ty: Type,
    pub default: Option<Expr>,
    pub pack: bool,
}

#[derive(Debug, Clone)]
pub struct Template {
    pub name: Option<Sym>,
    pub is_type: bool,
    pub default: Option<Type>,
    pub pack: bool,
}

#[derive(Debug)]
pub struct Function {
    pub name: Sym,
    /// The classes and namespaces in which the function is defined: `a::b` of `void a::b::f()`.
    pub within: Vec<Sym>,
    pub templates: Vec<Template>,
    pub params: Vec<Param>,
    pub variadic: bool,
    pub ret: Type,
    pub is_static: bool,
    pub unit: usize,
    pub at: Span,
    pub body: Option<Range<usize>>,
    pub inits: Option<Range<usize>>,
    pub parsed: OnceCell<Rc<Body>>,
}

#[derive(Debug)]
pub struct Body {
    pub stmts: Vec<Stmt>,
    pub inits: Vec<(Sym, Vec<Expr>, bool)>,
}

#[derive(Debug)]
pub struct Field {
    pub name: Sym,
    pub ty: Type,
    pub init: Option<Expr>,
    pub is_static: bool,
}

/// A part of an object's memory.
#[derive(Debug, Clone)]
pub enum Part {
    Field(Type),
    /// An unnamed struct or union.
    Inner(Rc<Class>),
}

/// A struct, class or union.
#[derive(Debug)]
pub struct Class {
    pub name: Sym,
    /// The namespaces and classes around it.
    pub within: Vec<Sym>,
    pub templates: Vec<Template>,
    pub bases: Vec<Type>,
    pub union: bool,
    pub unit: usize,
    pub fields: Vec<Field>,
    /// What its memory consists of, in order.
    pub parts: Vec<Part>,
    pub methods: RefCell<Vec<Rc<Function>>>,
    pub types: RefCell<Vec<(Sym, Type)>>,
    pub at: Span,
}

#[derive(Debug)]
pub struct Global {
    pub name: Sym,
    pub ty: Type,
    pub init: Initial,
    pub external: bool,
    pub internal: bool,
    pub unit: usize,
    pub at: Span,
}
