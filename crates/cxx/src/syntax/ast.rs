//! The parsed subset of C++. Local names are already resolved: every variable, parameter and template parameter of a
//! function has a slot in its frame, and a lambda shares the frame of its function.

use super::files::Span;
use super::integer::IntTy;
use super::lex::BodyId;
use super::sym::{FxMap, Sym};
use super::vocabulary::Role;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    Int(i64, IntTy),
    Float(f64, u8),
    Str(Arc<str>),
    Bool(bool),
    Null,
    Local(u32, Sym),
    Name(Box<Name>),
    This,
    Unary(Unary, Box<Expr>),
    Step {
        target: Box<Expr>,
        by: i64,
        before: bool,
    },
    Binary(Binary, Box<Expr>, Box<Expr>),
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    Ternary(Box<[Expr; 3]>),
    Call(Box<Expr>, Vec<Expr>),
    /// A call with a configuration: `f<<<a, b>>>(x)`.
    Configured(Box<Expr>, Vec<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member {
        base: Box<Expr>,
        name: Sym,
        arrow: bool,
    },
    Cast(Box<Type>, Box<Expr>),
    Construct(Box<Type>, Vec<Expr>),
    SizeofType(Box<Type>),
    SizeofExpr(Box<Expr>),
    /// The expression `sizeof...(pack)`.
    SizeofPack(Box<Expr>),
    AlignofType(Box<Type>),
    Lambda(Arc<Lambda>),
    Init(Vec<(Option<Designator>, Expr)>),
    Comma(Box<Expr>, Box<Expr>),
    Pack(Box<Expr>),
    /// `(pattern op ...)`, or `(... op pattern)` for a left fold, with the slots that the pattern uses, including
    /// packs.
    Fold {
        op: Option<Binary>,
        pattern: Box<Expr>,
        slots: Vec<u32>,
        left: bool,
    },
    Throw,
    /// `new T(args)`; braces are one argument.
    New(Box<Type>, Vec<Expr>),
    /// Another expression with `new` or `delete`, whose value is not modelled.
    Heap,
}

#[derive(Debug, Clone)]
pub enum Designator {
    Field(Sym),
    Index(Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Neg,
    Plus,
    Not,
    BitNot,
    Deref,
    Address,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

impl Binary {
    /// The operator's spelling as the lexer produces it: its first character, or all of it.
    pub fn spelled(self) -> &'static str {
        match self {
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Shl => "<<",
            Binary::Shr | Binary::Gt => ">",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Ge => ">=",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::BitAnd => "&",
            Binary::BitXor => "^",
            Binary::BitOr => "|",
            Binary::And => "&&",
            Binary::Or => "||",
        }
    }
}

/// A name that no local scope declares: `a`, `a<1>`, `std::min`, `traits<type>::qk`, `T::value`.
#[derive(Debug, Clone)]
pub struct Name {
    pub root: Root,
    pub path: Vec<Segment>,
}

#[derive(Debug, Clone)]
pub enum Root {
    Global,
    Local(u32),
    Decltype(Box<Expr>),
}

#[derive(Debug, Clone)]
pub struct Segment {
    pub sym: Sym,
    pub args: Option<Vec<TemplateArg>>,
}

#[derive(Debug, Clone)]
pub enum TemplateArg {
    Type(Type),
    Expr(Expr),
    /// An expansion `of<T, I>...`, with one type per item of the pack in it.
    Expansion(Type),
}

#[derive(Debug, Clone)]
pub struct Type {
    pub base: Base,
    pub pointers: u8,
    pub reference: bool,
    pub constant: bool,
    pub dims: Vec<Option<Expr>>,
    pub span: Span,
}

impl Type {
    /// Whether the name is a template name with arguments.
    pub fn has_arguments(&self) -> bool {
        matches!(&self.base, Base::Name(name) if name.path.last().is_some_and(|last| last.args.is_some()))
    }

