//! Nodes that are computed together: the function that the loop calls for this, and how the loop continues after them.
//!
//! `int nodes_to_skip = ggml_cuda_try_fuse(cuda_ctx, cgraph, i); if (nodes_to_skip != 0) { i += nodes_to_skip;
//! continue; }`

use super::calls::{called, is_local, only_body};
use super::walk::{Misread, Walk, Within};
use cxx::ast::{Base, Binary, Expr, ExprKind, Stmt};

impl<'p> Walk<'p, '_> {
    /// Whether this call returns how many further nodes are done. For a single node that number must be 0, which is
    /// checked by reading the function.
    pub(super) fn is_fusion(&self, expr: &'p Expr) -> Result<bool, Misread> {
        let Some((name, args)) = called(expr) else { return Ok(false) };
        let (graph, count) = (self.lone.graph, self.lone.count);
        if !args.iter().any(|arg| is_local(arg, graph)) || !args.last().is_some_and(|arg| is_local(arg, count)) {
            return Ok(false);
        }
        let Some(function) = only_body(self.program, name) else { return Ok(false) };
        if !self.reads_fusion {
            return Ok(true);
        }
        let mut walk = self.within(function);
        let mut numbers = function.params.iter().filter(|param| matches!(param.ty.base, Base::Int { .. }));
        walk.lone.count = numbers.next_back().map(|param| param.slot);
        walk.list(&self.program.body(function).stmts, Within::Fusing).map(|_| true)
    }

    /// Whether the condition is `nodes_to_skip != 0`.
    pub(super) fn asks_fused(&self, cond: &Expr) -> bool {
        self.fused.is_some()
            && match &cond.kind {
                ExprKind::Binary(Binary::Ne | Binary::Gt, left, right) => {
                    is_local(left, self.fused) && matches!(right.kind, ExprKind::Int(0, _))
                }
                _ => is_local(cond, self.fused),
            }
    }

    /// Whether the block is `{ ...; i += nodes_to_skip; continue; }`.
    pub(super) fn skips_fused(&mut self, then: &'p Stmt) -> bool {
        let Stmt::Block(stmts) = then else { return false };
        let [said @ .., Stmt::Expr(step), Stmt::Continue] = stmts.as_slice() else { return false };
        let steps = matches!(&step.kind, ExprKind::Assign(Some(Binary::Add), target, by)
            if is_local(target, self.lone.count) && is_local(by, self.fused));
        let plain = said.iter().all(|stmt| matches!(stmt, Stmt::Expr(_) | Stmt::Decl(_) | Stmt::Empty));
        steps && plain && self.effects.of_stmts(said).is_none()
    }
}
