//! Reads a function on the way to the dispatcher, statement by statement: whether every node reaches the next function,
//! exactly once and unchanged.

use super::calls::{GRAPH, called, is_local, type_name};
use super::conditions::{Holds, LoneNode};
use super::effects::Effects;
use cxx::Program;
use cxx::ast::{Binary, Expr, ExprKind, Function, Initial, Stmt, Unary};
use cxx::files::Span;
use cxx::sym::Sym;
use cxx::visit::{Part, calls, given, parts_in};
use say::{Key, key};

/// The position of a statement that is not understood, and its possible effect.
pub(super) type Misread = (Span, Key);

const WORKS: Key = key!("source-open-loop-works");

/// How a list of statements ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Through,
    Jumps,
}

/// The context of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// The statement is before or around the loop over the nodes.
    Outside,
    /// Directly in that loop: `continue` and `break` refer to it.
    Nodes,
    /// The statement is in a switch in that loop: only `continue` refers to it.
    Switch,
    /// The statement is in an inner loop.
    Inner,
    /// The statement is in the function that fuses, which returns how many nodes are done.
    Fusing,
    /// The statement is in a loop of that function.
    FusingInner,
}

impl Within {
    fn inner(self) -> Within {
        match self {
            Within::Fusing | Within::FusingInner => Within::FusingInner,
            _ => Within::Inner,
        }
    }

    fn switch(self) -> Within {
        match self {
            Within::Outside | Within::Nodes | Within::Switch => Within::Switch,
            _ => self.inner(),
        }
    }
}

pub(super) struct Walk<'p, 'o> {
    pub program: &'p Program,
    pub lone: LoneNode<'p, 'o>,
    pub effects: Effects<'p>,
    /// The variable that holds how many more nodes were fused.
    pub fused: Option<u32>,
    /// Whether fusing code is compared with the known forms too; otherwise the caller evaluates it.
    pub reads_fusion: bool,
    /// The next function, which the current one must call once with every node.
    target: Sym,
    /// Whether that is the dispatcher, which takes nodes; other functions take the graph.
    takes_node: bool,
    called: bool,
    /// The last expression, variable or condition that was read: the position to report for a jump.
    last: Span,
}

impl<'p, 'o> Walk<'p, 'o> {
    pub fn new(program: &'p Program, op: &'o str, below: &Function, dispatcher: &Function, lone: bool) -> Walk<'p, 'o> {
        Walk {
            program,
            lone: LoneNode::new(program, op),
            effects: Effects::new(program, below.name),
            fused: None,
            reads_fusion: lone,
            target: below.name,
            takes_node: below.name == dispatcher.name,
            called: false,
            last: Span::default(),
        }
    }

    /// A walk through another function, which must not call the next function.
    pub fn within(&self, function: &'p Function) -> Walk<'p, 'o> {
        let mut walk = Walk {
            lone: LoneNode::new(self.program, self.lone.op),
            effects: Effects::new(self.program, self.target),
            fused: None,
            ..*self
        };
        walk.enter(function);
        walk
    }

    fn enter(&mut self, function: &'p Function) {
        self.effects.enter(function);
        let graph = function.params.iter().find(|param| type_name(self.program, &param.ty) == Some(GRAPH));
        self.lone.graph = graph.map(|param| param.slot);
        self.effects.kept.extend(self.lone.graph);
        self.last = function.span;
    }

    pub fn function(mut self, function: &'p Function) -> Option<Misread> {
        self.enter(function);
        let read = self.list(&self.program.body(function).stmts, Within::Outside);
        let missing = (function.span, key!("source-open-loop-call"));
        read.err().or((!self.called).then_some(missing))
    }

    pub fn list(&mut self, stmts: &'p [Stmt], within: Within) -> Result<Ends, Misread> {
        for stmt in stmts {
            if self.stmt(stmt, within)? == Ends::Jumps {
                return Ok(Ends::Jumps);
            }
        }
        Ok(Ends::Through)
    }

