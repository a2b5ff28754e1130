//! Evaluates conditions for a single node of one operation: marked to be computed, not empty, and without neighbours
//! that it could be fused with.

use super::calls::{called, is_local, only_body};
use cxx::Program;
use cxx::ast::{Binary, Expr, ExprKind, Stmt, Unary};
use cxx::sym::FxSet;

/// The flag of nodes that must be computed, since 2025.
const COMPUTED: &str = "GGML_TENSOR_FLAG_COMPUTE";

/// Functions that ask whether a node can be fused with the following ones.
pub(super) const ASKS_FUSION: &[&str] = &[
    "ggml_can_fuse",
    "ggml_can_fuse_ext",
    "ggml_can_fuse_subgraph",
    "ggml_can_fuse_subgraph_ext",
    "ggml_cuda_can_fuse",
];

/// The prefix of functions that match a pattern of several nodes, since 2026.
pub(super) const MATCHES: &str = "ggml_cuda_match_";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Never,
    Always,
    Unknown,
}

/// The values of variables.
#[derive(Debug)]
pub(super) struct LoneNode<'p, 'o> {
    pub program: &'p Program,
    pub op: &'o str,
    pub node: Option<u32>,
    pub graph: Option<u32>,
    pub count: Option<u32>,
    /// Variables that are 0, including those that count fused nodes.
    pub zero: FxSet<u32>,
}

impl<'p, 'o> LoneNode<'p, 'o> {
    pub fn new(program: &'p Program, op: &'o str) -> LoneNode<'p, 'o> {
        LoneNode { program, op, node: None, graph: None, count: None, zero: FxSet::default() }
    }

    pub fn is_of_graph(&self, expr: &Expr, field: &str) -> bool {
        matches!(&expr.kind, ExprKind::Member { base, name, .. }
            if self.program.text(*name) == field && is_local(base, self.graph))
    }

    /// Whether the expression is `cgraph->nodes[i]`.
    pub fn is_indexed(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Index(base, index)
            if self.is_of_graph(base, "nodes") && is_local(index, self.count))
    }

    pub fn is_node(&self, expr: &Expr) -> bool {
        is_local(expr, self.node) || self.is_indexed(expr)
    }

    fn is_field(&self, expr: &Expr, field: &str) -> bool {
        matches!(&expr.kind, ExprKind::Member { base, name, .. }
            if self.program.text(*name) == field && self.is_node(base))
    }

    pub fn is_zero(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(0, _) | ExprKind::Bool(false) => true,
            ExprKind::Local(slot, _) => self.zero.contains(slot),
            _ => false,
        }
    }

    pub fn holds(&self, cond: &Expr) -> Holds {
        match &cond.kind {
            ExprKind::Bool(true) => Holds::Always,
            _ if self.is_zero(cond) => Holds::Never,
            ExprKind::Unary(Unary::Not, inner) => match self.holds(inner) {
                Holds::Never => Holds::Always,
                Holds::Always => Holds::Never,
                Holds::Unknown => Holds::Unknown,
            },
            ExprKind::Binary(Binary::And, left, right) => match (self.holds(left), self.holds(right)) {
                (Holds::Never, _) | (_, Holds::Never) => Holds::Never,
                (Holds::Always, Holds::Always) => Holds::Always,
                _ => Holds::Unknown,
            },
            ExprKind::Binary(Binary::Or, left, right) => match (self.holds(left), self.holds(right)) {
                (Holds::Never, Holds::Never) => Holds::Never,
                (Holds::Always, _) | (_, Holds::Always) => Holds::Always,
                _ => Holds::Unknown,
            },
            ExprKind::Binary(Binary::Ne | Binary::Gt, left, right) if self.is_zero(left) && self.is_zero(right) => {
                Holds::Never
            }
            ExprKind::Binary(Binary::Gt, left, right) if self.is_zero(left) => match right.kind {
                ExprKind::Int(least, _) if least >= 0 => Holds::Never,
                _ => Holds::Unknown,
            },
            ExprKind::Binary(Binary::Eq, left, right) => self.equal(left, right),
            ExprKind::Call(..) => self.asked(cond),
            _ => Holds::Unknown,
        }
    }

    /// `node->op == GGML_OP_X`, `(node->flags & GGML_TENSOR_FLAG_COMPUTE) == 0`.
    fn equal(&self, left: &Expr, right: &Expr) -> Holds {
        match (&left.kind, &right.kind) {
            (_, ExprKind::Name(op)) if self.is_field(left, "op") => {
                let op = op.path.last().map_or("", |last| self.program.text(last.sym));
                match op {
                    _ if !op.starts_with("GGML_OP_") => Holds::Unknown,
                    _ if op == self.op => Holds::Always,
                    _ => Holds::Never,
                }
            }
            (ExprKind::Binary(Binary::BitAnd, flags, mark), ExprKind::Int(0, _)) => {
                let marks = matches!(&mark.kind, ExprKind::Name(name)
                    if name.path.last().is_some_and(|last| self.program.text(last.sym) == COMPUTED));
                if marks && self.is_field(flags, "flags") { Holds::Never } else { Holds::Unknown }
            }
            _ => Holds::Unknown,
        }
    }

    /// Whether a node is empty; whether it can be fused with the following ones; whether it is only a view, by a
    /// function that is one expression.
    fn asked(&self, call: &Expr) -> Holds {
        let Some((name, args)) = called(call) else { return Holds::Unknown };
        let text = self.program.text(name);
        let Some(first) = args.first() else { return Holds::Unknown };
        if text == "ggml_is_empty" && self.is_node(first) {
            return Holds::Never;
        }
        // A list with one operation would match a single node.
        let of_several = || args.get(2).is_none_or(|ops| !matches!(&ops.kind, ExprKind::Init(list) if list.len() < 2));
        let fuses = ASKS_FUSION.contains(&text) || text.starts_with(MATCHES);
        if fuses && is_local(first, self.graph) && of_several() {
            return Holds::Never;
        }
        let Some(function) = only_body(self.program, name) else { return Holds::Unknown };
        let ([arg], [param]) = (args, function.params.as_slice()) else { return Holds::Unknown };
        let [Stmt::Return(Some(value), _)] = self.program.body(function).stmts.as_slice() else {
            return Holds::Unknown;
        };
        if !self.is_node(arg) {
            return Holds::Unknown;
        }
        let mut within = LoneNode::new(self.program, self.op);
        within.node = Some(param.slot);
        within.holds(value)
    }
}
