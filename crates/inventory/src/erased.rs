//! A type-erased [`Look`], so that the scan is compiled once instead of for every type of result.

use crate::object::{Found, Look};
use codeobject::{CodeObject, Detail, Kernel, TargetId};
use std::any::Any;

/// The output (`Out`) of a [`Look`], created on first use.
#[derive(Default)]
pub(crate) struct Gathered(Option<Box<dyn Any + Send>>);

impl Gathered {
    fn as_mut<T: Default + Send + 'static>(&mut self) -> &mut T {
        let held = self.0.get_or_insert_with(|| Box::new(T::default()));
        held.downcast_mut().expect("one look gathers one type")
    }

    pub fn into_inner<T: Default + 'static>(self) -> T {
        self.0.and_then(|held| held.downcast().ok()).map(|held| *held).unwrap_or_default()
    }
}

pub(crate) trait AnyLook: Sync {
    fn wants(&self, target: &TargetId) -> bool;
    fn entry(&self, found: &Found<'_>, out: &mut Gathered) -> bool;
    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Gathered);
    fn detail(&self) -> Detail;
    fn weight(&self, out: &Gathered) -> usize;
    fn split(&self, out: &mut Gathered) -> Gathered;
}

impl<L: Look> AnyLook for L
where
    L::Out: 'static,
{
    fn wants(&self, target: &TargetId) -> bool {
        Look::wants(self, target)
    }

    fn entry(&self, found: &Found<'_>, out: &mut Gathered) -> bool {
        Look::entry(self, found, out.as_mut())
    }

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Gathered) {
        Look::kernel(self, found, object, kernel, out.as_mut());
    }

    fn detail(&self) -> Detail {
        Look::detail(self)
    }

    fn weight(&self, out: &Gathered) -> usize {
        out.0.as_ref().and_then(|held| held.downcast_ref()).map_or(0, |out| Look::weight(self, out))
    }

    fn split(&self, out: &mut Gathered) -> Gathered {
        Gathered(Some(Box::new(Look::split(self, out.as_mut()))))
    }
}

pub(crate) struct Erased<'l>(pub &'l dyn AnyLook);

impl Look for Erased<'_> {
    type Out = Gathered;

    fn wants(&self, target: &TargetId) -> bool {
        self.0.wants(target)
    }

    fn entry(&self, found: &Found<'_>, out: &mut Gathered) -> bool {
        self.0.entry(found, out)
    }

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Gathered) {
        self.0.kernel(found, object, kernel, out);
    }

    fn detail(&self) -> Detail {
        self.0.detail()
    }

    fn weight(&self, out: &Gathered) -> usize {
        self.0.weight(out)
    }

    fn split(&self, out: &mut Gathered) -> Gathered {
        self.0.split(out)
    }
}