    fn stmt(&mut self, stmt: &'p Stmt, within: Within) -> Result<Ends, Misread> {
        match stmt {
            Stmt::Empty | Stmt::Alias(..) | Stmt::Case(_) | Stmt::Cases(_) | Stmt::Default => {}
            Stmt::Unparsed(span) | Stmt::Try(_, span) => return Err((*span, key!("source-open-loop-statement"))),
            Stmt::Expr(expr) => {
                self.last = expr.span;
                if !self.is_target(expr, within)? {
                    self.expr(expr)?;
                }
            }
            Stmt::Decl(vars) => {
                for var in vars {
                    self.last = var.span;
                    self.effects.declared(var).map_or(Ok(()), |at| Err((at, WORKS)))?;
                    match &var.init {
                        Initial::Value(value) => self.begins_as(var.slot, value, within)?,
                        Initial::Arguments(args) => args.iter().try_for_each(|arg| self.expr(arg))?,
                        Initial::None => {}
                    }
                }
            }
            Stmt::If { init, cond, then, other } => {
                init.iter().try_for_each(|init| self.stmt(init, within).map(|_| ()))?;
                return self.branch(cond, then, other.as_deref(), within);
            }
            Stmt::Switch(switch) => {
                self.expr(&switch.value)?;
                self.list(&switch.body, within.switch())?;
            }
            Stmt::For { init, cond, step, body } => {
                self.stmt(init, within)?;
                cond.iter().chain(step).try_for_each(|expr| self.expr(expr))?;
                let nodes = within == Within::Outside && self.is_node_loop(init, cond.as_ref(), step.as_ref(), body);
                self.repeated(body, if nodes { Within::Nodes } else { within.inner() })?;
            }
            Stmt::Each { range, body, .. } => {
                self.expr(range)?;
                self.repeated(body, within.inner())?;
            }
            Stmt::While { cond, body, .. } => {
                self.expr(cond)?;
                // A loop that retries until the graph has been computed.
                let outside = within == Within::Outside && is_plain(cond);
                self.repeated(body, if outside { Within::Outside } else { within.inner() })?;
            }
            Stmt::Block(stmts) => return self.list(stmts, within),
            Stmt::Return(value, span) => {
                value.iter().try_for_each(|value| self.expr(value))?;
                let fused_none = || value.as_ref().is_none_or(|value| self.lone.is_zero(value));
                return match within {
                    Within::Fusing | Within::FusingInner if fused_none() => Ok(Ends::Jumps),
                    Within::Outside if self.called => Ok(Ends::Jumps),
                    _ => Err((*span, key!("source-open-loop-goes-on"))),
                };
            }
            Stmt::Break if within == Within::Switch => return Ok(Ends::Jumps),
            Stmt::Break | Stmt::Continue => {
                return match within {
                    Within::Nodes | Within::Outside | Within::Switch => {
                        Err((self.last, key!("source-open-loop-skips")))
                    }
                    _ => Ok(Ends::Jumps),
                };
            }
        }
        Ok(Ends::Through)
    }

    /// The statements of a loop. Effects at its end are visible at its beginning.
    fn repeated(&mut self, body: &'p Stmt, within: Within) -> Result<(), Misread> {
        let before = self.lone.zero.len();
        self.stmt(body, within)?;
        if self.lone.zero.len() < before && !matches!(within, Within::Nodes | Within::Outside) {
            self.stmt(body, within)?;
        }
        Ok(())
    }

    fn branch(
        &mut self,
        cond: &'p Expr,
        then: &'p Stmt,
        other: Option<&'p Stmt>,
        within: Within,
    ) -> Result<Ends, Misread> {
        self.expr(cond)?;
        let holds = self.lone.holds(cond);
        self.last = cond.span;
        // A condition that selects between computing and replaying the nodes must not depend on a node.
        let computes = || self.has_target(then) || other.is_some_and(|other| self.has_target(other));
        if within == Within::Outside && !is_plain(cond) && computes() {
            return Err((cond.span, key!("source-open-loop-condition")));
        }
        if within == Within::Nodes && self.asks_fused(cond) {
            // The branch only skips the fused nodes.
            return match other.is_none() && self.skips_fused(then) {
                true => Ok(Ends::Through),
                false => Err((cond.span, key!("source-open-loop-fused"))),
            };
        }
        let first = if holds == Holds::Never { Ends::Jumps } else { self.stmt(then, within)? };
        self.last = cond.span;
        let second = match other {
            _ if holds == Holds::Always => Ends::Jumps,
            Some(other) => self.stmt(other, within)?,
            None => Ends::Through,
        };
        Ok(if first == Ends::Jumps { second } else { Ends::Through })
    }