    /// Whether the type is this plain name.
    pub fn is_only(&self, wanted: Sym) -> bool {
        let Base::Name(name) = &self.base else { return false };
        let only = matches!(name.path.as_slice(), [only] if only.sym == wanted && only.args.is_none());
        only && matches!(name.root, Root::Global) && self.pointers == 0 && self.dims.is_empty()
    }
}

#[derive(Debug, Clone)]
pub enum Base {
    Void,
    Bool,
    Int { bits: u8, signed: bool },
    Float(u8),
    Auto,
    Local(u32),
    Name(Box<Name>),
    Inline(Arc<Struct>),
    Decltype(Box<Expr>),
    Function,
}

#[derive(Debug, Clone)]
pub enum Stmt {
    Expr(Expr),
    Decl(Vec<Var>),
    /// A type alias: from this point on, the slot contains a type.
    Alias(u32, Box<Type>),
    If {
        init: Option<Box<Stmt>>,
        cond: Expr,
        then: Box<Stmt>,
        other: Option<Box<Stmt>>,
    },
    Switch(Arc<Switch>),
    For {
        init: Box<Stmt>,
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Each {
        slot: u32,
        /// The slots that each item is unpacked into, for `auto & [key, value]`. Empty without structured bindings.
        parts: Vec<u32>,
        by_ref: bool,
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
    /// A range of labels: `case 1 ... 8:`.
    Cases(Box<[Expr; 2]>),
    Default,
    Empty,
    /// The body of a `try`. The handlers run only after an exception, which ends a run.
    Try(Vec<Stmt>, Span),
    Unparsed(Span),
}

#[derive(Debug)]
pub struct Switch {
    pub value: Expr,
    pub body: Vec<Stmt>,
    /// Whether a label is inside another statement or could not be read.
    pub hidden: bool,
    /// Maps label values to statements. Set once all labels are known to be the same in every run.
    pub jumps: OnceLock<Jumps>,
}

#[derive(Debug)]
pub struct Jumps {
    pub labels: FxMap<i64, usize>,
    pub default: Option<usize>,
}

#[derive(Debug, Clone)]
pub struct Var {
    pub slot: u32,
    pub name: Sym,
    pub ty: Type,
    pub init: Initial,
    pub fixed: bool,
    pub is_static: bool,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum Initial {
    None,
    Value(Expr),
    Arguments(Vec<Expr>),
}

#[derive(Debug)]
pub struct Lambda {
    /// The slots of variables captured by copy. None means every variable that the lambda uses.
    pub copies: Option<Vec<u32>>,
    /// The lambda's own variables, with their initial values: `[n = x + 1]`.
    pub own: Vec<(u32, Expr)>,
    pub params: Vec<Param>,
    /// The declared return type: `-> T`.
    pub ret: Option<Type>,
    pub body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub struct Param {
    pub slot: u32,
    pub name: Option<Sym>,
    pub ty: Type,
    pub default: Option<Expr>,
    pub pack: bool,
}

#[derive(Debug, Clone)]
pub struct TemplateParam {
    pub name: Option<Sym>,
    pub is_type: bool,
    /// The declared type of a non-type parameter.
    pub ty: Option<Type>,
    pub default: Option<TemplateArg>,
    pub pack: bool,
}

/// A function mark: the function runs outside this program.
pub const ELSEWHERE: u8 = 1;
/// The function runs in this program. Together with `ELSEWHERE`: in both places.
pub const HERE: u8 = 2;
/// The function is never called directly, only handed over to run elsewhere.
pub const REMOTE: u8 = 4;
/// The function is `static`.
pub const INTERNAL: u8 = 8;
/// The function has `__attribute__((weak))`: another unit's definition may replace it.
pub const WEAK: u8 = 16;

/// The position from which a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct View {
    pub unit: u32,
    pub space: u32,
}

impl View {
    /// A view that belongs to no unit.
    pub const ANYWHERE: View = View { unit: u32::MAX, space: 0 };
}

/// The declaration of a function, shared by all units that read it.
#[derive(Debug)]
pub struct Signature {
    pub name: Sym,
    pub templates: Vec<TemplateParam>,
    /// The arguments of an explicit specialisation.
    pub special: Option<Vec<TemplateArg>>,
    pub params: Vec<Param>,
    pub variadic: bool,
    pub attrs: u8,
    pub ret: Type,
    pub span: Span,
    /// The struct of a method that is defined outside it: `void T::f() {...}`.
    pub of: Option<Sym>,
}

/// A function as it appears in one unit.
#[derive(Debug)]
pub struct Function {
    pub signature: Arc<Signature>,
    pub unit: u32,
    /// The program's number for the function's namespace.
    pub space: u32,
    /// The token range of the function's body in its unit.
    pub body: Option<Range<usize>>,
    /// The stored tokens that contain the body, and its range in them, if the body is not in its unit.
    pub home: Option<(BodyId, Range<usize>)>,
    /// A constructor's `: field(value), ...`.
    pub inits: Option<Range<usize>>,
    /// The fields of the struct that this method belongs to: names in its body may refer to them.
    pub owner: Option<Arc<[Sym]>>,
    pub parsed: OnceLock<Box<Body>>,
}

impl std::ops::Deref for Function {
    type Target = Signature;

    fn deref(&self) -> &Signature {
        &self.signature
    }
}

impl Function {
    pub fn is_remote(&self) -> bool {
        self.attrs & REMOTE != 0
    }
    pub fn view(&self) -> View {
        View { unit: self.unit, space: self.space }
    }
    /// Whether this function runs only elsewhere, not in this program.
    pub fn is_elsewhere_only(&self) -> bool {
        self.attrs & ELSEWHERE != 0 && self.attrs & HERE == 0
    }
}

#[derive(Debug)]
pub struct Body {
    pub stmts: Vec<Stmt>,
    pub inits: Vec<(Sym, Vec<Expr>)>,
    pub slots: u32,
    /// Whether each slot is ever read. Macros declare dozens of variables, of which a function uses a few.
    pub used: Vec<bool>,
}

#[derive(Debug)]
pub struct Struct {
    pub name: Option<Sym>,
    pub templates: Vec<TemplateParam>,
    pub special: Option<Vec<TemplateArg>>,
    pub bases: Vec<Type>,
    pub union: bool,
    pub role: Role,
    pub unit: u32,
    /// The argument of `alignas(...)`.
    pub aligned: Option<Range<usize>>,
    pub body: Range<usize>,
    /// The stored tokens that both ranges refer to, if they are not in its unit.
    pub home: Option<BodyId>,
    pub span: Span,
    pub members: OnceLock<Members>,
}

#[derive(Debug, Default)]
pub struct Members {
    pub fields: Vec<Field>,
    pub statics: Vec<Field>,
    pub methods: Vec<Arc<Function>>,
    pub types: Vec<(Sym, Type)>,
    pub enumerators: Vec<Enumerator>,
    /// Whether the struct has a destructor with a non-empty body.
    pub destroyed: bool,
    /// The `alignas` argument, if there is one; an inner None means that it was not understood.
    pub aligned: Option<Option<Expr>>,
}

#[derive(Debug)]
pub struct Field {
    pub name: Option<Sym>,
    pub ty: Type,
    pub init: Option<Expr>,
    /// Whether the field is a bit-field (`int n : 3`), whose truncation is not modelled.
    pub bits: bool,
}

#[derive(Debug, Clone)]
pub struct Enumerator {
    pub name: Sym,
    pub value: Option<Expr>,
}

#[derive(Debug)]
pub struct Enum {
    pub name: Option<Sym>,
    /// Whether the enumeration is an `enum class`, whose enumerators must be qualified.
    pub scoped: bool,
    /// The declared underlying type: `enum x : uint8_t`.
    pub underlying: Option<Type>,
    pub list: Vec<Enumerator>,
    pub span: Span,
    pub unit: u32,
    pub space: u32,
}

#[derive(Debug)]
pub struct Global {
    pub name: Sym,
    pub ty: Type,
    pub init: Initial,
    /// The position of a long initializer list; `parsed` is its value once parsed.
    pub list: Option<Range<usize>>,
    /// The stored body that contains the list, if the token at this position represents one.
    pub home: Option<BodyId>,
    pub parsed: OnceLock<Initial>,
    pub span: Span,
    /// Whether the variable is `extern` without a value, so that it is defined elsewhere.
    pub external: bool,
    /// The variable is visible only in its own unit.
    pub internal: bool,
    /// Declared const or constexpr, and not a pointer to const.
    pub fixed: bool,
    pub unit: u32,
    pub space: u32,
    /// The position at which the variable is written, if any. Set once that has been searched for.
    pub written: OnceLock<Option<Span>>,
}

impl Global {
    pub fn view(&self) -> View {
        View { unit: self.unit, space: self.space }
    }
}

/// Whether two types are spelled the same.
pub fn same_type(x: &Type, y: &Type) -> bool {
    let base = match (&x.base, &y.base) {
        (Base::Int { bits, signed }, Base::Int { bits: b, signed: s }) => bits == b && signed == s,
        (Base::Float(a), Base::Float(b)) => a == b,
        (Base::Name(a), Base::Name(b)) => {
            a.path.last().map(|segment| segment.sym) == b.path.last().map(|segment| segment.sym)
        }
        (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
    };
    base && x.pointers == y.pointers && x.reference == y.reference
}
