//! Finds expressions and statements that launch a kernel, change a node or the graph, or may do so.

use super::calls::{GRAPH, TENSOR, called, type_name};
use super::harmless::{FIELDS, KEPT_GRAPH, MEMORY_WRITES, REORDERED, STD_WRITES};
use cxx::Program;
use cxx::ast::{Base, Expr, ExprKind, Function, Initial, Stmt, Type, Unary, Var};
use cxx::files::Span;
use cxx::sym::{FxMap, FxSet, Sym};
use cxx::visit::{Part, parts_in, parts_of};

/// The kind of object that a variable is or points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    /// A tensor or a graph.
    Node,
    /// An object of another kind: a number, an array, another type.
    Own,
    /// Not determined by the text: `auto`, a pointer or a reference to numbers.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Effects<'p> {
    pub program: &'p Program,
    /// The next function on the way: mentioning it is an effect, except where its call is expected.
    pub target: Sym,
    /// Variables that must not be reassigned: the node, the graph, the count.
    pub kept: FxSet<u32>,
    /// Whether nodes may be reordered.
    pub reorders: bool,
    pub lambdas: FxSet<u32>,
    /// Functions that were read, and whether they are harmless.
    pub known: FxMap<Sym, bool>,
    /// The current depth of nested function reads.
    pub depth: usize,
    objects: FxMap<u32, Object>,
    /// Variables that may alias a part of a node.
    references: FxSet<u32>,
    unit: u32,
}

impl<'p> Effects<'p> {
    pub fn new(program: &'p Program, target: Sym) -> Effects<'p> {
        Effects {
            program,
            target,
            kept: FxSet::default(),
            reorders: false,
            lambdas: FxSet::default(),
            known: FxMap::default(),
            depth: 0,
            objects: FxMap::default(),
            references: FxSet::default(),
            unit: 0,
        }
    }

    pub fn enter(&mut self, function: &Function) {
        self.unit = function.unit;
        function.params.iter().for_each(|param| self.stands_for(param.slot, &param.ty));
    }

    fn stands_for(&mut self, slot: u32, ty: &Type) {
        let through = ty.pointers > 0 || ty.reference;
        let object = match &ty.base {
            Base::Name(_) => match type_name(self.program, ty) {
                Some(TENSOR | GRAPH) => Object::Node,
                _ => Object::Own,
            },
            Base::Bool | Base::Int { .. } | Base::Float(_) if !through => Object::Own,
            _ => Object::Unknown,
        };
        self.objects.insert(slot, object);
        // A tensor has no bool fields.
        if ty.reference && object != Object::Own && !matches!(ty.base, Base::Bool) {
            self.references.insert(slot);
        }
    }

    pub fn declared(&mut self, var: &'p Var) -> Option<Span> {
        self.stands_for(var.slot, &var.ty);
        if matches!(&var.init, Initial::Value(Expr { kind: ExprKind::Lambda(_), .. })) {
            self.lambdas.insert(var.slot);
        }
        self.constructs(&var.ty).then_some(var.span)
    }

    pub fn of_stmts(&mut self, stmts: &'p [Stmt]) -> Option<Span> {
        parts_of(stmts).into_iter().find_map(|part| self.of_part(part))
    }

    pub fn of_expr(&mut self, expr: &'p Expr) -> Option<Span> {
        parts_in(expr).into_iter().find_map(|part| self.of_part(part))
    }

    fn of_part(&mut self, part: Part<'p>) -> Option<Span> {
        match part {
            Part::Unparsed(span) => Some(span),
            Part::Var(var) => self.declared(var),
            Part::Bound(_) => None,
            Part::Expr(expr) => self.acts(expr).then_some(expr.span),
        }
    }

    /// Whether this expression itself has an effect, regardless of its parts.
    fn acts(&mut self, expr: &'p Expr) -> bool {
        match &expr.kind {
            ExprKind::Configured(..) | ExprKind::Throw => true,
            ExprKind::Heap | ExprKind::New(..) => self.program.files.text(expr.span) != KEPT_GRAPH,
            ExprKind::Assign(_, target, _) => self.changes(target) && !self.puts_back(expr, target),
            ExprKind::Step { target, .. } => self.changes(target),
            ExprKind::Unary(Unary::Address, inner) => self.changes(inner) && !self.is_data(inner),
            ExprKind::Name(name) => name.path.last().is_some_and(|last| last.sym == self.target),
            ExprKind::Construct(ty, _) => self.constructs(ty),
            ExprKind::Lambda(lambda) => {
                lambda.params.iter().for_each(|param| self.stands_for(param.slot, &param.ty));
                false
            }
            ExprKind::Call(callee, args) => match called(expr).map(|(name, _)| self.program.text(name)) {
                Some(name) if MEMORY_WRITES.contains(&name) => args.first().is_none_or(|arg| self.is_written(arg)),
                Some(name) if STD_WRITES.contains(&name) => args.iter().any(|arg| self.is_written(arg)),
                _ => !self.is_harmless(callee),
            },
            _ => false,
        }
    }

    /// Whether an argument may point to a part of a node or of the graph that is written to.
    fn is_written(&self, arg: &Expr) -> bool {
        match &arg.kind {
            ExprKind::Local(slot, _) => self.objects.get(slot) != Some(&Object::Own),
            _ => self.changes(arg),
        }
    }

    /// The address of a tensor's data, which decides nothing.
    fn is_data(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Member { name, .. } if self.program.text(*name) == "data")
    }