    fn has_target(&self, stmt: &Stmt) -> bool {
        let is_target = |last: &cxx::ast::Segment| last.sym == self.target;
        calls(std::slice::from_ref(stmt)).iter().any(|call| call.name.path.last().is_some_and(is_target))
    }

    /// Handles the initial value of a variable.
    fn begins_as(&mut self, slot: u32, value: &'p Expr, within: Within) -> Result<(), Misread> {
        // A variable declared outside the loop may have another value for the next node.
        if within != Within::Outside && self.lone.is_zero(value) {
            self.lone.zero.insert(slot);
        }
        if matches!(within, Within::Nodes | Within::Fusing) && self.lone.node.is_none() && self.lone.is_indexed(value) {
            self.lone.node = Some(slot);
            self.effects.kept.insert(slot);
        }
        if self.is_target(value, within)? {
            return Ok(());
        }
        if within == Within::Nodes && self.is_fusion(value)? {
            self.lone.zero.insert(slot);
            self.fused = Some(slot);
            return Ok(());
        }
        self.expr(value)
    }

    /// Whether the loop is `for (int i = 0; i < cgraph->n_nodes; i++)`.
    fn is_node_loop(&mut self, init: &Stmt, cond: Option<&Expr>, step: Option<&Expr>, body: &Stmt) -> bool {
        let Stmt::Decl(vars) = init else { return false };
        let [var] = vars.as_slice() else { return false };
        let count = Some(var.slot);
        let from_zero = matches!(&var.init, Initial::Value(value) if self.lone.is_zero(value));
        let to_last = cond.is_some_and(|cond| {
            matches!(&cond.kind, ExprKind::Binary(Binary::Lt, left, right)
            if is_local(left, count) && self.lone.is_of_graph(right, "n_nodes"))
        });
        let by_one = step.is_some_and(|step| {
            matches!(&step.kind, ExprKind::Step { target, by: 1, .. }
            if is_local(target, count))
        });
        let all = from_zero && to_last && by_one && self.has_target(body);
        if all {
            self.lone.count = count;
            self.effects.kept.insert(var.slot);
        }
        all
    }

    /// Whether this is the expected call: with the unchanged node or graph, once, and not under a condition of the
    /// loop.
    fn is_target(&mut self, expr: &'p Expr, within: Within) -> Result<bool, Misread> {
        let Some((_, args)) = called(expr).filter(|(name, _)| *name == self.target) else { return Ok(false) };
        if self.called {
            return Err((expr.span, key!("source-open-loop-twice")));
        }
        let as_it_is = match self.takes_node {
            true => within == Within::Nodes && args.last().is_some_and(|arg| self.lone.is_node(arg)),
            false => within == Within::Outside && args.iter().any(|arg| is_local(arg, self.lone.graph)),
        };
        if !as_it_is {
            return Err((expr.span, key!("source-open-loop-way")));
        }
        self.called = true;
        args.iter().try_for_each(|arg| self.expr(arg))?;
        Ok(true)
    }

    fn expr(&mut self, expr: &'p Expr) -> Result<(), Misread> {
        let mut written = Vec::new();
        for part in parts_in(expr) {
            match part {
                Part::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. }) if self.lone.is_zero(value) => {}
                Part::Expr(part) => given(part, &mut written),
                Part::Var(_) | Part::Bound(_) | Part::Unparsed(_) => {}
            }
        }
        written.iter().for_each(|slot| {
            self.lone.zero.remove(slot);
        });
        self.effects.of_expr(expr).map_or(Ok(()), |at| Err((at, WORKS)))
    }
}

/// Whether a condition consists of variables only.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(..) | ExprKind::Bool(_) => true,
        ExprKind::Unary(Unary::Not, inner) => is_plain(inner),
        ExprKind::Binary(Binary::And | Binary::Or, left, right) => is_plain(left) && is_plain(right),
        _ => false,
    }
}
