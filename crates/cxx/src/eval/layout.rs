//! The sizes of types, following the layout rules of compilers.

use super::machine::Machine;
use super::records::Run;
use super::types::MAX_ITEMS;
use super::value::{Agg, Instance, Shape, Ty, Value};
use crate::syntax::ast::{Expr, ExprKind};
use crate::syntax::files::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    pub(super) fn size_of(&mut self, ty: &Ty) -> Option<usize> {
        self.layout(ty, 0).map(|(size, _)| size)
    }

    pub(super) fn align_of(&mut self, ty: &Ty) -> Option<usize> {
        self.layout(ty, 0).map(|(_, align)| align)
    }

    fn layout(&mut self, ty: &Ty, depth: usize) -> Option<(usize, usize)> {
        if depth > 16 {
            return None;
        }
        let plain = |size: usize| Some((size, size));
        match ty {
            Ty::Bool => plain(1),
            Ty::Int(bits, _) | Ty::Float(bits) => plain(usize::from(*bits) / 8),
            Ty::Enum => plain(4),
            Ty::Ptr(_) | Ty::Func => plain(8),
            Ty::Array(item, count) => {
                let (size, align) = self.layout(item, depth + 1)?;
                Some((size.checked_mul(*count)?, align))
            }
            Ty::Struct(instance) if instance.args.is_empty() => {
                let key = Arc::as_ptr(&instance.of) as usize;
                if let Some(&known) = self.layouts.get(&key) {
                    return known;
                }
                let layout = self.struct_layout(instance, depth);
                self.layouts.insert(key, layout);
                layout
            }
            Ty::Struct(instance) => self.struct_layout(instance, depth),
            Ty::List(_) | Ty::Map(..) | Ty::Owner(_) | Ty::Void | Ty::Named(_) | Ty::Unknown => None,
        }
    }

    fn struct_layout(&mut self, instance: &Rc<Instance>, depth: usize) -> Option<(usize, usize)> {
        let program = self.program;
        // Base classes come first in the layout.
        if !instance.of.bases.is_empty() || program.is_laid_out_otherwise(&instance.of) {
            return None;
        }
        let (mut size, mut align) = (0usize, 1usize);
        for field in &program.members(&instance.of).fields {
            let ty = self.within(instance, |machine| machine.resolve(&field.ty)).ok()?;
            let (field_size, field_align) = self.layout(&ty, depth + 1)?;
            align = align.max(field_align);
            if instance.of.union {
                size = size.max(field_size);
            } else {
                size = size.checked_next_multiple_of(field_align)?.checked_add(field_size)?;
            }
        }
        let name = instance.of.name.map_or("", |name| program.text(name));
        let told = self.dialect.aligned.iter().find(|(known, _)| *known == name);
        let mut align = told.map_or(align, |(_, align)| *align);
        if let Some(aligned) = &program.members(&instance.of).aligned {
            let aligned = aligned.as_ref()?;
            let wanted = self.within(instance, |machine| machine.eval(aligned)).ok()?;
            let wanted = usize::try_from(self.settle(&wanted)?).ok().filter(|wanted| wanted.is_power_of_two())?;
            align = align.max(wanted);
        }
        Some((size.checked_next_multiple_of(align)?, align))
    }

    /// The size of a member that is declared as an array.
    fn size_of_field(&mut self, expr: &Expr) -> Run<Option<usize>> {
        let ExprKind::Member { base, name, arrow } = &expr.kind else { return Ok(None) };
        let object = match self.eval(base)? {
            Value::Ptr(place) if *arrow => self.peek(place).and_then(Self::instance),
            value => Self::instance(&value).filter(|_| !arrow),
        };
        let Some(instance) = object else { return Ok(None) };
        let program = self.program;
        let field = program.members(&instance.of).fields.iter().find(|field| field.name == Some(*name));
        let Some(field) = field.filter(|field| !field.ty.dims.is_empty()) else { return Ok(None) };
        let ty = self.within(&instance, |machine| machine.resolve(&field.ty))?;
        Ok(self.size_of(&ty))
    }

    /// The size of an array variable. A growable list has another size than its items.
    fn size_of_items(&mut self, array: &Agg) -> Option<usize> {
        if array.item.is_some() || array.items.len() >= MAX_ITEMS {
            return None;
        }
        let item = array.items.first()?.ty();
        self.size_of(&item)?.checked_mul(array.items.len())
    }

    pub(super) fn size_of_expr(&mut self, inner: &Expr, at: Span) -> Run<Value> {
        // `sizeof` does not evaluate its operand.
        if super::taint::changes(inner) {
            return Ok(Value::Opaque(at));
        }
        if super::static_type::calls(inner) {
            let ty = self.static_type(inner);
            let size = ty.and_then(|ty| self.size_of(&ty));
            return Ok(size.map_or(Value::Opaque(at), Value::size));
        }
        let value = match self.place(inner)? {
            Some(place) => self.peek(place).cloned().unwrap_or(Value::Opaque(at)),
            None => self.eval(inner)?,
        };
        let size = match &value {
            Value::Ptr(_) | Value::Pointer(..) | Value::Fn(_) => Some(8),
            Value::Agg(agg) if matches!(agg.shape, Shape::Array) => match inner.kind {
                ExprKind::Local(..) | ExprKind::Name(_) if self.starting => self.size_of_items(agg),
                _ => self.size_of_field(inner)?,
            },
            value => {
                let ty = value.ty();
                self.size_of(&ty)
            }
        };
        Ok(size.map_or(Value::Opaque(at), Value::size))
    }
}