    /// Whether an assignment only restores the order of nodes, if they may be reordered.
    fn puts_back(&self, expr: &Expr, target: &Expr) -> bool {
        let text: String = self.program.files.text(expr.span).split_whitespace().collect();
        let nodes = matches!(&target.kind, ExprKind::Index(base, _)
            if matches!(&base.kind, ExprKind::Member { name, .. } if self.program.text(*name) == "nodes"));
        REORDERED.contains(&text.as_str()) || (self.reorders && nodes)
    }

    /// Whether an expression is a variable that is, or points to, a tensor or a graph.
    pub fn is_node(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Local(slot, _) if self.objects.get(slot) == Some(&Object::Node))
    }

    /// Whether the target of an assignment belongs to a tensor, to the graph, or to the loop over them.
    pub fn changes(&self, target: &Expr) -> bool {
        let (mut field, mut own_field, mut member) = (false, false, false);
        let mut looked_at = target;
        loop {
            match &looked_at.kind {
                ExprKind::Local(slot, _) if std::ptr::eq(looked_at, target) => {
                    return self.kept.contains(slot) || self.references.contains(slot);
                }
                ExprKind::Local(slot, _) => {
                    return match self.objects.get(slot) {
                        Some(Object::Node) => true,
                        Some(Object::Own) => field,
                        // A pointer may point anywhere. A field with any other name does not belong to a tensor.
                        Some(Object::Unknown) | None => field || own_field || !member,
                    };
                }
                ExprKind::Member { base, name, .. } => {
                    member = true;
                    let of_node = FIELDS.contains(&self.program.text(*name));
                    let own = matches!(base.kind, ExprKind::Local(..));
                    own_field |= of_node && own;
                    field |= of_node && !own;
                    looked_at = base;
                }
                ExprKind::Index(base, _) | ExprKind::Cast(_, base) | ExprKind::Unary(Unary::Deref, base) => {
                    looked_at = base;
                }
                _ => return field,
            }
        }
    }

    /// Whether the constructor or destructor of a type has an effect that is not understood.
    fn constructs(&mut self, ty: &'p Type) -> bool {
        if ty.pointers > 0 || ty.reference {
            return false;
        }
        let Base::Name(name) = &ty.base else { return false };
        let Some(last) = name.path.last() else { return false };
        if let Some(known) = self.known.get(&last.sym) {
            return !known;
        }
        self.known.insert(last.sym, true);
        let program = self.program;
        if program.structs(last.sym).is_empty()
            && let Some(alias) = program.alias(last.sym, self.unit)
        {
            return self.constructs(alias);
        }
        let acts = program.structs(last.sym).iter().any(|of| {
            let members = program.members(of);
            let ends = members.destroyed && !self.reorders;
            let mut begins = members.methods.iter().filter(|method| Some(method.name) == of.name);
            let fields = members.fields.iter().filter_map(|field| field.init.as_ref());
            ends || begins.any(|method| !self.is_harmless_body(method))
                || fields.into_iter().any(|init| self.of_expr(init).is_some())
        });
        self.known.insert(last.sym, !acts);
        acts
    }
}
