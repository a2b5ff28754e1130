//! Launches: which kernel, with which template arguments, on what grid; by `<<<...>>>`, by a function that takes the
//! kernel, or within a BLAS library.

use super::machine::{Frame, Launch, Machine, Run, Stop};
use super::value::{FnValue, Shape, Value};
use crate::cpp::ast::{Expr, Function};
use crate::cpp::files::Span;
use crate::cpp::sym::Sym;
use crate::path::{self, Choice};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn names(&self) -> Vec<Sym> {
        self.frames.iter().map(|frame| frame.name).collect()
    }

    pub(super) fn kernel_among(&self, values: &[Value]) -> Option<Rc<FnValue>> {
        values.iter().find_map(|value| match value {
            Value::Fn(found) if self.is_kernel(found.name) => Some(found.clone()),
            _ => None,
        })
    }

    pub(super) fn is_kernel(&self, name: Sym) -> bool {
        self.program.overloads(name).iter().filter_map(|&index| self.program.function(index)).any(Function::is_kernel)
    }

    /// A kernel given to a function that launches it.
    pub(super) fn hand_over(&mut self, kernel: &Rc<FnValue>, at: Span) -> Run<Value> {
        let launch = self.launch_of(kernel, None, None, at)?;
        self.launched(launch)?;
        Ok(Value::Opaque(at))
    }

    pub(super) fn launch(&mut self, callee: &Expr, config: &[Expr], args: &[Expr], at: Span) -> Run<Value> {
        let function = self.eval(callee)?;
        let Value::Fn(kernel) = function else {
            return Err(self.unsure(callee.span, "a launch of what is not known"));
        };
        let mut dims = [None, None];
        for (slot, expr) in dims.iter_mut().zip(config) {
            let value = self.eval(expr)?;
            *slot = self.dim(&value);
        }
        let _ = args;
        let launch = self.launch_of(&kernel, dims[0], dims[1], at)?;
        self.launched(launch)?;
        Ok(Value::Void)
    }

    fn dim(&mut self, value: &Value) -> Option<[i64; 3]> {
        let mut number = |value: Option<&Value>| match value {
            Some(Value::Int(value, dependence)) => Some(self.now((*value, *dependence))),
            _ => None,
        };
        match value {
            Value::Int(..) => Some([number(Some(value))?, 1, 1]),
            Value::Agg(agg) if matches!(agg.shape, Shape::Struct(_)) => {
                Some([number(agg.items.first())?, number(agg.items.get(1))?, number(agg.items.get(2))?])
            }
            _ => None,
        }
    }

    fn launch_of(
        &mut self,
        kernel: &Rc<FnValue>,
        grid: Option<[i64; 3]>,
        block: Option<[i64; 3]>,
        at: Span,
    ) -> Run<Launch> {
        let program = self.program;
        let found = program.overloads(kernel.name).iter().filter_map(|&index| program.function(index));
        let function =
            found.into_iter().find(|function| function.is_kernel() && kernel.args.len() <= function.templates.len());
        let mut args = Vec::new();
        if let Some(function) = function {
            let base = self.stack.len();
            self.stack.resize(base + function.templates.len() + function.params.len(), Value::Uninit);
            let frame = Frame { function: None, name: kernel.name, file: function.span.file, base, this: None };
            self.enter(frame, at)?;
            let bound = self.bind_templates(function, kernel.args.clone(), &[]);
            let values = self.stack.get(base..base + function.templates.len()).unwrap_or_default().to_vec();
            self.frames.pop();
            self.stack.truncate(base);
            bound?;
            args = function.templates.iter().map(|param| param.name).zip(values).collect();
        }
        let locals = self.local_integers();
        Ok(Launch { name: kernel.name, args, grid, block, at, stack: self.names(), library: false, locals })
    }

    fn local_integers(&self) -> Vec<(Sym, Value)> {
        let Some(function) = self.function() else { return Vec::new() };
        let mut out = Vec::new();
        collect_locals(&self.program.body(function).stmts, &mut |name, slot| {
            if let Some(value @ Value::Int(..)) = self.stack.get(self.base() + slot as usize) {
                out.push((name, value.clone()));
            }
        });
        out
    }

    pub(super) fn launched(&mut self, launch: Launch) -> Run<()> {
        self.effects += 1;
        let decides = (self.decides)(self.program, &launch);
        if decides && self.exploring {
            self.chosen = path::of(self.program, &launch).map(|path| Choice::new(self, &launch, path));
        }
        if self.launches.len() < 1000 {
            self.launches.push(launch);
        }
        if decides { Err(Stop::Decided) } else { Ok(()) }
    }
}

/// Declarations at a function's own level, where a launcher keeps its tile sizes.
fn collect_locals(stmts: &[crate::cpp::ast::Stmt], take: &mut impl FnMut(Sym, u32)) {
    for stmt in stmts {
        if let crate::cpp::ast::Stmt::Decl(vars) = stmt {
            vars.iter().for_each(|var| take(var.name, var.slot));
        }
    }
}

/// Asks about a kernel without launching it.
pub(super) fn is_query(name: &str) -> bool {
    ["FuncSetAttribute", "FuncGetAttributes", "Occupancy", "FuncSetCache", "SHARED_MEMORY_LIMIT", "FuncSetShared"]
        .iter()
        .any(|part| name.contains(part))
}

/// A matrix product of a BLAS library, under any vendor's name.
pub(super) fn is_blas(name: &str) -> bool {
    let library = ["cublas", "hipblas", "rocblas", "mublas"].iter().any(|prefix| name.starts_with(prefix));
    library && ["gemm", "Gemm", "GEMM", "Matmul", "gemv"].iter().any(|part| name.contains(part))
}
